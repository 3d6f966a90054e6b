//===- MaskCode.cpp - integer code for cursors and predicates -------------===//

#include "dialects/Mask/Emission/MaskCode.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace heddle::mask;

static VectorType vectorLike(Value like, Type element) {
  auto v = dyn_cast<VectorType>(like.getType());
  return v ? VectorType::get(v.getShape(), element) : VectorType();
}

Value IntCode::invert(Value bit) {
  Value one = arith::ConstantOp::create(b, loc, b.getOneAttr(bit.getType()));
  return arith::XOrIOp::create(b, loc, bit, one);
}

Value IntCode::ceilDiv(Value x, int64_t y) {
  Value down = arith::DivSIOp::create(b, loc, x, constant(y)); // towards 0: up where x < 0
  Value over = less(mul(down, constant(y)), x), up = add(down, constant(1));
  return choose(over, up, down);
}

Value IntCode::spread(Value v, Value like) {
  VectorType type = vectorLike(like, v.getType());
  if (!type || isa<VectorType>(v.getType()))
    return v;
  return vector::BroadcastOp::create(b, loc, type, v);
}

Value IntCode::keyAgainst(Compare p, Value key, Value bound) {
  if (!isa<VectorType>(key.getType()))
    return compare(p, key, bound);
  Value word = arith::IndexCastOp::create(b, loc, b.getI32Type(), bound);
  return compare(p, key, spread(word, key));
}

Value IntCode::asBound(Value i64) {
  auto word = [&](int64_t v) -> Value { return arith::ConstantIntOp::create(b, loc, v, 64); };
  Value clamped = min(max(i64, word(-kUnbounded)), word(kUnbounded));
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), clamped);
}

/// label + by (scalar or vector), saturating at the ends of i64.
static Value saturated(IntCode c, Value label, int64_t by) {
  auto word = [&](int64_t v) -> Value {
    Attribute n = c.b.getI64IntegerAttr(v);
    auto type = vectorLike(label, c.b.getI64Type());
    return arith::ConstantOp::create(c.b, c.loc,
                                     type ? TypedAttr(DenseElementsAttr::get(type, n)) : cast<TypedAttr>(n));
  };
  Value room = by > 0 ? c.min(label, word(INT64_MAX - by)) : c.max(label, word(INT64_MIN - by));
  return c.add(room, word(by));
}

// A saturated sum would compare equal to a label at the end of i64 that is not reached; so compare
// strictly with a limit that is one further.
Value IntCode::atLeast(Value label, Value own, int64_t by) {
  auto limit = [&](int64_t by) { return spread(saturated(*this, own, by), label); };
  return by <= 0 ? compare(Compare::sge, label, limit(by)) : compare(Compare::sgt, label, limit(by - 1));
}
Value IntCode::atMost(Value label, Value own, int64_t by) {
  auto limit = [&](int64_t by) { return spread(saturated(*this, own, by), label); };
  return by >= 0 ? compare(Compare::sle, label, limit(by)) : compare(Compare::slt, label, limit(by + 1));
}

Value IntCode::isSet(Value t) {
  Type element = getElementTypeOrSelf(t.getType());
  if (element.isInteger(1))
    return t;
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(t.getType()));
  if (isa<FloatType>(element))
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNE, t, zero);
  return compare(Compare::ne, t, zero);
}

Value IntCode::equal(Value x, Value y) {
  if (isa<VectorType>(x.getType()))
    y = spread(y, x);
  else
    x = spread(x, y);
  if (isa<FloatType>(getElementTypeOrSelf(x.getType())))
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, x, y);
  return compare(Compare::eq, x, y);
}

Value IntCode::wide(Value key) {
  if (VectorType type = vectorLike(key, b.getI64Type()))
    return arith::ExtSIOp::create(b, loc, type, key);
  return arith::IndexCastOp::create(b, loc, b.getI64Type(), key);
}

Segment heddle::mask::join(IntCode c, Segment x, Segment y, bool conjunction) {
  auto bits = [&](Value p, Value q) { return conjunction ? c.both(p, q) : c.either(p, q); };
  auto endless = [](Value end) { // a minimum less on the way to the next key
    APInt n;
    return matchPattern(end, m_ConstantInt(&n)) && n.getSExtValue() == kUnbounded;
  };
  Value end = endless(x.end) ? y.end : endless(y.end) ? x.end : c.min(x.end, y.end);
  return {bits(x.any, y.any), bits(x.all, y.all), end};
}

Segment heddle::mask::negate(IntCode c, Segment s) { return {c.invert(s.all), c.invert(s.any), s.end}; }

Segment heddle::mask::everywhere(Emitter &e, Value any, Value all) {
  return {any, all, IntCode{e.tile, e.loc}.constant(kUnbounded)};
}
