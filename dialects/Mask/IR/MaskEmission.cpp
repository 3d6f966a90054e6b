//===- MaskEmission.cpp - bands and connectives ---------------------------===//
//
// A segment is three values: `any`, `all`, `end`. Nothing is ever listed, so no mask is too
// irregular. Bands are half-lines k < bound(i) whose bound never decreases with the row: over
// a tile of rows its least value is at the first row, its greatest at the last.
//
//===----------------------------------------------------------------------===//

#include "dialects/Mask/IR/MaskCode.h"

using namespace mlir;
using namespace heddle::mask;
using Compare = arith::CmpIPredicate;

//===-- half-lines -------------------------------------------------------------===//

/// k < bound(i), or k >= bound(i) where `from`.
static Segment halfLine(Emitter &e, Value atFirst, Value atLast, Value key, bool from) {
  IntCode c{e.step, e.loc};
  Value all = c.less(key, atFirst), any = c.less(key, atLast);
  Value later = c.choose(any, atLast, c.constant(kUnbounded));
  Segment s = {any, all, c.choose(all, atFirst, later)};
  return from ? negate(c, s) : s;
}

/// i + shift - key_start as an index, at row i.
static Value shifted(OpBuilder &b, Emitter &e, Value row, int64_t shift) {
  IntCode c{b, e.loc};
  return c.sub(c.add(row, c.constant(std::clamp(shift, -kUnbounded, kUnbounded))), e.keyStart);
}

static Segment sideSegment(MaskOpInterface band, Emitter &e, Value key, Sides side) {
  Value atFirst = band.emitBound(e, e.tile, e.first, side), atLast = band.emitBound(e, e.tile, e.last, side);
  return halfLine(e, atFirst, atLast, key, side == Sides::Lower);
}
static Value sideContains(MaskOpInterface band, Emitter &e, Value row, Value key, Sides side) {
  Compare p = side == Sides::Lower ? Compare::sge : Compare::slt;
  return IntCode{e.step, e.loc}.keyAgainst(p, key, band.emitBound(e, e.tile, row, side));
}

//===-- bands from their bounds --------------------------------------------------===//

static Segment bandSegment(MaskOpInterface band, Emitter &e, Value key) {
  IntCode c{e.tile, e.loc};
  Segment s = everywhere(e, c.flag(true), c.flag(true));
  for (Sides side : {Sides::Lower, Sides::Upper})
    if (has(band.sides(), side))
      s = join({e.step, e.loc}, s, sideSegment(band, e, key, side), true);
  return s;
}
static Hull bandHull(MaskOpInterface band, Emitter &e) {
  auto bound = [&](Sides side, Value row) { return has(band.sides(), side) ? band.emitBound(e, e.tile, row, side) : Value(); };
  return {bound(Sides::Lower, e.first), bound(Sides::Upper, e.last)};
}
static Value bandContains(MaskOpInterface band, Emitter &e, Value row, Value key) {
  IntCode c{e.step, e.loc};
  Value result;
  for (Sides side : {Sides::Lower, Sides::Upper})
    if (has(band.sides(), side)) {
      Value one = sideContains(band, e, row, key, side);
      result = result ? c.both(result, one) : one;
    }
  return result ? result : c.spread(c.flag(true), key);
}

Value Residual::emitBound(Emitter &e, Value row) const { return ask(mask).emitBound(e, e.tile, row, side); }
Value Residual::emitContains(Emitter &e, Value row, Value key) const {
  return isBound() ? sideContains(ask(mask), e, row, key, side) : ask(mask).emitContains(e, row, key);
}
Segment heddle::mask::emitSegment(Emitter &e, const Residual &r, Value key) {
  return r.isBound() ? sideSegment(ask(r.mask), e, key, r.side) : ask(r.mask).emitSegment(e, key);
}

static Value always(Emitter &e, Value key, bool v) {
  IntCode c{e.step, e.loc};
  return c.spread(c.flag(v), key);
}

Segment AllOp::emitSegment(Emitter &e, Value) {
  IntCode c{e.tile, e.loc};
  return everywhere(e, c.flag(true), c.flag(true));
}
Hull AllOp::emitHull(Emitter &) { return {}; }
Value AllOp::emitContains(Emitter &e, Value, Value key) { return always(e, key, true); }

Sides CausalOp::sides() { return Sides::Upper; }
Value CausalOp::emitBound(Emitter &e, OpBuilder &b, Value row, Sides) { return shifted(b, e, row, 1); }
Segment CausalOp::emitSegment(Emitter &e, Value key) { return bandSegment(*this, e, key); }
Hull CausalOp::emitHull(Emitter &e) { return bandHull(*this, e); }
Value CausalOp::emitContains(Emitter &e, Value row, Value key) { return bandContains(*this, e, row, key); }

//===-- windows ----------------------------------------------------------------===//

/// Past this a side is no limit, and sums stay far from overflow.
static int64_t sideOf(int64_t v) { return std::clamp(v, -kUnbounded, kUnbounded); }

/// Labels: -left <= label(k) - label(q) <= right, for least and greatest labels of the rows.
static Value labelsWithin(WindowOp op, IntCode c, Value atKey, Value least, Value greatest) {
  Value result;
  auto meet = [&](Value bit) { result = result ? c.both(result, bit) : bit; };
  auto limit = [&](Value label, int64_t side) -> Value {
    Value n = arith::ConstantIntOp::create(c.b, c.loc, side, 64);
    return c.spread(c.add(label, n), atKey);
  };
  if (op.getLeft())
    meet(c.compare(Compare::sge, atKey, limit(greatest, -sideOf(*op.getLeft()))));
  if (op.getRight())
    meet(c.compare(Compare::sle, atKey, limit(least, sideOf(*op.getRight()))));
  return result ? result : c.spread(c.flag(true), atKey);
}

Sides WindowOp::sides() {
  if (getLabels())
    return Sides::NotABand;
  return Sides((getLeft() ? unsigned(Sides::Lower) : 0) | (getRight() ? unsigned(Sides::Upper) : 0));
}
Value WindowOp::emitBound(Emitter &e, OpBuilder &b, Value row, Sides side) {
  return shifted(b, e, row, side == Sides::Lower ? -sideOf(*getLeft()) : sideOf(*getRight()) + 1);
}
Segment WindowOp::emitSegment(Emitter &e, Value key) {
  if (!getLabels())
    return bandSegment(*this, e, key);
  auto [least, greatest] = rowRange(e, *this, getLabels());
  Value labels = getKeyLabels() ? getKeyLabels() : getLabels();
  return scanStretch(e, key, [&](OpBuilder &b, Value k) -> std::pair<Value, Value> {
    IntCode s{b, e.loc};
    Value label = loadAlong(e, b, labels, k);
    return {labelsWithin(*this, s, label, greatest, least), labelsWithin(*this, s, label, least, greatest)};
  });
}

Hull WindowOp::emitHull(Emitter &e) { return bandHull(*this, e); }

Value WindowOp::emitContains(Emitter &e, Value row, Value key) {
  if (!getLabels())
    return bandContains(*this, e, row, key);
  Value label = loadAlong(e, e.step, getKeyLabels() ? getKeyLabels() : getLabels(), key);
  Value own = loadAlong(e, e.tile, getLabels(), rowIndex(e, e.tile, row));
  return labelsWithin(*this, IntCode{e.step, e.loc}, label, own, own);
}

//===-- residues: undecided everywhere -----------------------------------------===//

Segment DilatedOp::emitSegment(Emitter &e, Value) {
  IntCode c{e.tile, e.loc};
  return everywhere(e, c.flag(true), c.flag(int64_t(getStep()) == 1));
}
Hull DilatedOp::emitHull(Emitter &) { return {}; }
Value DilatedOp::emitContains(Emitter &e, Value row, Value key) {
  // (key + key_start - row) mod step == 0 <=> key mod step == (row - key_start) mod step
  IntCode c{e.tile, e.loc}, s{e.step, e.loc};
  int64_t step = std::min<int64_t>(getStep(), kUnbounded);
  Value n = c.constant(step), r = arith::RemSIOp::create(e.tile, e.loc, c.sub(row, e.keyStart), n);
  r = c.choose(c.less(r, c.constant(0)), c.add(r, n), r);
  Value modulus = isa<VectorType>(key.getType())
                      ? s.spread(arith::ConstantIntOp::create(e.step, e.loc, step, 32).getResult(), key)
                      : s.constant(step);
  return s.keyAgainst(Compare::eq, arith::RemSIOp::create(e.step, e.loc, key, modulus), r);
}

//===-- prefix -----------------------------------------------------------------===//

Sides PrefixOp::sides() { return Sides::Upper; }
Value PrefixOp::emitBound(Emitter &e, OpBuilder &b, Value, Sides) {
  IntCode c{b, e.loc};
  SmallVector<Value> at(cast<heddle::model::ModelTensorType>(getLength().getType()).getRank(), c.constant(0));
  if (!at.empty())
    at.front() = e.batch;
  return c.sub(c.asBound(e.load(b, getLength(), at)), e.keyStart);
}
Segment PrefixOp::emitSegment(Emitter &e, Value key) { return bandSegment(*this, e, key); }
Hull PrefixOp::emitHull(Emitter &e) { return bandHull(*this, e); }
Value PrefixOp::emitContains(Emitter &e, Value row, Value key) { return bandContains(*this, e, row, key); }

//===-- connectives ------------------------------------------------------------===//

template <typename Op> static Segment joinBoth(Op op, Emitter &e, Value key, bool conjunction) {
  Segment x = ask(op.getLhs()).emitSegment(e, key), y = ask(op.getRhs()).emitSegment(e, key);
  return join({e.step, e.loc}, x, y, conjunction);
}
/// AND: any bound is a bound. OR: bounded only where both are.
template <typename Op> static Hull hullBoth(Op op, Emitter &e, bool conjunction) {
  Hull x = ask(op.getLhs()).emitHull(e), y = ask(op.getRhs()).emitHull(e);
  IntCode c{e.tile, e.loc};
  auto meet = [&](Value p, Value q, bool larger) -> Value {
    if (!p || !q)
      return conjunction ? (p ? p : q) : Value();
    return larger ? c.max(p, q) : c.min(p, q);
  };
  return {meet(x.begin, y.begin, conjunction), meet(x.end, y.end, !conjunction)};
}
template <typename Op> static Value eitherContains(Op op, Emitter &e, Value row, Value key) {
  Value x = ask(op.getLhs()).emitContains(e, row, key), y = ask(op.getRhs()).emitContains(e, row, key);
  return IntCode{e.step, e.loc}.either(x, y);
}

Segment AndOp::emitSegment(Emitter &e, Value key) { return joinBoth(*this, e, key, true); }
Hull AndOp::emitHull(Emitter &e) { return hullBoth(*this, e, true); }
Value AndOp::emitContains(Emitter &e, Value row, Value key) {
  Value x = ask(getLhs()).emitContains(e, row, key), y = ask(getRhs()).emitContains(e, row, key);
  return IntCode{e.step, e.loc}.both(x, y);
}
Segment OrOp::emitSegment(Emitter &e, Value key) { return joinBoth(*this, e, key, false); }
Hull OrOp::emitHull(Emitter &e) { return hullBoth(*this, e, false); }
Value OrOp::emitContains(Emitter &e, Value row, Value key) { return eitherContains(*this, e, row, key); }
Segment AddOp::emitSegment(Emitter &e, Value key) { return joinBoth(*this, e, key, false); }
Hull AddOp::emitHull(Emitter &e) { return hullBoth(*this, e, false); }
Value AddOp::emitContains(Emitter &e, Value row, Value key) { return eitherContains(*this, e, row, key); }

Segment NotOp::emitSegment(Emitter &e, Value key) {
  return negate({e.step, e.loc}, ask(getOperand()).emitSegment(e, key));
}
Hull NotOp::emitHull(Emitter &) { return {}; }
Value NotOp::emitContains(Emitter &e, Value row, Value key) {
  return IntCode{e.step, e.loc}.invert(ask(getOperand()).emitContains(e, row, key));
}

/// The condition is known when the run starts: it holds for every row and key.
static Value conditionOf(SelectOp op, OpBuilder &b, Emitter &e) {
  SmallVector<Value> at(cast<heddle::model::ModelTensorType>(op.getCondition().getType()).getRank(),
                        IntCode{b, e.loc}.constant(0));
  return e.load(b, op.getCondition(), at);
}
Segment SelectOp::emitSegment(Emitter &e, Value key) {
  Value yes = conditionOf(*this, e.tile, e);
  Segment x = ask(getYes()).emitSegment(e, key), y = ask(getNo()).emitSegment(e, key);
  IntCode c{e.step, e.loc};
  return {c.choose(yes, x.any, y.any), c.choose(yes, x.all, y.all), c.choose(yes, x.end, y.end)};
}
Hull SelectOp::emitHull(Emitter &e) {
  Value yes = conditionOf(*this, e.tile, e);
  Hull x = ask(getYes()).emitHull(e), y = ask(getNo()).emitHull(e);
  IntCode c{e.tile, e.loc};
  auto pick = [&](Value p, Value q, int64_t open) -> Value {
    return p || q ? c.choose(yes, p ? p : c.constant(open), q ? q : c.constant(open)) : Value();
  };
  return {pick(x.begin, y.begin, -kUnbounded), pick(x.end, y.end, kUnbounded)};
}
Value SelectOp::emitContains(Emitter &e, Value row, Value key) {
  Value yes = conditionOf(*this, e.tile, e);
  Value x = ask(getYes()).emitContains(e, row, key), y = ask(getNo()).emitContains(e, row, key);
  return arith::SelectOp::create(e.step, e.loc, yes, x, y);
}
