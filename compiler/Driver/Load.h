//===- Load.h - one list of checks -----------------------------*- C++ -*-===//
//
// Reads a model for every command, so that all accept the same inputs: a description, a Hugging Face directory, a
// config.json, a GGUF file, or the .mlir text of any stage. `compile` and `check` run the same checks in the same order
// and differ in what they do with the result; no error hides one that does not depend on it.
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_DRIVER_LOAD_H
#define HEDDLE_COMPILER_DRIVER_LOAD_H

#include "compiler/Driver/Console.h"
#include "compiler/Import/Import.h"
#include "compiler/SideFiles/TextBlobs.h"

namespace heddle {

/// Whether the files named on the command line exist and can be read; if not, `sink` says which, and the exit code is
/// `Error::CannotRead`.
bool canRead(const ImportOptions &options, DiagnosticSink &sink);
/// The same for another file: `Ok`, or the status of `Error::CannotRead` after printing the error.
int canRead(const Console &console, llvm::StringRef file);
/// Where `file` is the name of a repository of Hugging Face's hub and no file here: says how to fetch it, and returns
/// the status; else `Ok`, also where the file cannot be read.
int canFetch(const Console &console, llvm::StringRef file);

/// Finds what is imported: of a GGUF file the texts that it stands for (`options.made`), of a directory of
/// sentence-transformers the folder of its model, and of a model of vectors the class without a head. False after an
/// error.
bool findModel(ImportOptions &options, DiagnosticSink &sink);

/// Whether the model is the text of a stage.
bool isTextOfStage(const ImportOptions &options);

/// Imports the model, or parses its stage, and adds the files next to it. With `words` its tokenizer is compiled, too.
/// Errors go to `sink`, and `code` becomes the exit code. Null after an error, and without one if a config.json has no
/// weights and none are needed.
mlir::OwningOpRef<mlir::ModuleOp> readModel(mlir::MLIRContext &context, const ImportOptions &options, TextBlobs *words,
                                            DiagnosticSink &sink, int &code);

/// The same; all errors have been printed.
mlir::OwningOpRef<mlir::ModuleOp> load(const Console &console, mlir::MLIRContext &context, const ImportOptions &options,
                                       int &code, TextBlobs *words = nullptr);

} // namespace heddle

#endif // HEDDLE_COMPILER_DRIVER_LOAD_H
