//===- SideFiles.h - the files beside config.json ---------------*- C++ -*-===//
//
// The files next to config.json: generation_config.json (how a model generates), preprocessor_config.json (how a
// picture or sound becomes its input), modules.json (how hidden states become a vector, SentenceVectors.h), id2label in
// config.json (the names of classes) and README.md (the licence, Licence.h). They do not change what @run computes;
// they become attributes of the module and then lines of the card: keys of `model.generate`, `model.picture`,
// `model.sound`, `model.vectors`, `model.labels`, `model.kind` and `model.license`. As in config.json, every key is
// used, listed with the reason why it has no effect, or refused by its name.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_SIDEFILES_SIDEFILES_H
#define HEDDLE_COMPILER_SIDEFILES_SIDEFILES_H

#include "compiler/Import/Import.h"
#include "compiler/Import/Json/LocatedJson.h"
#include "heddle/settings.h"

namespace heddle {

/// Reads these files and adds their contents to `module`, which may be null; errors go to `sink`.
void addSideFiles(const ImportOptions &options, mlir::ModuleOp module, DiagnosticSink &sink);

/// Reads the keys of one file; remembers which were asked for, so that the others can be reported.
class SideFileReader {
public:
  SideFileReader(const JsonValue &root, llvm::StringRef name, DiagnosticSink &sink)
      : root(root), name(name), sink(sink) {}

  const JsonValue &root;

  /// The value of a key, null if it is absent or null; the key counts as read.
  const JsonValue *take(llvm::StringRef key);
  Diagnostic &error(Error code, const JsonValue &at, llvm::StringRef key, const llvm::Twine &message);

  /// Values of a type; a value of another type or out of range is an error and counts as absent.
  std::optional<double> number(llvm::StringRef key, double least, double most);
  std::optional<int64_t> integer(llvm::StringRef key, int64_t least, int64_t most);
  /// Within the limits of a setting.
  std::optional<double> number(llvm::StringRef key, const Setting &setting) {
    return number(key, setting.least, setting.most);
  }
  std::optional<int64_t> integer(llvm::StringRef key, const Setting &setting) {
    return integer(key, int64_t(setting.least), int64_t(setting.most));
  }
  std::optional<bool> boolean(llvm::StringRef key);
  std::optional<std::string> text(llvm::StringRef key);
  /// A list of integers, or a single one.
  std::optional<std::vector<int64_t>> ids(llvm::StringRef key);
  /// A list of as many numbers as one of `counts` says, or a single number, which stands for all.
  std::optional<std::vector<double>> numbers(llvm::StringRef key, llvm::ArrayRef<size_t> counts);

  /// Accepts `key` only if it is absent, null or one of `values` (JSON), at which it has no effect; `reason` is part of
  /// the message otherwise.
  void only(llvm::StringRef key, llvm::ArrayRef<llvm::StringRef> values, llvm::StringRef reason);
  /// Keys that have no effect; a star at the end matches any rest.
  void ignore(llvm::ArrayRef<llvm::StringRef> keys);
  /// Reports every key that was not asked for, as `kind`; `known` are the names to suggest.
  void finish(llvm::ArrayRef<llvm::StringRef> known, Diagnostic::Kind kind = Diagnostic::Kind::Error);

private:
  /// The way round a key, for the end of a message.
  std::string orIgnore(llvm::StringRef key) const;
  llvm::StringRef name;
  DiagnosticSink &sink;
  std::vector<std::string> seen;
};

using Attributes = mlir::NamedAttrList;

/// Reads a file if it exists; null if not, or after an error, such as a root of another kind.
std::optional<JsonValue> readSideFile(const ModelFolder &folder, llvm::StringRef name, JsonValue::Kind kind,
                                      DiagnosticSink &sink);

/// Reads generation_config.json into keys of `model.generate`. With `legacy` the file is config.json, where older
/// checkpoints have these keys among others.
void readGenerationConfig(SideFileReader &file, bool legacy, mlir::Builder &b, Attributes &roles);

/// Reads preprocessor_config.json, or a member of processor_config.json, into one of the two; into none if the model
/// takes neither pictures nor sound.
void readPreprocessor(SideFileReader &file, llvm::StringRef modelType, mlir::Builder &b, Attributes &picture,
                      Attributes &sound);

} // namespace heddle

#endif // HEDDLE_COMPILER_SIDEFILES_SIDEFILES_H
