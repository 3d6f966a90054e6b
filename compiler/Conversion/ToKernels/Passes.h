//===- Passes.h - from SPMD entries to kernels ------------------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_CONVERSION_TOKERNELS_PASSES_H
#define HEDDLE_COMPILER_CONVERSION_TOKERNELS_PASSES_H

#include "mlir/Pass/Pass.h"

namespace heddle::kernels {

/// On the functions that are launched.
constexpr llvm::StringLiteral kKernelAttr = "heddle.kernel";

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/Conversion/ToKernels/Passes.h.inc"

} // namespace heddle::kernels

#endif
