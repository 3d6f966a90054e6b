//===- Tiles.h - the tiles that every target's loops can have ---*- C++ -*-===//
//
// What holds of tiles wherever they are chosen: the usual ones of an attention, the heights below a tile, and why the
// general code cannot be made of some. How large tiles are is each target's choice (compiler/Plan/Target.h).
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_FACTS_TILES_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_FACTS_TILES_H

#include "dialects/Attn/IR/Attn.h"

namespace heddle::loops {

constexpr int64_t kPanelsAtOnce = 4; ///< panels of keys that scores are made of at once, at most
constexpr int64_t kLeastRows = 8;    ///< packed rows that are computed at once

/// The default tiles of an attention. Kernels with other tiles have these in their names.
attn::ScheduleAttr usualTiles(attn::SdpaOp op);

/// The height of the next lower tile for the rows that are left: half of a power of two; where 6 are a whole tile each
/// height has its own, so that there is one for all that is left. 0 below 1.
int64_t lowerTile(model::ScheduleAttr tiles, int64_t rows);

/// Why the tiles that a linear, a matmul or an attention has cannot be lowered to loops; "" if they can.
std::string refuseTiles(mlir::Operation *op);

} // namespace heddle::loops

#endif
