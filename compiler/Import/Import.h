// A description, or a Hugging Face directory, becomes a module of the `model` stage.
#ifndef HEDDLE_COMPILER_IMPORT_IMPORT_H
#define HEDDLE_COMPILER_IMPORT_IMPORT_H

#include "compiler/Import/Diagnostics.h"
#include "compiler/Import/Library.h"
#include "compiler/Import/WeightTable.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <string>
#include <utility>
#include <vector>

namespace heddle {

struct ImportOptions {
  /// A description, a Hugging Face directory, or a config.json by any name (its directory is meant).
  std::string path;
  /// --set NAME=VALUE: VALUE is JSON, or itself when it is none.
  std::vector<std::pair<std::string, std::string>> sets;
  /// --weights: instead of the file that the description names.
  std::string weightsPath;
  /// --bound DIM=MAX, beside the description's own `dims`.
  std::vector<std::pair<std::string, int64_t>> bounds;
  bool outputsAll = false;
  /// zero, nan or mean.
  std::string maskedRows = "zero";
  /// Where no weights are found: go on as far as shapes are known (heddle mask).
  bool weightsOptional = false;
  /// There too: shapes of weights are made up where the description leaves them to the file (heddle mask).
  bool weightsInvented = false;
  /// The same for a config.json; weights that a description names must be there (heddle check).
  bool configAlone = false;
  /// Headers of weights alone: tied copies are not compared byte by byte (heddle check).
  bool headersOnly = false;
  /// --ignore-config: keys of config.json to read as if they were not there.
  std::vector<std::string> ignoreConfig;
  /// --ignore-weights: patterns of tensors that the file has and nothing reads.
  std::vector<std::string> ignoreWeights;
  /// Family files beside those that are compiled in.
  FamilyLibrary families;

  // Instead of files, for tests and fuzzing: the texts, and a table of the weights.
  std::optional<std::string> text, configText;
  const WeightTable *weights = nullptr;
};

/// Registers the dialects it needs. Null after an error (the sink has all of them), and without one where weights
/// are optional and absent.
mlir::OwningOpRef<mlir::ModuleOp> importModel(mlir::MLIRContext &context,
                                              const ImportOptions &options,
                                              DiagnosticSink &sink);

/// The JSON Schema of descriptions, and the reference page of ops, attributes, functions
/// and blocks, both from the table that the importer reads.
void printSchema(llvm::raw_ostream &os);
/// The schema for one file: with the blocks that it declares. False where the file is no JSON.
bool printSchemaOf(llvm::raw_ostream &os, std::string name, std::string text, const FamilyLibrary &families,
                   DiagnosticSink &sink);
void printReference(llvm::raw_ostream &os);

} // namespace heddle

#endif // HEDDLE_COMPILER_IMPORT_IMPORT_H
