//===- Support.h - what loops are not made of -------------------*- C++ -*-===//
//
// The language allows more than the lowering knows. What is missing is said here once: before
// an op is lowered, and to `heddle check`, which makes no code.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_FRAME_SUPPORT_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_FRAME_SUPPORT_H

#include "mlir/IR/Operation.h"

namespace heddle::loops {

/// Fails with an error `unsupported: ...` at an op of the stage `buffers` that has no lowering.
mlir::LogicalResult checkSupport(mlir::Operation *op);

} // namespace heddle::loops

#endif // HEDDLE_COMPILER_CONVERSION_LOWERING_FRAME_SUPPORT_H
