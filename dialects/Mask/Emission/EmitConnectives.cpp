//===- EmitConnectives.cpp - and, or, +, not, a choice -------------===//
//
// Code of connectives. A segment is three values: `any`, `all`, `end`. Nothing is listed, so no mask is
// too irregular; a connective costs one bit operation for each bit and a minimum of ends.
//
//===----------------------------------------------------------------------===//

#include "dialects/Mask/Emission/MaskCode.h"

using namespace mlir;
using namespace heddle::mask;

//===-- connectives ------------------------------------------------------------===//

template <typename Op> static Segment joinBoth(Op op, Emitter &e, Value key, bool conjunction) {
  Segment x = emitSegment(e, op.getLhs(), key), y = emitSegment(e, op.getRhs(), key);
  return join({e.step, e.loc}, x, y, conjunction);
}
/// AND is bounded where either operand is, OR where both are.
template <typename Op> static Hull hullBoth(Op op, Emitter &e, bool conjunction) {
  Hull x = emitHull(e, op.getLhs()), y = emitHull(e, op.getRhs());
  IntCode c{e.tile, e.loc};
  auto meet = [&](Value p, Value q, bool larger) -> Value {
    if (!p || !q)
      return conjunction ? (p ? p : q) : Value();
    return larger ? c.max(p, q) : c.min(p, q);
  };
  return {meet(x.begin, y.begin, conjunction), meet(x.end, y.end, !conjunction)};
}
template <typename Op> static Value eitherContains(Op op, Emitter &e, Value row, Value key) {
  Value x = emitContains(e, op.getLhs(), row, key), y = emitContains(e, op.getRhs(), row, key);
  return IntCode{e.step, e.loc}.either(x, y);
}

static Segment segmentOf(AndOp op, Emitter &e, Value key) { return joinBoth(op, e, key, true); }
static Hull hullOf(AndOp op, Emitter &e) { return hullBoth(op, e, true); }
static Value contains(AndOp op, Emitter &e, Value row, Value key) {
  Value x = emitContains(e, op.getLhs(), row, key), y = emitContains(e, op.getRhs(), row, key);
  return IntCode{e.step, e.loc}.both(x, y);
}
static Segment segmentOf(OrOp op, Emitter &e, Value key) { return joinBoth(op, e, key, false); }
static Hull hullOf(OrOp op, Emitter &e) { return hullBoth(op, e, false); }
static Value contains(OrOp op, Emitter &e, Value row, Value key) { return eitherContains(op, e, row, key); }
static Segment segmentOf(AddOp op, Emitter &e, Value key) { return joinBoth(op, e, key, false); }
static Hull hullOf(AddOp op, Emitter &e) { return hullBoth(op, e, false); }
static Value contains(AddOp op, Emitter &e, Value row, Value key) { return eitherContains(op, e, row, key); }

static Segment segmentOf(NotOp op, Emitter &e, Value key) {
  return negate({e.step, e.loc}, emitSegment(e, op.getOperand(), key));
}
static Hull hullOf(NotOp op, Emitter &) { return {}; }
static Value contains(NotOp op, Emitter &e, Value row, Value key) {
  return IntCode{e.step, e.loc}.invert(emitContains(e, op.getOperand(), row, key));
}

/// The condition of a choice: one value for all rows and keys.
static Value conditionOf(SelectOp op, OpBuilder &b, Emitter &e) {
  SmallVector<Value> at(cast<heddle::model::ModelTensorType>(op.getCondition().getType()).getRank(),
                        IntCode{b, e.loc}.constant(0));
  return e.load(b, op.getCondition(), at);
}
static Segment segmentOf(SelectOp op, Emitter &e, Value key) {
  Value yes = conditionOf(op, e.tile, e);
  Segment x = emitSegment(e, op.getYes(), key), y = emitSegment(e, op.getNo(), key);
  IntCode c{e.step, e.loc};
  return {c.choose(yes, x.any, y.any), c.choose(yes, x.all, y.all), c.choose(yes, x.end, y.end)};
}
static Hull hullOf(SelectOp op, Emitter &e) {
  Value yes = conditionOf(op, e.tile, e);
  Hull x = emitHull(e, op.getYes()), y = emitHull(e, op.getNo());
  IntCode c{e.tile, e.loc};
  auto pick = [&](Value p, Value q, int64_t open) -> Value {
    return p || q ? c.choose(yes, p ? p : c.constant(open), q ? q : c.constant(open)) : Value();
  };
  return {pick(x.begin, y.begin, -kUnbounded), pick(x.end, y.end, kUnbounded)};
}
static Value contains(SelectOp op, Emitter &e, Value row, Value key) {
  Value yes = conditionOf(op, e.tile, e);
  Value x = emitContains(e, op.getYes(), row, key), y = emitContains(e, op.getNo(), row, key);
  return arith::SelectOp::create(e.step, e.loc, yes, x, y);
}

void heddle::mask::attachConnectives(MLIRContext &context) {
  AndOp::attachInterface<CodeOf<AndOp, segmentOf, hullOf, contains>>(context);
  OrOp::attachInterface<CodeOf<OrOp, segmentOf, hullOf, contains>>(context);
  AddOp::attachInterface<CodeOf<AddOp, segmentOf, hullOf, contains>>(context);
  NotOp::attachInterface<CodeOf<NotOp, segmentOf, hullOf, contains>>(context);
  SelectOp::attachInterface<CodeOf<SelectOp, segmentOf, hullOf, contains>>(context);
}
