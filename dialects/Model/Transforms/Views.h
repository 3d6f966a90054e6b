//===- Views.h - ops that only look at memory otherwise ---------*- C++ -*-===//
#ifndef HEDDLE_DIALECTS_MODEL_TRANSFORMS_VIEWS_H
#define HEDDLE_DIALECTS_MODEL_TRANSFORMS_VIEWS_H

#include "dialects/Model/IR/Model.h"

namespace heddle::model {

/// The offset, in elements, of the result of `op` in its first operand, if the result is a contiguous
/// part of the operand in row-major order, so that nothing has to be copied: squeeze, unsqueeze, a
/// rearrange that permutes nothing, a slice after axes of 1, a broadcast or cast without effect, windows that
/// overlap. None for any other op.
std::optional<Size> viewOffset(mlir::Operation *op);

/// Whether the rows of `op` are read where its operand is: windows along one axis, without dilation, that linears
/// alone read. Rows overlap, so the result is no tensor of its own: row l of batch element b begins `stride` * c
/// elements behind row l - 1 and at the beginning of b where l = 0.
bool overlaps(WindowsOp op);

/// The axes of a rearrange that are not 1: names in the order of the operand and of the result, and
/// their lengths.
struct Rearrangement {
  std::vector<std::string> from, to;
  std::map<std::string, Size> sizes;
};
Rearrangement rearrangement(RearrangeOp op);

} // namespace heddle::model

#endif
