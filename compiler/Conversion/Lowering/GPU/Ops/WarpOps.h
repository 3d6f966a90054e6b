//===- WarpOps.h - ops whose elements depend on each other ------*- C++ -*-===//
//
// On a CPU a thread walks along an axis; on a device that would be one thread among thousands, waiting for memory at
// each step. Here warps take what can be asked at once, and long axes are cut into parts, of which one more phase makes
// the whole. Parts are cut by length alone, so the grid shows in no bit.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_GPU_OPS_WARPOPS_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_GPU_OPS_WARPOPS_H

#include "compiler/Conversion/Lowering/Frame/Lowering.h"
#include "compiler/Conversion/Lowering/GPU/WarpLanes.h"

namespace heddle::loops {

// WarpTables.cpp. Live rows are counted by parts of 256 rows and then listed by the same parts.
void lowerWarpLiveRows(Lowering &l, model::LiveRowsOp op);
model::Size liveRowsScratch(model::LiveRowsOp op);
void lowerWarpKeyTable(Lowering &l, mask::KeyTableOp op);
void lowerWarpRowCounts(Lowering &l, mask::RowCountsOp op);

// WarpReductions.cpp; false where lanes have nothing to share, which the general lowering does as well.
bool lowerWarpReduce(Lowering &l, model::ReduceOp op);
model::Size reduceScratch(model::ReduceOp op);
bool lowerWarpCumsum(Lowering &l, model::CumsumOp op);
void lowerWarpGroupNorm(Lowering &l, model::GroupNormOp op);
model::Size groupNormScratch(model::GroupNormOp op);

} // namespace heddle::loops

#endif
