//===- SplitRepeat.h - a repeat in several ----------------------*- C++ -*-===//
//
// Layers that are alike but for how their weights are stored need a repeat for each run of layers stored alike.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_DIALECTS_MODEL_TRANSFORMS_SPLITREPEAT_H
#define HEDDLE_DIALECTS_MODEL_TRANSFORMS_SPLITREPEAT_H

#include "dialects/Model/IR/Model.h"

namespace heddle::model {

/// Whether the body uses the index in names of parameters alone.
bool canSplit(RepeatOp op);
/// Replaces `op` by one repeat after the other, each of so many iterations. They add up to the count of `op`. What they
/// collect is joined.
void splitRepeat(RepeatOp op, llvm::ArrayRef<int64_t> lengths);

} // namespace heddle::model

#endif
