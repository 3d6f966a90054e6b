//===- ModelFiles.h - the files that a model is made of ---------*- C++ -*-===//
//
// One list for whoever asks which files belong to a model: an output may not replace one of them
// (Compile.cpp), and a binary is made anew when one changes (`--depfile`).
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_DRIVER_MODELFILES_H
#define HEDDLE_COMPILER_DRIVER_MODELFILES_H

#include "compiler/Driver/Compile.h"

namespace heddle {

/// The files there are: what the command line names, the weights that the module names, and whatever
/// stands beside the model under a name that the compiler looks at.
std::vector<std::string> modelFiles(const ImportOptions &options, mlir::ModuleOp module);

/// Writes `output: files` as make and ninja read it. A folder that is compiled is listed itself, so that a
/// file which is added counts, unless the output or the list lies in it: then it is always newer.
int writeDepfile(const Console &console, const CompileOptions &options, llvm::ArrayRef<std::string> files);

} // namespace heddle

#endif
