//===- Compile.h - from a description to a binary ---------------*- C++ -*-===//
//
// import (Load.h) -> stages (compiler/Pipelines) -> target -> link.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_DRIVER_COMPILE_H
#define HEDDLE_COMPILER_DRIVER_COMPILE_H

#include "compiler/Driver/Console.h"
#include "compiler/Driver/Options.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include <memory>
#include <vector>

namespace heddle {

class DiagnosticSink;

/// Writes how reals are stored and multiplied on the module (dialects/Model/IR/Arithmetic.h), and on its parameters
/// which of them become codes.
int setArithmetic(const Console &console, mlir::ModuleOp module, const CompileOptions &options, Formats target);

/// Runs those of `stages`, a target's, that come after the module's own, up to `stage`. Errors go to the sink, or are
/// printed.
int runStages(const Console &console, mlir::ModuleOp module, llvm::ArrayRef<Stage> stages, llvm::StringRef stage,
              const CompileOptions &options, DiagnosticSink &sink);
int runStages(const Console &console, mlir::ModuleOp module, llvm::ArrayRef<Stage> stages, llvm::StringRef stage,
              const CompileOptions &options);

/// The text of a stage was made for a target: where the command line names none, that becomes `options.target`. From
/// `tiled` on the text is for that target alone, and another one on the command line is an error. Returns the exit
/// code.
int takeTargetOf(const Console &console, mlir::ModuleOp module, CompileOptions &options);

/// The targets of the command line; empty after an error, which has been reported in `code`.
std::vector<std::unique_ptr<Target>> targetsOf(const Console &console, const CompileOptions &options, int &code);

/// What all of `targets` can do with 16 bits and with codes.
Formats commonFormats(llvm::ArrayRef<std::unique_ptr<Target>> targets);

/// `heddle compile`. Returns the exit code.
int compile(const Console &console, const CompileOptions &options);

/// A context that loads Heddle's dialects and whose diagnostics show the line of the JSON.
std::unique_ptr<mlir::MLIRContext> makeContext();

} // namespace heddle

#endif
