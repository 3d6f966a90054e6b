//===- Conditions.h - what lengths must be ----------------------*- C++ -*-===//
//
// Shapes are checked when they are inferred, as far as forms over dims tell. What they leave open, as whether a row 7
// exists in an axis T, depends on the lengths of a call: it becomes a condition, which what makes the call checks
// before anything runs (the interpreter here, the runtime by the card).
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_DIALECTS_MODEL_IR_CONDITIONS_H
#define HEDDLE_DIALECTS_MODEL_IR_CONDITIONS_H

#include "dialects/Model/IR/Model.h"

namespace heddle::model {

/// left >= right, or left != right, in every call that needs `op`.
struct Condition {
  Size left, right;
  bool differ = false; ///< != in place of >=
  mlir::Operation *op = nullptr;
  /// Of an op that computes the default of an input: the condition holds where this input is left out; else "".
  std::string without;

  /// "T >= 8".
  std::string str() const { return left.str() + (differ ? " != " : " >= ") + right.str(); }
  /// Whether it holds under `dims`; none where a dim is missing or a number leaves 64 bits.
  std::optional<bool> holds(const std::map<std::string, int64_t> &dims) const;
};

/// What `op` itself, without the ops in its regions, asks of lengths; conditions that always hold are left out.
llvm::SmallVector<Condition> conditionsOf(mlir::Operation *op);

/// What all ops in `function` ask, in their order; conditions that follow from others, or from the bounds of dims that
/// the module has, are left out.
llvm::SmallVector<Condition> conditionsIn(mlir::Operation *function);

/// The op without the name of its dialect, and for messages where its token is: "$.body[3].y (12:5)", the path of
/// the statement with line and column, so that a description from standard input makes the same program.
std::string wordOf(mlir::Operation *op);
std::string tokenOf(mlir::Location where);

} // namespace heddle::model

#endif
