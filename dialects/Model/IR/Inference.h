//===- Inference.h - what the rules of result types share -------*- C++ -*-===//
#ifndef HEDDLE_DIALECTS_MODEL_IR_INFERENCE_H
#define HEDDLE_DIALECTS_MODEL_IR_INFERENCE_H

#include "dialects/Model/IR/TensorType.h"

namespace heddle::model::inference {

using Types = llvm::SmallVectorImpl<mlir::Type>;
using Loc = std::optional<mlir::Location>;

/// Reports at the op's location, when there is one, and fails.
template <typename... Args> mlir::LogicalResult refuse(Loc loc, Args &&...args) {
  return mlir::emitOptionalError(loc, std::forward<Args>(args)...);
}

/// The type of a result; an error where there is no such tensor.
inline mlir::LogicalResult give(Loc loc, ModelTensorType type, Types &out) {
  if (std::string why = unfitShape(type.getSizes(), type.getElementType()); !why.empty())
    return refuse(loc, "the result ", why);
  out.push_back(type);
  return mlir::success();
}

/// Whether the axes `from`, aligned from the right, are those of `to` or 1.
bool stretches(llvm::ArrayRef<Size> from, llvm::ArrayRef<Size> to);

/// "[B, T, 768]".
inline std::string show(ModelTensorType t) {
  std::string s = "[";
  for (auto [i, a] : llvm::enumerate(t.getAxes()))
    s += (i ? ", " : "") + a.getValue().str();
  return s + "]";
}

} // namespace heddle::model::inference

#endif
