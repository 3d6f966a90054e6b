//===- ModelFiles.h - the files that a model is made of ---------*- C++ -*-===//
//
// The list of files that belong to a model. No output may replace one of them (Compile.cpp), and a binary has to be
// made again when one of them changes (--depfile).
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_DRIVER_MODELFILES_H
#define HEDDLE_COMPILER_DRIVER_MODELFILES_H

#include "compiler/Driver/Console.h"
#include "compiler/Driver/Options.h"
#include "mlir/IR/BuiltinOps.h"

namespace heddle {

/// The existing files: those that the command line and the module name, and those next to the model that the compiler
/// looks for. Without a module, which is not there before the files are read, those that it would name are missing.
std::vector<std::string> modelFiles(const ImportOptions &options, mlir::ModuleOp module);

/// Writes `output: files` as a rule for make and ninja. A model's folder is listed, too, so that a new file counts,
/// unless the output or the list is inside of it: then it would always be newer.
int writeDepfile(const Console &console, const CompileOptions &options, llvm::ArrayRef<std::string> files);

} // namespace heddle

#endif
