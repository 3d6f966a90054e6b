//===- WarpAttention.h - attention, a row of a head a warp ------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_GPU_ATTENTION_WARPATTENTION_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_GPU_ATTENTION_WARPATTENTION_H

#include "compiler/Conversion/Lowering/Facts/AttentionShape.h"
#include "compiler/Conversion/Lowering/Frame/Lowering.h"

namespace heddle::loops {

/// The attention of `plan`, whose keys and values begin at `key` and `value` (a tensor's rows, or the part of a cache
/// that belongs to this iteration).
void emitWarpAttention(Lowering &l, const AttentionShape &plan, Value key, Value value);

} // namespace heddle::loops

#endif
