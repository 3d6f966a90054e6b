//===- Passes.h - from tensors to loops over warps --------------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_GPU_PASSES_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_GPU_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir {
class DialectRegistry;
}

namespace heddle::loops {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/Conversion/Lowering/GPU/Passes.h.inc"

/// The answers of the target "cuda" to what a plan asks (compiler/Plan/Target.h).
void registerWarpTiles(mlir::DialectRegistry &registry);

} // namespace heddle::loops

#endif
