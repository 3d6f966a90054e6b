//===- Views.h - ops that only look at memory otherwise ---------*- C++ -*-===//
#ifndef HEDDLE_DIALECTS_MODEL_TRANSFORMS_VIEWS_H
#define HEDDLE_DIALECTS_MODEL_TRANSFORMS_VIEWS_H

#include "dialects/Model/IR/Model.h"

namespace heddle::model {

/// Where the row-major result of `op` starts inside its first operand (in elements), when the
/// result is a contiguous stretch of it as it stands: squeeze, unsqueeze, a rearrange that
/// permutes nothing, a slice behind axes of 1, a broadcast or cast that changes nothing.
std::optional<Size> viewOffset(mlir::Operation *op);

/// The names of a rearrange's axes other than 1, in order of the operand and of the result,
/// and their lengths.
struct Rearrangement {
  std::vector<std::string> from, to;
  std::map<std::string, Size> sizes;
};
Rearrangement rearrangement(RearrangeOp op);

} // namespace heddle::model

#endif
