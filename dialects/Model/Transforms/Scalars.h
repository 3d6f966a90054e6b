//===- Scalars.h - elementwise ops on one element ---------------*- C++ -*-===//
//
// The meaning of the elementwise ops as arith and math ops on scalars, or on vectors of
// them: one place for the body of maps and for lowering what stayed outside of one.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_DIALECTS_MODEL_TRANSFORMS_SCALARS_H
#define HEDDLE_DIALECTS_MODEL_TRANSFORMS_SCALARS_H

#include "dialects/Model/IR/Model.h"

namespace heddle::model {

/// unary, binary, compare, select, cast, broadcast: ops whose element i needs element i.
bool isElementwise(mlir::Operation *op);

using EmitFunction = llvm::function_ref<mlir::Value(UnaryKind, mlir::Value)>;

/// The element that `op` makes of `operands` (scalars or vectors of equal length). Functions of
/// calculus go through `function`.
mlir::Value emitElement(mlir::OpBuilder &b, mlir::Operation *op, mlir::ValueRange operands, EmitFunction function);

/// A constant of the type of `like` (or of its elements when it is a vector: a splat).
mlir::Value constantLike(mlir::OpBuilder &b, mlir::Location loc, mlir::Type type, double value);

} // namespace heddle::model

#endif
