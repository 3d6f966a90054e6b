//===- Passes.h - from SPMD entries to kernels ------------------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_CONVERSION_TOKERNELS_PASSES_H
#define HEDDLE_COMPILER_CONVERSION_TOKERNELS_PASSES_H

#include "mlir/Pass/Pass.h"

namespace heddle::kernels {

/// The arguments of a kernel (runtime/include/heddle/abi.h); after the indices of repeats come numbers of a launch.
enum KernelArgument : unsigned { Fail, KernelDims, KernelTensors, KernelArena, KernelWeights, FirstIndex, Numbers = 7 };

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/Conversion/ToKernels/Passes.h.inc"

} // namespace heddle::kernels

#endif
