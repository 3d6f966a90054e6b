//===- Indices.h - what an index of a parameter may be ----------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_PLAN_INDICES_H
#define HEDDLE_COMPILER_PLAN_INDICES_H

#include "dialects/Model/IR/Model.h"
#include "mlir/IR/Matchers.h"

namespace heddle::plan {

/// The values [first, end) that an index takes in the name of a parameter.
struct IndexRange {
  int64_t first = 0, end = 0;
  bool constant = false; ///< one of the description; else that of a repeat, which code counts from 0
  /// What is in the name where code has 0.
  int64_t base() const { return constant ? 0 : first; }
};

/// None: it is neither a constant nor the index of a repeat.
inline std::optional<IndexRange> rangeOf(mlir::Value index) {
  llvm::APInt constant;
  if (matchPattern(index, mlir::m_ConstantInt(&constant)))
    return IndexRange{constant.getSExtValue(), constant.getSExtValue() + 1, true};
  auto arg = mlir::dyn_cast<mlir::BlockArgument>(index);
  auto repeat = arg ? mlir::dyn_cast<model::RepeatOp>(arg.getOwner()->getParentOp()) : model::RepeatOp();
  if (!repeat || arg.getArgNumber() != 0)
    return std::nullopt;
  int64_t first = repeat.getFirst();
  return IndexRange{first, first + int64_t(repeat.getCount()), false};
}

} // namespace heddle::plan

#endif
