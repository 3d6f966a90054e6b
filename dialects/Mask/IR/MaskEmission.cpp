//===- MaskEmission.cpp - constants, residues and connectives -------------===//
//
// A segment is three values: `any`, `all`, `end`. Nothing is ever listed, so no mask is too
// irregular, and a connective costs one bit operation a bit and a minimum of ends.
//
//===----------------------------------------------------------------------===//

#include "dialects/Mask/IR/MaskCode.h"

using namespace mlir;
using namespace heddle::mask;
using Compare = arith::CmpIPredicate;

//===-- constants --------------------------------------------------------------===//

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

Segment NoneOp::emitSegment(Emitter &e, Value) {
  IntCode c{e.tile, e.loc};
  return everywhere(e, c.flag(false), c.flag(false));
}
Hull NoneOp::emitHull(Emitter &e) { return {Value(), IntCode{e.tile, e.loc}.constant(-kUnbounded)}; }
Value NoneOp::emitContains(Emitter &e, Value, Value key) { return always(e, key, false); }

//===-- residues: undecided everywhere -----------------------------------------===//

/// In a strided view that this step divides nothing is left of the residue.
static bool settled(DilatedOp op, Emitter &e) { return e.stride % int64_t(op.getStep()) == 0; }

Segment DilatedOp::emitSegment(Emitter &e, Value) {
  IntCode c{e.tile, e.loc};
  return everywhere(e, c.flag(true), c.flag(settled(*this, e)));
}
Hull DilatedOp::emitHull(Emitter &) { return {}; }
Value DilatedOp::emitContains(Emitter &e, Value row, Value key) {
  // (key + key_start - row) mod step == 0 <=> key mod step == (row - key_start) mod step
  IntCode c{e.tile, e.loc}, s{e.step, e.loc};
  if (settled(*this, e))
    return always(e, key, true);
  int64_t step = std::min<int64_t>(getStep(), kUnbounded);
  Value n = c.constant(step), r = arith::RemSIOp::create(e.tile, e.loc, c.sub(row, e.keyStart), n);
  r = c.choose(c.less(r, c.constant(0)), c.add(r, n), r);
  Value modulus = isa<VectorType>(key.getType())
                      ? s.spread(arith::ConstantIntOp::create(e.step, e.loc, step, 32).getResult(), key)
                      : s.constant(step);
  return s.keyAgainst(Compare::eq, arith::RemSIOp::create(e.step, e.loc, key, modulus), r);
}

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
