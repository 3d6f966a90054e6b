//===- AttentionScores.cpp - rows against panels of keys ------------------===//
//
// Step 1: scores. A tile of rows x panels keeps its scores in registers while d ascends, with one accumulator for each
// score. A group of rows skips panels that none of its rows sees (its bounds, emitBounds); a skipped key would have
// weight 0, and adding +0 changes no bit of a sum.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/CPU/Attention/AttentionKernel.h"
#include "compiler/Conversion/Lowering/Facts/SumStep.h"
#include "compiler/Conversion/Lowering/Language/Reals.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;

void heddle::loops::emitBounds(const ItemCode &item, mask::Emitter e) {
  ItemCode c = item;
  Value mask = c.plan.mask;
  if (!mask)
    return;
  Type i64 = c.b.getI64Type();
  c.loop(c.constant(0), c.item.count, c.groupRows(), [&](Value r) {
    e.first = c.positionOf(c.add(c.item.firstRow, r));
    Value last = c.sub(c.min(c.add(r, c.groupRows()), c.item.count), c.constant(1));
    e.last = c.positionOf(c.add(c.item.firstRow, last));
    e.tile = e.step = c.b;
    mask::Hull hull = mask::emitHull(e, mask);
    c.b.restoreInsertionPoint(e.tile.saveInsertionPoint());
    Value to = c.area.bounds(r);
    c.store(c.toI64(hull.begin ? hull.begin : c.constant(0)), to);
    Value end = c.toI64(hull.end ? hull.end : c.keys.count);
    c.store(end, c.at(to, c.constant(1), i64));
  });
}

namespace {
class Scores : ItemCode {
public:
  Scores(const ItemCode &item, const Tile &tile)
      : ItemCode(item), tile(tile), step(plan.arithmetic, plan.width), panelWords(kPanel * plan.keyWords()) {}
  void emit();

private:
  const Tile tile;
  const SumStep step;
  const int64_t panelWords;
  const int64_t perPanel = kPanel / lanes; ///< vectors

  void rowGroup(Value from, Value to, int64_t rows);
  void panels(Value panel, Value panelAt, Value column, Value r, int64_t rows, int64_t count);
  void fetchAhead(Value panelAt, Value values, Value r, Value d, int64_t rows, int64_t count, int64_t steps);
};
} // namespace

void heddle::loops::emitScores(const ItemCode &item, const Tile &tile) {
  item.plan.matrix ? emitMatrixScores(item, tile) : Scores(item, tile).emit();
}

void Scores::emit() {
  byRowGroups([&](Value from, Value to, int64_t rows) { rowGroup(from, to, rows); });
}

void Scores::rowGroup(Value from, Value to, int64_t rows) {
  // A power of two: a tile has whole groups of panels.
  int64_t count = llvm::bit_floor(uint64_t(std::clamp<int64_t>(accumulators() / (rows * perPanel), 1, kPanelsAtOnce)));
  Value keys = keysOf(tile);
  Value first = tripFloor(div(tile.begin, constant(kPanel)), count);
  Value last = div(add(tile.end, kPanel - 1), constant(kPanel));
  loop(first, last, count, [&](Value panel) {
    Value panelAt = at(keys, mul(panel, panelWords), f32());
    Value column = add(sub(mul(panel, kPanel), tile.at), kScoreFront);
    loop(from, to, rows, [&](Value r) {
      auto [begin, end] = seenBy(tile, r);
      Value before = less(mul(panel, kPanel), end), behind = less(begin, mul(add(panel, count), kPanel));
      when(arith::AndIOp::create(b, before, behind), [&] { panels(panel, panelAt, column, r, rows, count); });
    });
  });
}

/// Scores of `rows` rows from `r` on against `count` panels: one accumulator for each, d ascending.
void Scores::panels(Value panel, Value panelAt, Value column, Value r, int64_t rows, int64_t count) {
  Value q = area.query(r), values = valuesOf(tile, mul(panel, kPanel));
  Values init(rows * count * perPanel, real(vec(f32()), 0.0));
  auto multiply = [&](Value d, int64_t behind, ValueRange carried) {
    Values k, next(carried.begin(), carried.end());
    Value line = at(panelAt, mul(d, kPanel), f32());
    for (int64_t p = 0; p < count; ++p)
      for (int64_t v = 0; v < perPanel; ++v)
        k.push_back(at(line, constant(p * panelWords + behind * kPanel + v * lanes), f32()));
    Value left = at(q, constant(behind * step.wordsAStep()), f32());
    step.multiply(*this, left, d, k, rows, next);
    return next;
  };
  auto fetch = [&](Value d, int64_t steps) {
    if (rows == 8)
      fetchAhead(panelAt, values, r, d, rows, count, steps);
  };
  int64_t steps = rows == groupRows() ? kStepsInTurn : 1;
  Values sums =
      loopInTurns(constant(0), constant(step.whole()), steps, step.whole() % steps == 0, init, multiply, fetch);
  if (step.whole() < step.depth())
    sums = multiply(constant(step.whole()), 0, sums);
  // With dots queries are rounded without the scale, so the sum is scaled.
  if (plan.arithmetic.dots)
    for (Value &sum : sums)
      sum = mulf(sum, real(vec(f32()), plan.op.getScale().convertToDouble() * kLog2E));
  Value scores = area.scores(r, column);
  for (int64_t i = 0, n = count * perPanel; i < rows; ++i)
    for (int64_t v = 0; v < n; ++v)
      store(sums[i * n + v], at(scores, constant(i * plan.scoreStride() + v * lanes), f32()));
}

/// Prefetches this group's share of the next panels, and of the tile's values: what so many steps from d on owe.
void Scores::fetchAhead(Value panelAt, Value values, Value r, Value d, int64_t rows, int64_t count, int64_t steps) {
  constexpr int64_t line = 16;
  int64_t share = std::max<int64_t>(1, count * kPanel / plan.rowTile), w = plan.keyWords(), u = plan.valueWords();
  int64_t keyShare = share * rows, valueShare = std::max<int64_t>(1, share * rows * u / w); // words a step
  Value key = add(add({mul(r, share * w), mul(d, keyShare)}), count * panelWords);
  Value value = add({mul(r, share * u), mul(d, valueShare)});
  for (int64_t owed = 0; owed < steps * keyShare; owed += std::max(keyShare, line))
    prefetch(at(panelAt, add(key, owed), f32()));
  for (int64_t owed = 0; owed < steps * valueShare; owed += std::max(valueShare, line))
    LLVM::Prefetch::create(b, at(values, add(value, owed), f32()), /*rw=*/0, /*level 2=*/2, /*data=*/1);
}
