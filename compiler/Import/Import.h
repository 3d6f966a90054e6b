// The importer: a description, or a Hugging Face directory, becomes a module of the stage `model`.
#ifndef HEDDLE_COMPILER_IMPORT_IMPORT_H
#define HEDDLE_COMPILER_IMPORT_IMPORT_H

#include "compiler/Import/Description/Library.h"
#include "compiler/Import/Json/Diagnostics.h"
#include "compiler/Import/Weights/WeightTable.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <string>
#include <utility>
#include <vector>

namespace heddle {

/// A weight that a model needs, for `heddle weights`.
struct NeededWeight {
  std::string name;           ///< in the files, or as the model asks for it, without the prefix
  std::vector<int64_t> shape; ///< -1: a length that the description leaves to the file
  std::string dtype;          ///< as safetensors calls it: that of the file, or F32
  bool stored = false;        ///< it is in the files
  bool optional = false;      ///< without it an output is left out
  bool assumed = false;       ///< parts of the shape are not said, but the width of the model
};

struct ImportOptions {
  std::string modules; ///< the folder of modules.json, where it is not that of the model (sentence-transformers)
  /// The path of a description, of a Hugging Face directory, or of a config.json under any name.
  std::string path;
  /// --set NAME=VALUE: VALUE is JSON, or else a string.
  std::vector<std::pair<std::string, std::string>> sets;
  /// --weights: replaces the file that the description names.
  std::string weightsPath;
  /// --target-tokenizer: the tokenizer of what the model writes, a file or a folder.
  std::string targetTokenizer;
  /// --bound DIM=MAX, in addition to the description's `dims`.
  std::vector<std::pair<std::string, int64_t>> bounds;
  bool outputsAll = false;
  /// --masked-rows: zero, nan or mean.
  std::string maskedRows = "zero";
  /// Without weights, go on as far as shapes are known (heddle mask).
  bool weightsOptional = false;
  /// Then also invent shapes that the description leaves to the file (heddle mask).
  bool weightsInvented = false;
  /// A config.json alone may lack weights, but weights that a description names must exist (heddle check).
  bool configAlone = false;
  /// Read headers of weights only: tied copies are not compared byte by byte (heddle check).
  bool headersOnly = false;
  /// --ignore-config: keys of config.json to treat as absent.
  std::vector<std::string> ignoreConfig;
  /// --force: of those also keys that carry meaning.
  bool force = false;
  /// --ignore-weights: patterns of tensors that need not be read.
  std::vector<std::string> ignoreWeights;
  /// Family files in addition to those that are compiled in.
  FamilyLibrary families;

  /// Not null: what weights the model needs is written here, whether there are any or not, and none is missed.
  std::vector<NeededWeight> *needed = nullptr;

  // Instead of files, for tests and fuzzing: the texts, and a table of the weights.
  std::optional<std::string> text, configText;
  const WeightTable *weights = nullptr;
};

/// Imports a model; loads the dialects that it needs. Null after an error (the sink has all of them), and without
/// an error if weights are optional and absent.
mlir::OwningOpRef<mlir::ModuleOp> importModel(mlir::MLIRContext &context, const ImportOptions &options,
                                              DiagnosticSink &sink);

/// Prints the JSON Schema of descriptions, made from the table that the importer reads.
void printSchema(llvm::raw_ostream &os);
/// Prints the schema for one file, which knows the blocks that it declares; false if the file is not JSON.
bool printSchemaOf(llvm::raw_ostream &os, std::string name, std::string text, const FamilyLibrary &families,
                   DiagnosticSink &sink);
/// Prints the page of the language with its tables made anew from the same table.
void printReference(llvm::raw_ostream &os);
/// Prints the page of error codes, heddle/errors.def.
void printErrors(llvm::raw_ostream &os);
/// Prints stdlib.json, which defines the blocks of the library.
void printBlocks(llvm::raw_ostream &os);

} // namespace heddle

#endif // HEDDLE_COMPILER_IMPORT_IMPORT_H
