//===- WarpPrograms.cpp - ops that warps do in their own way ------------------===//
//
// What differs from the source that all targets share: linears of many rows, attention, and rows that go into a cache
// as attention reads them. The layouts are the CPU's (AttentionPlan.h), so one plan serves both.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ToLoops/Gpu/WarpPrograms.h"
#include "compiler/Conversion/ToLoops/CachePart.h"
#include "compiler/Conversion/ToLoops/Gpu/TileLinear.h"
#include "compiler/Conversion/ToLoops/Gpu/WarpAttention.h"
#include "compiler/Conversion/ToLoops/Halves.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using namespace heddle::model;
using namespace heddle::plan;

static LogicalResult lowerAttention(Lowering &l, attn::SdpaOp op) {
  AttentionPlan plan(op);
  l.b.setLoc(op.getLoc());
  (void)l.allocatePointer(op->getResult(0));
  Value key = keysOrValues(l, op.getKey()), value = keysOrValues(l, op.getValue());
  emitWarpAttention(l, plan, key, value);
  return success();
}

/// One row of one head, from `source` (f32) to `target`, its place as a key (`layout.keys`: words [w][panel of 16
/// keys], `target` is the key's own word of component 0) or as a value (words [w]).
static void writeRow(Lowering &l, const CacheLayout &layout, Value source, Value target) {
  bool halves = layout.stored != model::Stored::f32;
  int64_t w = layout.width, step = layout.keys ? kPanel : 1;
  l.elements(l.constant(halves ? (w + 1) / 2 : w), [&](Value word) {
    Value place = l.at(target, l.mul(word, step), l.f32());
    if (!halves)
      return l.store(l.loadF32(source, word), place);
    Value even = l.mul(word, 2), odd = l.add(even, 1), there = l.less(odd, l.constant(w));
    Value first = l.loadF32(source, even), second = l.loadF32(source, l.select(there, odd, even));
    l.store(pairWord(l, layout.stored, first, l.select(there, second, l.real(0.0))), place);
  });
}

/// An item is one row of one head.
static LogicalResult lowerCacheWrite(Lowering &l, Operation *op) {
  FailureOr<CacheWrite> write = cacheWrite(l, op);
  if (failed(write))
    return failure();
  Location loc = op->getLoc();
  const CacheLayout &layout = write->layout;
  Value fresh = write->fresh;
  bool halves = layout.stored != model::Stored::f32;
  int64_t w = layout.width, heads = layout.heads, classes = layout.classes, words = layout.words;
  l.parallelFor(loc, l.mul(l.mul(write->batch, heads), fresh), [&](Value item) {
    Value row = l.rem(item, fresh), outer = l.div(item, fresh);
    Value head = l.rem(outer, l.constant(heads)), batch = l.div(outer, l.constant(heads));
    Value from = l.at(write->source, l.mul(l.add(l.mul(l.add(l.mul(batch, fresh), row), heads), head), w), l.f32());
    Value position = l.add(write->past, row), number = l.rem(position, l.constant(classes)),
          at = l.div(position, l.constant(classes));
    Value base = l.at(write->part, l.mul(l.add(l.mul(outer, classes), number), write->room), l.f32());
    write->places(l, at, [&](Value place) {
      Value word = l.mul(place, words);
      if (layout.keys)
        word = l.add(l.mul(l.div(place, l.constant(kPanel)), words * kPanel), l.rem(place, l.constant(kPanel)));
      writeRow(l, layout, from, l.at(base, word, l.f32()));
    });
  });
  l.spend([&] {
    auto append = dyn_cast<AppendOp>(op);
    Size rows = bytesWhereItLies(append ? append.getRows() : cast<StoreOp>(op).getValue());
    return Cost{op->getName().stripDialect().str(), 0, false, rows, halves ? rows.floorDiv(Size(2)) : rows};
  });
  l.barrier(loc);
  return success();
}

const Programs &heddle::loops::warpPrograms() {
  static constexpr Programs programs{lowerTiledLinear, lowerAttention, lowerCacheWrite};
  return programs;
}
