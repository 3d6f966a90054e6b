//===- TileAttention.h - attention through tiles ----------------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_GPU_ATTENTION_TILEATTENTION_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_GPU_ATTENTION_TILEATTENTION_H

#include "compiler/Conversion/Lowering/Facts/AttentionShape.h"
#include "compiler/Conversion/Lowering/Frame/Lowering.h"

namespace heddle::loops {

//===-- what it takes (AttentionTiles.cpp) ---------------------------------------===//

/// The tiles of an attention that this program takes; null where the general one has to do it.
attn::ScheduleAttr tiledSchedule(attn::SdpaOp op);
/// Why an attention has no tiles: "f16" or "wide" (its numbers), "width", "classes", "mean", "counted" or "bias"; ""
/// where it has.
llvm::StringRef untiledAttention(attn::SdpaOp op);
/// The same of numbers that tiles do not multiply: "f16" or "wide".
llvm::StringRef untiledNumbers(const model::Arithmetic &arithmetic);
/// Why a schedule with `tiled` cannot be lowered; "" if it can.
std::string refuseTiled(attn::SdpaOp op);
/// Bytes of working memory: keys and values that come as rows of a tensor, as they are read.
model::Size tiledScratchBytes(attn::SdpaOp op);

//===-- its code (TileAttention.cpp) --------------------------------------------------===//

/// The attention of `plan`, whose keys and values begin at `key` and `value` (a tensor's rows, or the part of a cache
/// that belongs to this iteration).
void emitTileAttention(Lowering &l, const AttentionShape &plan, Value key, Value value);

} // namespace heddle::loops

#endif
