//===- Load.h - one list of checks -----------------------------*- C++ -*-===//
//
// Every command reads its model here, so that all accept the same: a description, a Hugging
// Face directory, a config.json, or the .mlir file of any stage. `compile` and `check` ask for
// the same checks in the same order and differ in what they do with the answer; a complaint
// never hides one that does not depend on it.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_DRIVER_LOAD_H
#define HEDDLE_COMPILER_DRIVER_LOAD_H

#include "compiler/Driver/Compile.h"

namespace heddle {

/// The files that the command line names are there and may be read; if not, the sink says which is not, and
/// the exit code is `IOError`.
bool canRead(const ImportOptions &options, DiagnosticSink &sink);
/// The same for one more file: `Ok`, or `IOError` when it has been said.
int canRead(const Console &console, llvm::StringRef file);

/// What texts become ids with, for a binary.
struct Words {
  std::string blob; ///< heddle_tokenizer; empty: none
  std::string note; ///< why there is none, where there is a tokenizer that cannot be read
};

/// Imports the model, or parses its stage, and adds what the files beside it say. With `words` its tokenizer is
/// read too. Complaints go to `sink`; `code` is what the command ends with. Null after an error, and without one
/// where config.json has no weights and none are asked for.
mlir::OwningOpRef<mlir::ModuleOp> readModel(mlir::MLIRContext &context, const ImportOptions &options, Words *words,
                                            DiagnosticSink &sink, int &code);

/// The same; on failure everything has been said.
mlir::OwningOpRef<mlir::ModuleOp> load(const Console &console, mlir::MLIRContext &context,
                                       const ImportOptions &options, int &code, Words *words = nullptr);

} // namespace heddle

#endif // HEDDLE_COMPILER_DRIVER_LOAD_H
