//===- Interpreted.h - a model that is to be interpreted --------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_DRIVER_INTERPRETED_H
#define HEDDLE_COMPILER_DRIVER_INTERPRETED_H

#include "compiler/Driver/Compile.h"
#include "compiler/Driver/Inspect.h"
#include "compiler/Interpreter/ParameterFiles.h"

namespace heddle {

/// A model that is to be interpreted, and its parameters.
struct Interpreted {
  std::unique_ptr<mlir::MLIRContext> context = makeContext();
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::optional<ParameterFiles> parameters;

  /// Reads both. Returns the exit code; on failure everything has been said.
  int read(const Console &console, const CompileOptions &options, const InspectOptions &look);
};

/// Reads the tensors of a file. Returns the exit code; on failure everything has been said.
int readInputs(const Console &console, llvm::StringRef file, Tensors &inputs);

/// How far results may be apart after a pass: a constant that it writes as f32 may round to another stored number.
double toleranceOf(mlir::ModuleOp module);

} // namespace heddle

#endif
