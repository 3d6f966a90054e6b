//===- AttentionMaxima.cpp - what a row sees, and its greatest score ------===//
//
// Step 2: softcap, bias and mask are applied to the scores, which are stored again, hidden ones as -inf; then the
// running maximum of each row, and the factor by which its earlier sums shrink.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/CPU/Attention/AttentionKernel.h"
#include "compiler/Conversion/Lowering/Language/Reals.h"
#include <cmath>

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;

int64_t heddle::loops::openBeyondBounds(const KernelShape &plan) {
  if (!plan.mask)
    return 0;
  mask::Residuals root = mask::residuals(plan.mask);
  int64_t bits = 0;
  for (auto [n, operand] : llvm::enumerate(root.operands))
    if (!root.conjunction || !operand.isBound())
      bits |= int64_t(1) << n;
  return bits;
}

namespace {
class Maxima : ItemCode {
public:
  Maxima(const ItemCode &item, const Tile &tile, const TileBias &bias, Open open)
      : ItemCode(item), tile(tile), bias(bias), open(open) {}
  void emit();

private:
  const Tile tile;
  const TileBias &bias;
  const Open open;
  using Point = OpBuilder::InsertPoint; ///< where what does not change along a row goes

  /// A row, the addresses of its scores and counts, and the keys within its bounds.
  struct Line {
    RowContext row;
    Value scores, counts;
    Value begin = {}, end = {};
  };

  std::pair<Value, Value> keysSeen(const RowContext &row);
  Value seen(const Line &line, Value keys, Value column, Value within, Point outside);
  Value score(const Line &line, Value column, Point outside);
  Values greatestOf(const Line &line);
};
} // namespace

void heddle::loops::emitMaxima(const ItemCode &item, const Tile &tile, const TileBias &bias, Open open) {
  Maxima(item, tile, bias, open).emit();
}

/// The keys of the tile within the row's bounds, to which all bounds of a conjunction are folded.
std::pair<Value, Value> Maxima::keysSeen(const RowContext &row) {
  Value begin = tile.begin, end = tile.end, mask = plan.mask;
  if (!mask || plan.counted)
    return {begin, end};
  mask::Residuals root = mask::residuals(mask);
  ask([&](mask::Emitter &e) {
    e.head = row.head;
    e.first = e.last = row.position;
    for (const mask::Residual &operand : root.operands)
      if (root.conjunction && operand.isBound()) {
        Value bound = mask::emitBound(e, operand, row.position);
        b.restoreInsertionPoint(e.tile.saveInsertionPoint());
        operand.side == mask::Sides::Lower ? begin = max(begin, bound) : end = min(end, bound);
      }
  });
  return {begin, end};
}

/// Tests the rest of the mask for keys within the bounds; stores counts where keys are counted.
Value Maxima::seen(const Line &line, Value keys, Value column, Value within, Point outside) {
  const RowContext &row = line.row;
  Value mask = plan.mask, seen = within;
  ask([&](mask::Emitter &e) {
    e.head = row.head;
    e.first = e.last = row.position;
    e.tile.restoreInsertionPoint(outside);
    mask::Residuals root = mask::residuals(mask);
    if (plan.counted || !root.conjunction)
      seen = arith::AndIOp::create(b, seen, mask::emitContains(e, mask, row.position, keys));
    for (const mask::Residual &operand : root.operands)
      if (!plan.counted && root.conjunction && !operand.isBound())
        seen = arith::AndIOp::create(b, seen, mask::emitContains(e, operand, row.position, keys));
    if (plan.counted) {
      Value n = mask::emitCount(e, mask, row.position, keys);
      store({arith::SIToFPOp::create(b, vec(f32()), n), at(line.counts, column, f32())});
    }
  });
  return seen;
}

/// The scores of the keys at `column` after softcap, bias and mask.
Value Maxima::score(const Line &line, Value column, Point outside) {
  Value s = loadVec(line.scores, column), firstKey = add(tile.at, column);
  if (plan.matrix) // stores sums as they are
    s = mulf(s, real(vec(f32()), plan.op.getScale().convertToDouble() * kLog2E));
  if (plan.op.getSoftcap())
    s = softcap(*this, s, plan.op.getSoftcap()->convertToDouble());
  if (Value added = plan.bias)
    s = fma(bias.at(added, line.row, firstKey, column), real(vec(f32()), kLog2E), s);
  if (open != Open::Nothing) {
    using Compare = arith::CmpIPredicate;
    Value keys = iota(firstKey);
    Value below = arith::CmpIOp::create(b, Compare::slt, keys, splatWord(line.end));
    Value from = arith::CmpIOp::create(b, Compare::sge, keys, splatWord(line.begin));
    Value shown = arith::AndIOp::create(b, below, from);
    if (plan.mask && open == Open::All)
      shown = seen(line, keys, column, shown, outside);
    s = select(shown, s, real(vec(f32()), -INFINITY));
  }
  if (open != Open::Nothing || plan.op.getSoftcap() || plan.bias || plan.matrix)
    store(s, at(line.scores, column, f32()));
  return s;
}

/// The maximum of each lane, for even and for odd vectors.
Values Maxima::greatestOf(const Line &line) {
  Value none = real(vec(f32()), -INFINITY);
  Values greatest = {none, none};
  if (open == Open::Nothing) {
    for (int64_t column = 0; column < plan.keyTile; column += lanes) {
      Value &most = greatest[column / lanes % 2];
      most = larger(*this, score(line, constant(column), {}), most);
    }
  } else {
    auto [begin, end] = seenBy(tile, line.row.index);
    begin = tripFloor(sub(begin, tile.at), 2 * lanes);
    greatest = loop(begin, sub(end, tile.at), 2 * lanes, greatest, [&](Value column, ValueRange c) -> Values {
      OpBuilder outside(b);
      outside.setInsertionPoint(b.getInsertionBlock()->getParentOp());
      Point point = outside.saveInsertionPoint();
      Value even = larger(*this, score(line, column, point), c[0]);
      return {even, larger(*this, score(line, add(column, lanes), point), c[1])};
    });
  }
  return greatest;
}

void Maxima::emit() {
  loop(constant(0), item.count, 1, [&](Value r) {
    Line line{contextOf(r), area.scores(r), plan.counted ? area.counts(r) : Value()};
    if (open != Open::Nothing)
      std::tie(line.begin, line.end) = keysSeen(line.row);
    Values most = greatestOf(line);
    Value maxAt = area.greatest(r), before = load(f32(), maxAt);
    Value now = larger(*this, largestLane(*this, larger(*this, most[0], most[1])), before);
    store(now, maxAt);
    store({subf(before, now), area.scale(r)});
  });
  for (int64_t r = 0; r < plan.rowTile; r += lanes) {
    Value scale = area.scale(constant(r));
    store(exp2(*this, load(vec(f32()), scale)), scale);
  }
}
