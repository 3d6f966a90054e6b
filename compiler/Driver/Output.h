//===- Output.h - what the stages after `llvm` write ------------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_DRIVER_OUTPUT_H
#define HEDDLE_COMPILER_DRIVER_OUTPUT_H

#include "compiler/Driver/Compile.h"
#include "compiler/Weights/PackPlan.h"
#include "targets/CPU/CPUTarget.h"

namespace heddle {

/// The packed weights that a module of stage `tiled` or later asks for (its `model.blob`).
PackPlan packPlanOf(mlir::ModuleOp module);

/// Opens the files of `model.weights`.
/// None after an error, which has been reported; `code` is then its exit code.
std::optional<WeightStore> openWeights(const Console &console, mlir::ModuleOp module, int &code);

/// Writes `llvmir`, `asm` or `obj` text and bytes, or the linked binary, with the blob `tokenizer` in it.
int writeOutput(const Console &console, mlir::ModuleOp module, const CompileOptions &options, const cpu::CPUTarget &target,
                const std::string &tokenizer);

/// A file that appears whole or not at all. `write` fills a stream; "-" is standard output.
int writeAtomically(const Console &console, llvm::StringRef path, llvm::function_ref<bool(llvm::raw_pwrite_stream &)> write);

} // namespace heddle

#endif
