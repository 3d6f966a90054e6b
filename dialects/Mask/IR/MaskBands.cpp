//===- MaskBands.cpp - bands: causal, windows, prefixes and what they join to ----===//
//
// A half-line k < bound(i) whose bound never decreases: over a tile of rows its least value is
// at the first row, its greatest at the last. Five operations a step, exact on both bits.
//
//===----------------------------------------------------------------------===//

#include "dialects/Mask/IR/MaskBands.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace heddle::mask;
using heddle::model::ModelTensorType;
using Compare = arith::CmpIPredicate;

//===-- what each name stands for ------------------------------------------------===//

/// Past this a side is no limit, and sums stay far from overflow.
static int64_t limited(int64_t v) { return std::clamp(v, -kUnbounded, kUnbounded); }

/// The terms of a map of mask.band.
static TermGroup groupOf(AffineMap map, ValueRange values) {
  TermGroup group;
  for (AffineExpr e : map.getResults()) {
    Term t;
    if (auto sum = dyn_cast<AffineBinaryOpExpr>(e); sum && sum.getKind() == AffineExprKind::Add) {
      t.shift = limited(cast<AffineConstantExpr>(sum.getRHS()).getValue());
      e = sum.getLHS();
    }
    if (auto c = dyn_cast<AffineConstantExpr>(e))
      t.shift = limited(c.getValue());
    else if (auto symbol = dyn_cast<AffineSymbolExpr>(e))
      t.value = values[symbol.getPosition()];
    else
      t.row = true;
    group.push_back(t);
  }
  return group;
}

Bound heddle::mask::boundOf(Operation *op, Sides side) {
  auto one = [](Term t) { return Bound{TermGroup{t}}; };
  return llvm::TypeSwitch<Operation *, Bound>(op)
      .Case([&](CausalOp) { return one({true, {}, 1}); })
      .Case([&](WindowOp w) {
        return side == Sides::Lower ? one({true, {}, -limited(*w.getLeft())}) : one({true, {}, limited(*w.getRight()) + 1});
      })
      .Case([&](PrefixOp p) { return one({false, p.getLength(), 0}); })
      .Case([&](BandOp band) {
        Bound bound;
        ArrayAttr maps = side == Sides::Lower ? *band.getFrom() : *band.getBelow();
        for (Attribute map : maps)
          bound.push_back(groupOf(cast<AffineMapAttr>(map).getValue(), band.getBounds()));
        return bound;
      });
}

Sides CausalOp::sides() { return Sides::Upper; }
Sides PrefixOp::sides() { return Sides::Upper; }
static Sides sidesOf(bool lower, bool upper) {
  return Sides((lower ? unsigned(Sides::Lower) : 0) | (upper ? unsigned(Sides::Upper) : 0));
}
Sides WindowOp::sides() {
  return getLabels() ? Sides::NotABand : sidesOf(getLeft().has_value(), getRight().has_value());
}
Sides BandOp::sides() { return sidesOf(getFrom().has_value(), getBelow().has_value()); }

//===-- the op ---------------------------------------------------------------------===//

static bool isTerm(AffineExpr e) {
  if (auto sum = dyn_cast<AffineBinaryOpExpr>(e))
    return sum.getKind() == AffineExprKind::Add && isa<AffineConstantExpr>(sum.getRHS()) &&
           isa<AffineDimExpr, AffineSymbolExpr>(sum.getLHS());
  return isa<AffineDimExpr, AffineSymbolExpr, AffineConstantExpr>(e);
}

LogicalResult BandOp::verify() {
  if (!getFrom() && !getBelow()) // band_c3
    return emitOpError("needs a side: `from`, `below` or both");
  for (Value v : getBounds())
    if (cast<ModelTensorType>(v.getType()).getRank() > 1) // band_c3
      return emitOpError("bounds must have rank 0 or 1, but one is ") << v.getType();
  for (std::optional<ArrayAttr> maps : {getFrom(), getBelow()})
    for (Attribute attr : maps ? maps->getValue() : ArrayRef<Attribute>()) {
      AffineMap map = cast<AffineMapAttr>(attr).getValue();
      if (map.getNumDims() != 1 || map.getNumSymbols() != getBounds().size() || map.getNumResults() == 0) // band_c1
        return emitOpError("maps need 1 dimension, ")
               << getBounds().size() << " symbols and a result, but one is " << attr;
      for (AffineExpr e : map.getResults())
        if (!isTerm(e)) { // band_c2
          std::string text;
          llvm::raw_string_ostream(text) << e;
          return emitOpError("bound '") << text << "' is not a position, a value or nothing, plus a constant";
        }
    }
  return success();
}

BandOp heddle::mask::createBand(OpBuilder &b, Location loc, const Bound &from, const Bound &below) {
  llvm::SetVector<Value> values;
  for (const Bound *bound : {&from, &below})
    for (const TermGroup &group : *bound)
      for (const Term &t : group)
        if (t.value)
          values.insert(t.value);
  auto maps = [&](const Bound &bound) {
    SmallVector<AffineMap> maps;
    for (const TermGroup &group : bound) {
      SmallVector<AffineExpr> terms;
      for (const Term &t : group) {
        AffineExpr e = b.getAffineConstantExpr(0);
        if (t.row)
          e = b.getAffineDimExpr(0);
        if (t.value)
          e = b.getAffineSymbolExpr(llvm::find(values, t.value) - values.begin());
        terms.push_back(e + t.shift);
      }
      maps.push_back(AffineMap::get(1, values.size(), terms, b.getContext()));
    }
    return maps.empty() ? ArrayAttr() : b.getAffineMapArrayAttr(maps);
  };
  return BandOp::create(b, loc, MaskType::get(b.getContext()), maps(from), maps(below), values.getArrayRef());
}

//===-- bounds as code ---------------------------------------------------------------===//

static Value emitTerm(OpBuilder &b, Emitter &e, Value row, const Term &t) {
  IntCode c{b, e.loc};
  if (t.row)
    return c.add(row, c.constant(t.shift));
  if (!t.value)
    return c.constant(t.shift);
  SmallVector<Value> at(cast<ModelTensorType>(t.value.getType()).getRank(), e.batch);
  return c.add(c.asBound(e.load(b, t.value, at)), c.constant(t.shift));
}

/// As a key row, or of a strided view the first key of it at or past the bound.
static Value emitBoundOf(Operation *op, Emitter &e, OpBuilder &b, Value row, Sides side) {
  IntCode c{b, e.loc};
  bool lower = side == Sides::Lower;
  auto extreme = [&](bool least, Value x, Value y) { return !x ? y : least ? c.min(x, y) : c.max(x, y); };
  Value bound;
  for (const TermGroup &group : boundOf(op, side)) {
    Value inner;
    for (const Term &t : group)
      inner = extreme(lower, inner, emitTerm(b, e, row, t));
    bound = extreme(!lower, bound, inner);
  }
  return keyFrom(e, b, c.sub(bound, e.keyStart));
}

Value CausalOp::emitBound(Emitter &e, OpBuilder &b, Value row, Sides s) { return emitBoundOf(*this, e, b, row, s); }
Value WindowOp::emitBound(Emitter &e, OpBuilder &b, Value row, Sides s) { return emitBoundOf(*this, e, b, row, s); }
Value PrefixOp::emitBound(Emitter &e, OpBuilder &b, Value row, Sides s) { return emitBoundOf(*this, e, b, row, s); }
Value BandOp::emitBound(Emitter &e, OpBuilder &b, Value row, Sides s) { return emitBoundOf(*this, e, b, row, s); }

//===-- half-lines -------------------------------------------------------------------===//

Segment heddle::mask::halfLine(Emitter &e, Value atFirst, Value atLast, Value key, Sides side) {
  IntCode c{e.step, e.loc};
  Value all = c.less(key, atFirst), any = c.less(key, atLast);
  Value later = c.choose(any, atLast, c.constant(kUnbounded));
  Segment s = {any, all, c.choose(all, atFirst, later)};
  return side == Sides::Lower ? negate(c, s) : s;
}

static Segment sideSegment(MaskOpInterface band, Emitter &e, Value key, Sides side) {
  Value atFirst = band.emitBound(e, e.tile, e.first, side), atLast = band.emitBound(e, e.tile, e.last, side);
  return halfLine(e, atFirst, atLast, key, side);
}
static Value sideContains(MaskOpInterface band, Emitter &e, Value row, Value key, Sides side) {
  Compare p = side == Sides::Lower ? Compare::sge : Compare::slt;
  return IntCode{e.step, e.loc}.keyAgainst(p, key, band.emitBound(e, e.tile, row, side));
}

Value Residual::emitBound(Emitter &e, Value row) const { return ask(mask).emitBound(e, e.tile, row, side); }
Value Residual::emitContains(Emitter &e, Value row, Value key) const {
  return isBound() ? sideContains(ask(mask), e, row, key, side) : ask(mask).emitContains(e, row, key);
}
Segment heddle::mask::emitSegment(Emitter &e, const Residual &r, Value key) {
  return r.isBound() ? sideSegment(ask(r.mask), e, key, r.side) : ask(r.mask).emitSegment(e, key);
}

//===-- bands from their sides -------------------------------------------------------===//

static Segment bandSegment(MaskOpInterface band, Emitter &e, Value key) {
  IntCode c{e.tile, e.loc};
  Segment s = everywhere(e, c.flag(true), c.flag(true));
  for (Sides side : {Sides::Lower, Sides::Upper})
    if (has(band.sides(), side))
      s = join({e.step, e.loc}, s, sideSegment(band, e, key, side), true);
  return s;
}
static Hull bandHull(MaskOpInterface band, Emitter &e) {
  auto bound = [&](Sides side, Value row) {
    return has(band.sides(), side) ? band.emitBound(e, e.tile, row, side) : Value();
  };
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

Segment CausalOp::emitSegment(Emitter &e, Value key) { return bandSegment(*this, e, key); }
Hull CausalOp::emitHull(Emitter &e) { return bandHull(*this, e); }
Value CausalOp::emitContains(Emitter &e, Value row, Value key) { return bandContains(*this, e, row, key); }

Segment PrefixOp::emitSegment(Emitter &e, Value key) { return bandSegment(*this, e, key); }
Hull PrefixOp::emitHull(Emitter &e) { return bandHull(*this, e); }
Value PrefixOp::emitContains(Emitter &e, Value row, Value key) { return bandContains(*this, e, row, key); }

Segment BandOp::emitSegment(Emitter &e, Value key) { return bandSegment(*this, e, key); }
Hull BandOp::emitHull(Emitter &e) { return bandHull(*this, e); }
Value BandOp::emitContains(Emitter &e, Value row, Value key) { return bandContains(*this, e, row, key); }

Segment WindowOp::emitSegment(Emitter &e, Value key) {
  return getLabels() ? labelSegment(labelsOf(*this), e, key) : bandSegment(*this, e, key);
}
Hull WindowOp::emitHull(Emitter &e) { return getLabels() ? labelHull(labelsOf(*this), e) : bandHull(*this, e); }
Value WindowOp::emitContains(Emitter &e, Value row, Value key) {
  return getLabels() ? labelContains(labelsOf(*this), e, row, key) : bandContains(*this, e, row, key);
}
