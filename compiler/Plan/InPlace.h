//===- InPlace.h - results that may take the place of an operand -*- C++ -*-===//
#ifndef HEDDLE_COMPILER_PLAN_INPLACE_H
#define HEDDLE_COMPILER_PLAN_INPLACE_H

#include "dialects/Model/IR/Model.h"

namespace heddle::plan {

/// Operands that `op` reads only at the element that it writes at the same moment.
inline llvm::SmallVector<mlir::Value> elementwiseOperands(mlir::Operation *op) {
  using namespace model;
  if (mlir::isa<MapOp, UnaryOp, BinaryOp, CompareOp, SelectOp, CastOp>(op))
    return llvm::SmallVector<mlir::Value>(op->getOperands());
  if (auto linear = mlir::dyn_cast<LinearOp>(op))
    return llvm::SmallVector<mlir::Value>(linear.getExtras());
  return {};
}

} // namespace heddle::plan

#endif
