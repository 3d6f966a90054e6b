//===- Companions.h - the files beside config.json --------------*- C++ -*-===//
//
// generation_config.json says how a model generates, preprocessor_config.json how a picture
// or speech becomes its input, id2label in config.json what its classes are called. None of
// it changes what is computed; all of it goes to the card, as module attributes:
// `model.generate` gets further keys, `model.picture`, `model.sound`, `model.labels` and
// `model.kind` are added. As in config.json no key is passed over in silence: each is used,
// on a list with the reason why it has no effect, or refused by its name.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_DRIVER_COMPANIONS_H
#define HEDDLE_COMPILER_DRIVER_COMPANIONS_H

#include "compiler/Import/Import.h"
#include "compiler/Import/LocatedJson.h"

namespace heddle {

/// Reads them and adds what they say to `module`, which is null where it could not be made; complaints go to `sink`.
void addCompanions(const ImportOptions &options, mlir::ModuleOp module, DiagnosticSink &sink);

/// One file and where complaints about it go. Keys that were looked at are remembered.
class CompanionReader {
public:
  CompanionReader(const JsonValue &root, llvm::StringRef name, DiagnosticSink &sink)
      : root(root), name(name), sink(sink) {}

  const JsonValue &root;

  /// The value of a key that is there and not null.
  const JsonValue *take(llvm::StringRef key);
  Diagnostic &error(const JsonValue &at, llvm::StringRef key, const llvm::Twine &message);

  /// Typed values; a wrong one is an error and counts as absent.
  std::optional<double> number(llvm::StringRef key, double least, double most);
  std::optional<int64_t> integer(llvm::StringRef key, int64_t least, int64_t most);
  std::optional<bool> boolean(llvm::StringRef key);
  std::optional<std::string> text(llvm::StringRef key);
  /// A list of integers, or one alone.
  std::optional<std::vector<int64_t>> ids(llvm::StringRef key);
  /// `count` numbers, or one that stands for all.
  std::optional<std::vector<double>> numbers(llvm::StringRef key, size_t count);

  /// `key` means nothing as long as it is one of `values` (JSON) or null: else it is refused.
  void only(llvm::StringRef key, llvm::ArrayRef<llvm::StringRef> values, llvm::StringRef reason);
  /// Keys without effect; a star at the end stands for any rest.
  void ignore(llvm::ArrayRef<llvm::StringRef> keys);
  /// Complains about every key that nobody looked at.
  void finish(llvm::ArrayRef<llvm::StringRef> known);

private:
  llvm::StringRef name;
  DiagnosticSink &sink;
  std::vector<std::string> seen;
};

using Attributes = mlir::NamedAttrList;

/// What the keys of generation_config.json say, as keys of `model.generate`. With `legacy` the
/// file is config.json, where older checkpoints keep them among others.
void readGenerationConfig(CompanionReader &file, bool legacy, mlir::Builder &b, Attributes &roles);

/// What preprocessor_config.json says: exactly one of the two gets entries, or none where the
/// model takes neither pictures nor sound.
void readPreprocessor(CompanionReader &file, llvm::StringRef modelType, mlir::Builder &b, Attributes &picture,
                      Attributes &sound);

} // namespace heddle

#endif // HEDDLE_COMPILER_DRIVER_COMPANIONS_H
