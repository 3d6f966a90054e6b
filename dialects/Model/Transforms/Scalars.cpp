//===- Scalars.cpp - elementwise ops on one element -----------------------===//

#include "dialects/Model/Transforms/Scalars.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace heddle::model;

bool heddle::model::isElementwise(Operation *op) {
  return isa<UnaryOp, BinaryOp, CompareOp, SelectOp, CastOp, BroadcastOp>(op);
}

Value heddle::model::constantLike(OpBuilder &b, Location loc, Type type, double value) {
  Type element = getElementTypeOrSelf(type);
  TypedAttr one = isa<FloatType>(element) ? TypedAttr(b.getFloatAttr(element, value))
                                          : TypedAttr(b.getIntegerAttr(element, int64_t(value)));
  if (auto shaped = dyn_cast<ShapedType>(type))
    return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(shaped, Attribute(one)));
  return arith::ConstantOp::create(b, loc, one);
}

/// `element`, or a vector of it if `type` is a vector.
static Type with(Type type, Type element) {
  if (auto v = dyn_cast<VectorType>(type))
    return v.clone(element);
  return element;
}

/// x floordiv y for i64. A divisor 0 gives 0 and -1 gives -x, so that nothing traps.
static Value floorDivInt(OpBuilder &b, Location loc, Value x, Value y) {
  Type t = x.getType();
  Value zero = constantLike(b, loc, t, 0), one = constantLike(b, loc, t, 1);
  Value minus = constantLike(b, loc, t, -1);
  auto is = [&](Value v) -> Value { return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, y, v); };
  Value isZero = is(zero), isMinus = is(minus);
  Value odd = arith::OrIOp::create(b, loc, isZero, isMinus);
  Value safe = arith::SelectOp::create(b, loc, odd, one, y);
  Value q = arith::DivSIOp::create(b, loc, x, safe);
  Value r = arith::SubIOp::create(b, loc, x, arith::MulIOp::create(b, loc, q, safe));
  // Round towards minus infinity where the remainder has the other sign.
  Value signs = arith::XOrIOp::create(b, loc, r, safe);
  Value other = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, signs, zero);
  Value inexact = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, r, zero);
  Value down = arith::AndIOp::create(b, loc, other, inexact);
  q = arith::SelectOp::create(b, loc, down, arith::SubIOp::create(b, loc, q, one), q);
  q = arith::SelectOp::create(b, loc, isMinus, arith::SubIOp::create(b, loc, zero, x), q);
  return arith::SelectOp::create(b, loc, isZero, zero, q);
}

/// Whether a remainder is not 0 and has the other sign than the divisor.
static Value turnsSign(OpBuilder &b, Location loc, Value remainder, Value divisor) {
  Value zero = constantLike(b, loc, remainder.getType(), 0);
  auto compare = [&](arith::CmpFPredicate p, Value v) -> Value { return arith::CmpFOp::create(b, loc, p, v, zero); };
  Value below = compare(arith::CmpFPredicate::OLT, remainder), divides = compare(arith::CmpFPredicate::OLT, divisor);
  Value other = arith::XOrIOp::create(b, loc, below, divides);
  return arith::AndIOp::create(b, loc, other, compare(arith::CmpFPredicate::ONE, remainder));
}

/// x floordiv y for f32. If the quotient was rounded up to a whole number, the remainder's sign is wrong
/// and 1 is subtracted.
static Value floorDivReal(OpBuilder &b, Location loc, Value x, Value y) {
  Value q = math::FloorOp::create(b, loc, Value(arith::DivFOp::create(b, loc, x, y)));
  Value left = math::FmaOp::create(b, loc, Value(arith::NegFOp::create(b, loc, q)), y, x);
  Value down = arith::SubFOp::create(b, loc, q, constantLike(b, loc, q.getType(), 1));
  return arith::SelectOp::create(b, loc, turnsSign(b, loc, left, y), down, q);
}

/// x mod y for f32, by a truncating remainder, which is exact where x - y * q is not.
static Value modReal(OpBuilder &b, Location loc, Value x, Value y) {
  Value r = arith::RemFOp::create(b, loc, x, y), zero = constantLike(b, loc, r.getType(), 0);
  Value none = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, r, zero);
  Value turns = turnsSign(b, loc, r, y), sum = arith::AddFOp::create(b, loc, r, y);
  Value turned = arith::SelectOp::create(b, loc, turns, sum, r);
  return arith::SelectOp::create(b, loc, none, Value(math::CopySignOp::create(b, loc, r, y)), turned);
}

/// pow(x, 0.5): unlike sqrt it gives 0 for -0 and inf for -inf.
static Value squareRootPower(OpBuilder &b, Location loc, Value x) {
  Type t = x.getType();
  Value root = math::SqrtOp::create(b, loc, Value(arith::AddFOp::create(b, loc, x, constantLike(b, loc, t, 0))));
  Value low = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, x, constantLike(b, loc, t, -INFINITY));
  return arith::SelectOp::create(b, loc, low, constantLike(b, loc, t, INFINITY), root);
}

/// f32 to an integer, towards zero; what does not fit saturates, a NaN gives 0.
static Value truncateReal(OpBuilder &b, Location loc, Value x, Type to) {
  Type t = x.getType();
  Value low = constantLike(b, loc, t, -0x1p63), high = constantLike(b, loc, t, 0x1p63),
        zero = constantLike(b, loc, t, 0);
  auto compare = [&](arith::CmpFPredicate p, Value y) -> Value { return arith::CmpFOp::create(b, loc, p, x, y); };
  Value over = compare(arith::CmpFPredicate::OGE, high);
  // Convert only what fits: for other values the instruction's result is not defined.
  Value notUnder = compare(arith::CmpFPredicate::OGE, low), notOver = compare(arith::CmpFPredicate::OLT, high);
  Value fits = arith::AndIOp::create(b, loc, notUnder, notOver);
  Value n = arith::FPToSIOp::create(b, loc, to, Value(arith::SelectOp::create(b, loc, fits, x, zero)));
  auto most = [&](int64_t value) -> Value {
    TypedAttr one = b.getI64IntegerAttr(value);
    if (auto shaped = dyn_cast<ShapedType>(to))
      one = DenseElementsAttr::get(shaped, Attribute(one));
    return arith::ConstantOp::create(b, loc, one);
  };
  n = arith::SelectOp::create(b, loc, compare(arith::CmpFPredicate::OLT, low), most(INT64_MIN), n);
  return arith::SelectOp::create(b, loc, over, most(INT64_MAX), n);
}

/// An operator on two scalars or vectors of one type, f32, i64 or i1.
static Value emitBinary(OpBuilder &b, Location loc, BinaryKind kind, Value x, Value y) {
  bool real = getElementTypeOrSelf(x.getType()).isF32();
  switch (kind) {
  case BinaryKind::add:
    return real ? Value(arith::AddFOp::create(b, loc, x, y)) : Value(arith::AddIOp::create(b, loc, x, y));
  case BinaryKind::sub:
    return real ? Value(arith::SubFOp::create(b, loc, x, y)) : Value(arith::SubIOp::create(b, loc, x, y));
  case BinaryKind::mul:
    return real ? Value(arith::MulFOp::create(b, loc, x, y)) : Value(arith::MulIOp::create(b, loc, x, y));
  case BinaryKind::div: return arith::DivFOp::create(b, loc, x, y);
  case BinaryKind::floordiv: return real ? floorDivReal(b, loc, x, y) : floorDivInt(b, loc, x, y);
  case BinaryKind::mod: {
    if (real)
      return modReal(b, loc, x, y);
    Value q = emitBinary(b, loc, BinaryKind::floordiv, x, y);
    return emitBinary(b, loc, BinaryKind::sub, x, emitBinary(b, loc, BinaryKind::mul, y, q));
  }
  case BinaryKind::pow: {
    // Exponents that models use are multiplications or roots; others call pow.
    FloatAttr power;
    Attribute constant;
    if (matchPattern(y, m_Constant(&constant))) {
      if (auto dense = dyn_cast<DenseElementsAttr>(constant); dense && dense.isSplat())
        constant = dense.getSplatValue<Attribute>();
      power = dyn_cast<FloatAttr>(constant);
    }
    double p = power ? power.getValueAsDouble() : 0;
    if (power && p == 1)
      return x;
    if (power && (p == 2 || p == 3)) {
      Value square = arith::MulFOp::create(b, loc, x, x);
      return p == 2 ? square : Value(arith::MulFOp::create(b, loc, square, x));
    }
    if (power && p == 0.5)
      return squareRootPower(b, loc, x);
    return math::PowFOp::create(b, loc, x, y);
  }
  case BinaryKind::min:
    return real ? Value(arith::MinimumFOp::create(b, loc, x, y)) : Value(arith::MinSIOp::create(b, loc, x, y));
  case BinaryKind::max:
    return real ? Value(arith::MaximumFOp::create(b, loc, x, y)) : Value(arith::MaxSIOp::create(b, loc, x, y));
  case BinaryKind::logical_and: return arith::AndIOp::create(b, loc, x, y);
  case BinaryKind::logical_or: return arith::OrIOp::create(b, loc, x, y);
  }
  llvm_unreachable("every kind is handled");
}

static Value emitCompare(OpBuilder &b, Location loc, ComparePredicate predicate, Value x, Value y) {
  static const arith::CmpFPredicate reals[] = {arith::CmpFPredicate::OEQ, arith::CmpFPredicate::UNE,
                                               arith::CmpFPredicate::OLT, arith::CmpFPredicate::OLE,
                                               arith::CmpFPredicate::OGT, arith::CmpFPredicate::OGE};
  static const arith::CmpIPredicate signs[] = {arith::CmpIPredicate::eq,  arith::CmpIPredicate::ne,
                                               arith::CmpIPredicate::slt, arith::CmpIPredicate::sle,
                                               arith::CmpIPredicate::sgt, arith::CmpIPredicate::sge};
  static const arith::CmpIPredicate bits[] = {arith::CmpIPredicate::eq,  arith::CmpIPredicate::ne,
                                              arith::CmpIPredicate::ult, arith::CmpIPredicate::ule,
                                              arith::CmpIPredicate::ugt, arith::CmpIPredicate::uge};
  Type e = getElementTypeOrSelf(x.getType());
  if (e.isF32())
    return arith::CmpFOp::create(b, loc, reals[int(predicate)], x, y);
  return arith::CmpIOp::create(b, loc, (e.isInteger(1) ? bits : signs)[int(predicate)], x, y);
}

static Value emitCast(OpBuilder &b, Location loc, Value x, Type to) {
  Type from = getElementTypeOrSelf(x.getType()), type = with(x.getType(), to);
  if (from == to)
    return x;
  if (to.isInteger(1)) {
    Value zero = constantLike(b, loc, x.getType(), 0);
    return from.isF32() ? Value(arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNE, x, zero))
                        : Value(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, x, zero));
  }
  if (from.isInteger(1))
    return to.isF32() ? Value(arith::UIToFPOp::create(b, loc, type, x))
                      : Value(arith::ExtUIOp::create(b, loc, type, x));
  return to.isF32() ? Value(arith::SIToFPOp::create(b, loc, type, x)) : truncateReal(b, loc, x, type);
}

Value heddle::model::emitElement(OpBuilder &b, Operation *op, ValueRange v, EmitFunction function) {
  Location loc = op->getLoc();
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](UnaryOp u) -> Value {
        bool integer = getElementTypeOrSelf(v[0].getType()).isInteger(64);
        if (u.getKind() == UnaryKind::logical_not)
          return arith::XOrIOp::create(b, loc, v[0], constantLike(b, loc, v[0].getType(), 1));
        if (integer && u.getKind() == UnaryKind::neg)
          return arith::SubIOp::create(b, loc, constantLike(b, loc, v[0].getType(), 0), v[0]);
        if (integer)
          return math::AbsIOp::create(b, loc, v[0]);
        return function(u.getKind(), v[0]);
      })
      .Case([&](BinaryOp u) { return emitBinary(b, loc, u.getKind(), v[0], v[1]); })
      .Case([&](CompareOp u) { return emitCompare(b, loc, u.getPredicate(), v[0], v[1]); })
      .Case([&](SelectOp) -> Value { return arith::SelectOp::create(b, loc, v[0], v[1], v[2]); })
      .Case([&](CastOp u) { return emitCast(b, loc, v[0], u.getType().getElementType()); })
      .Case([&](BroadcastOp) -> Value { return v[0]; });
}
