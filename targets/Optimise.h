//===- Optimise.h - LLVM's optimisation of a module -------------*- C++ -*-===//
#ifndef HEDDLE_TARGETS_OPTIMISE_H
#define HEDDLE_TARGETS_OPTIMISE_H

#include "llvm/Passes/OptimizationLevel.h"

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace heddle {

/// LLVM's own pipeline of `level` for `machine`; without `unrolls` loops stay as they are.
void optimise(llvm::Module &module, llvm::TargetMachine &machine, llvm::OptimizationLevel level, bool unrolls = true);

} // namespace heddle

#endif
