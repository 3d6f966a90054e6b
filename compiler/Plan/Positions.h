//===- Positions.h - when the ops of a function run -------------*- C++ -*-===//
//
// Ops are numbered in the order of the text: one number each, two for an op with a body (a repeat, a default), before
// and after what is in it. Lives of places (dialects/Model/IR/LifeAttrs.h) are in these numbers.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_PLAN_POSITIONS_H
#define HEDDLE_COMPILER_PLAN_POSITIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace heddle::plan {

/// From the first to the last number, both included.
struct Span {
  int64_t begin = 0, end = 0;
};

class Positions {
public:
  explicit Positions(mlir::func::FuncOp function) { number(function.getBody().front()); }

  /// The numbers of an op of the function.
  Span of(mlir::Operation *op) const { return numbers.lookup(op); }
  /// After how many others that each need one another an op runs; a repeat and what is in it is after all before it.
  Span levelsOf(mlir::Operation *op) const { return levels.lookup(op); }

private:
  llvm::DenseMap<mlir::Operation *, Span> numbers, levels;
  int64_t now = 0;
  int64_t base = 0, top = 0; ///< levels: where the ops of the block at hand begin, the deepest so far

  void number(mlir::Block &block);
};

} // namespace heddle::plan

#endif
