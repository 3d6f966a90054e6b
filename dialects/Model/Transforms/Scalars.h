//===- Scalars.h - elementwise ops on one element ---------------*- C++ -*-===//
//
// Elementwise ops of the model dialect as arith and math ops on scalars, or on vectors of them; used
// for the bodies of maps and for the lowering of ops outside of one.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_DIALECTS_MODEL_TRANSFORMS_SCALARS_H
#define HEDDLE_DIALECTS_MODEL_TRANSFORMS_SCALARS_H

#include "dialects/Model/IR/Model.h"

namespace heddle::model {

/// Whether element i of the result depends on element i of the operands only: unary, binary, compare,
/// select, cast, broadcast.
bool isElementwise(mlir::Operation *op);

using EmitFunction = llvm::function_ref<mlir::Value(UnaryKind, mlir::Value)>;

/// The result of `op` for `operands`, scalars or vectors of equal length. Unary functions such as exp are
/// emitted by `function`.
mlir::Value emitElement(mlir::OpBuilder &b, mlir::Operation *op, mlir::ValueRange operands, EmitFunction function);

/// A constant of `type`; a splat if it is a vector.
mlir::Value constantLike(mlir::OpBuilder &b, mlir::Location loc, mlir::Type type, double value);

} // namespace heddle::model

#endif
