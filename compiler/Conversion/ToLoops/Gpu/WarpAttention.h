//===- WarpAttention.h - attention, a row of a head a warp ------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_CONVERSION_TOLOOPS_GPU_WARPATTENTION_H
#define HEDDLE_COMPILER_CONVERSION_TOLOOPS_GPU_WARPATTENTION_H

#include "compiler/Conversion/ToLoops/AttentionPlan.h"
#include "compiler/Conversion/ToLoops/Lowering.h"

namespace heddle::loops {

/// The attention of `plan`, whose keys and values begin at `key` and `value` (a tensor's rows, or the part of a cache
/// that belongs to this iteration).
void emitWarpAttention(Lowering &l, const AttentionPlan &plan, Value key, Value value);

} // namespace heddle::loops

#endif
