//===- WarpPrograms.cpp - ops that warps do in their own way ------------------===//
//
// What differs from the source that all targets share: linears of many rows, attention, rows that go into a cache as
// attention reads them, and ops whose elements depend on each other. The layouts are the CPU's (AttentionShape.h), so
// one plan serves both.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/GPU/WarpPrograms.h"
#include "compiler/Conversion/Lowering/GPU/Attention/TileAttention.h"
#include "compiler/Conversion/Lowering/GPU/Attention/WarpAttention.h"
#include "compiler/Conversion/Lowering/GPU/Linear/PackedRows.h"
#include "compiler/Conversion/Lowering/GPU/Linear/RoundedRows.h"
#include "compiler/Conversion/Lowering/GPU/Linear/TileLinear.h"
#include "compiler/Conversion/Lowering/GPU/Ops/WarpOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using namespace heddle::model;
using namespace heddle::plan;

static LogicalResult lowerAttention(Lowering &l, attn::SdpaOp op) {
  AttentionShape plan(op);
  l.b.setLoc(op.getLoc());
  (void)l.allocatePointer(op->getResult(0));
  Value key = keysOrValues(l, op.getKey()), value = keysOrValues(l, op.getValue());
  if (attn::scheduleOf(op).getTiled())
    emitTileAttention(l, plan, key, value);
  else
    emitWarpAttention(l, plan, key, value);
  return success();
}

static LogicalResult lowerCacheWrite(Lowering &l, Operation *op) {
  FailureOr<CacheWrite> write = cacheWrite(l, op);
  if (failed(write))
    return failure();
  emitPackedRows(l, op->getLoc(), *write);
  l.noteCost([&] { return costOfWrite(op, write->layout.stored); });
  l.barrier(op->getLoc());
  return success();
}

static bool lowerOther(Lowering &l, Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](ReduceOp o) { return lowerWarpReduce(l, o); })
      .Case([&](CumsumOp o) { return lowerWarpCumsum(l, o); })
      .Case([&](LiveRowsOp o) { return lowerWarpLiveRows(l, o), true; })
      .Case([&](GroupNormOp o) { return lowerWarpGroupNorm(l, o), true; })
      .Case([&](mask::KeyTableOp o) { return lowerWarpKeyTable(l, o), true; })
      .Case([&](mask::RowCountsOp o) { return lowerWarpRowCounts(l, o), true; })
      .Default([](Operation *) { return false; });
}

const Programs &heddle::loops::warpPrograms() {
  static constexpr Programs programs{lowerTiledLinear, lowerAttention, lowerCacheWrite, lowerOther, storeRoundedToo};
  return programs;
}
