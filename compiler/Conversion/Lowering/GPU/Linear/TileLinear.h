//===- TileLinear.h - linears through tiles ---------------------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_GPU_LINEAR_TILELINEAR_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_GPU_LINEAR_TILELINEAR_H

#include "compiler/Conversion/Lowering/Frame/Lowering.h"

namespace heddle::loops {

/// Many rows through tiles that a block shares; few rows by the general kernel (f32) or through low tiles (dots). Which
/// rows are many is decided on the device, and a row has the same bits either way.
mlir::LogicalResult lowerTiledLinear(Lowering &l, model::LinearOp op);

/// Why many rows go through the general kernel, too: "f16" or "wide" (its numbers), "windows" or "small"; "" if they go
/// through tiles.
llvm::StringRef untiledLinear(model::LinearOp op);

} // namespace heddle::loops

#endif
