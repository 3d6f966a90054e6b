//===- EmitBands.cpp - bands: causal, windows, prefixes and what they join to ----===//
//
// Code of bands, from their bounds. A half-line k < bound(i) has a bound that never decreases, so over
// a tile of rows it is least at the first row and greatest at the last: five operations for each
// segment, exact for `any` and `all`.
//
//===----------------------------------------------------------------------===//

#include "dialects/Mask/Emission/MaskCode.h"

using namespace mlir;
using namespace heddle::mask;
using heddle::model::ModelTensorType;
using Compare = arith::CmpIPredicate;

//===-- bounds as code ---------------------------------------------------------------===//

static Value emitTerm(OpBuilder &b, Emitter &e, Value row, const Term &t) {
  IntCode c{b, e.loc};
  if (t.row)
    return c.add(t.chunk > 1 ? c.mul(c.div(row, t.chunk), c.constant(t.chunk)) : row, c.constant(t.shift));
  if (!t.value)
    return c.constant(t.shift);
  SmallVector<Value> at(cast<ModelTensorType>(t.value.getType()).getRank(), e.batch);
  return c.add(c.asBound(e.load(b, t.value, at)), c.constant(t.shift));
}

/// The bound at position `row` as a key row; in a strided view the first key at or past the bound.
static Value boundAt(MaskOpInterface band, Emitter &e, Value row, Sides side) {
  OpBuilder &b = e.tile;
  IntCode c{b, e.loc};
  bool lower = side == Sides::Lower;
  auto extreme = [&](bool least, Value x, Value y) { return !x ? y : least ? c.min(x, y) : c.max(x, y); };
  Value bound;
  for (const TermGroup &group : band.bound(side)) {
    Value inner;
    for (const Term &t : group)
      inner = extreme(lower, inner, emitTerm(b, e, row, t));
    bound = extreme(!lower, bound, inner);
  }
  return keyFrom(e, b, c.sub(bound, e.keyStart));
}

//===-- half-lines -------------------------------------------------------------------===//

Segment heddle::mask::halfLine(Emitter &e, Value atFirst, Value atLast, Value key, Sides side) {
  IntCode c{e.step, e.loc};
  Value all = c.less(key, atFirst), any = c.less(key, atLast);
  Value later = c.choose(any, atLast, c.constant(kUnbounded));
  Segment s = {any, all, c.choose(all, atFirst, later)};
  return side == Sides::Lower ? negate(c, s) : s;
}

static Segment sideSegment(MaskOpInterface band, Emitter &e, Value key, Sides side) {
  Value atFirst = boundAt(band, e, e.first, side), atLast = boundAt(band, e, e.last, side);
  return halfLine(e, atFirst, atLast, key, side);
}
static Value sideContains(MaskOpInterface band, Emitter &e, Value row, Value key, Sides side) {
  Compare p = side == Sides::Lower ? Compare::sge : Compare::slt;
  return IntCode{e.step, e.loc}.keyAgainst(p, key, boundAt(band, e, row, side));
}

Value heddle::mask::emitBound(Emitter &e, const Residual &r, Value row) { return boundAt(ask(r.mask), e, row, r.side); }
Value heddle::mask::emitContains(Emitter &e, const Residual &r, Value row, Value key) {
  return r.isBound() ? sideContains(ask(r.mask), e, row, key, r.side) : emitContains(e, r.mask, row, key);
}
Segment heddle::mask::emitSegment(Emitter &e, const Residual &r, Value key) {
  return r.isBound() ? sideSegment(ask(r.mask), e, key, r.side) : emitSegment(e, r.mask, key);
}

//===-- bands from their sides -------------------------------------------------------===//

static Segment segmentOf(MaskOpInterface band, Emitter &e, Value key) {
  IntCode c{e.tile, e.loc};
  Segment s = everywhere(e, c.flag(true), c.flag(true));
  for (Sides side : {Sides::Lower, Sides::Upper})
    if (has(band.sides(), side))
      s = join({e.step, e.loc}, s, sideSegment(band, e, key, side), true);
  return s;
}
static Hull hullOf(MaskOpInterface band, Emitter &e) {
  auto bound = [&](Sides side, Value row) { return has(band.sides(), side) ? boundAt(band, e, row, side) : Value(); };
  return {bound(Sides::Lower, e.first), bound(Sides::Upper, e.last)};
}
static Value contains(MaskOpInterface band, Emitter &e, Value row, Value key) {
  IntCode c{e.step, e.loc};
  Value result;
  for (Sides side : {Sides::Lower, Sides::Upper})
    if (has(band.sides(), side)) {
      Value one = sideContains(band, e, row, key, side);
      result = result ? c.both(result, one) : one;
    }
  return result ? result : c.spread(c.flag(true), key);
}

namespace {
/// The code of every op that answers `sides` and `bound`.
template <typename Op> struct BandCode : MaskCodeInterface::ExternalModel<BandCode<Op>, Op> {
  Segment emitSegment(Operation *op, Emitter &e, Value key) const {
    return segmentOf(cast<MaskOpInterface>(op), e, key);
  }
  Hull emitHull(Operation *op, Emitter &e) const { return hullOf(cast<MaskOpInterface>(op), e); }
  Value emitContains(Operation *op, Emitter &e, Value row, Value key) const {
    return contains(cast<MaskOpInterface>(op), e, row, key);
  }
};

/// The code of windows: a band, except on labels.
struct WindowCode : MaskCodeInterface::ExternalModel<WindowCode, WindowOp> {
  Segment emitSegment(Operation *op, Emitter &e, Value key) const {
    auto w = cast<WindowOp>(op);
    return w.getLabels() ? labelSegment(labelsOf(w), e, key) : segmentOf(w, e, key);
  }
  Hull emitHull(Operation *op, Emitter &e) const {
    auto w = cast<WindowOp>(op);
    return w.getLabels() ? labelHull(labelsOf(w), e) : hullOf(w, e);
  }
  Value emitContains(Operation *op, Emitter &e, Value row, Value key) const {
    auto w = cast<WindowOp>(op);
    return w.getLabels() ? labelContains(labelsOf(w), e, row, key) : contains(w, e, row, key);
  }
};

template <typename... Ops> void attachBandLike(MLIRContext &context) {
  (Ops::template attachInterface<BandCode<Ops>>(context), ...);
}
} // namespace

void heddle::mask::attachBands(MLIRContext &context) {
  attachBandLike<CausalOp, ChunkOp, PrefixOp, BandOp>(context);
  WindowOp::attachInterface<WindowCode>(context);
}
