//===- Passes.h - from tensors to loops over warps --------------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_GPU_PASSES_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_GPU_PASSES_H

#include "compiler/Plan/Target.h"
#include "mlir/Pass/Pass.h"

namespace heddle::loops {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/Conversion/Lowering/GPU/Passes.h.inc"

/// What plans ask of a device.
std::unique_ptr<plan::Target> makeWarpTiles();

} // namespace heddle::loops

#endif
