//===- LinearPack.h - what a linear rearranges at run time ------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_CONVERSION_TOLOOPS_LINEARPACK_H
#define HEDDLE_COMPILER_CONVERSION_TOLOOPS_LINEARPACK_H

#include "compiler/Conversion/ToLoops/SumStep.h"

namespace heddle::loops {

/// How the kernel reads the weight: as the packed parameter lies, or as `packWeight` lays out any other.
WeightLayout weightLayoutOf(model::LinearOp op);

/// Working memory of a linear beside its result: each part 0 bytes where it is not needed.
struct LinearScratch {
  explicit LinearScratch(model::LinearOp op);
  model::Size weight = 0; ///< panels packed at run time, of a weight that is no packed parameter
  model::Size bias = 0;   ///< the same for the bias of one part
  model::Size rows = 0;   ///< the left side as pairs of bf16
  model::Size bytes() const { return weight + bias + rows; }
};

/// Each leaves its part of the scratch filled, behind a barrier.
Value packWeight(Lowering &l, model::LinearOp op, const SumStep &step, int64_t n);
Value packBias(Lowering &l, model::LinearOp op, int64_t n);
Value packRows(Lowering &l, model::LinearOp op, const SumStep &step);

} // namespace heddle::loops

#endif
