//===- Power.cpp - x to the y, without a C library ------------------------===//
//
// exp(y ln |x|) in f64, where 2^-44 of error is left to an f32 that needs 2^-25; then the cases that C names: zeros,
// infinities, and negative numbers to whole powers.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/GPU/Ops/Power.h"
#include "compiler/Conversion/Lowering/Language/Code.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace heddle::loops;

namespace {
/// Scalars of f64 and what compares them.
struct Reals {
  Code &c;
  Type f64 = c.f64(), i64 = c.b.getI64Type();
  Value number(double v) { return c.real(f64, v); }
  Value word(int64_t v) { return arith::ConstantOp::create(c.b, c.b.getI64IntegerAttr(v)); }
  Value compare(arith::CmpFPredicate p, Value x, double y) {
    return arith::CmpFOp::create(c.b, p, x, c.real(x.getType(), y));
  }
  Value both(Value x, Value y) { return arith::AndIOp::create(c.b, x, y); }
  Value polynomial(Value x, ArrayRef<double> highestFirst) {
    Value p = number(highestFirst.front());
    for (double k : highestFirst.drop_front())
      p = c.fma(p, x, number(k));
    return p;
  }
};
} // namespace

/// ln of a positive finite f64.
static Value logarithm(Reals r, Value x) {
  Code &c = r.c;
  // x = 2^e m, m in [sqrt(1/2), sqrt(2)); ln m = 2 (s + s^3/3 + s^5/5 + ...), s = (m - 1)/(m + 1).
  constexpr int64_t one = 0x3FF0000000000000, root = 0x3FE6A09E667F3BCD; // 1 and sqrt(1/2)
  Value bits = arith::BitcastOp::create(c.b, r.i64, x);
  Value shifted = arith::AddIOp::create(c.b, bits, r.word(one - root));
  Value biased = arith::ShRUIOp::create(c.b, shifted, r.word(52));
  Value e = arith::SubIOp::create(c.b, biased, r.word(1023));
  Value power = arith::ShLIOp::create(c.b, e, r.word(52));
  Value mantissa = arith::SubIOp::create(c.b, bits, power);
  Value m = arith::BitcastOp::create(c.b, r.f64, mantissa);
  Value s = c.divf(c.subf(m, r.number(1)), c.addf(m, r.number(1))), z = c.mulf(s, s);
  Value p = r.polynomial(
      z, {2.0 / 21, 2.0 / 19, 2.0 / 17, 2.0 / 15, 2.0 / 13, 2.0 / 11, 2.0 / 9, 2.0 / 7, 2.0 / 5, 2.0 / 3, 2.0});
  Value exponent = arith::SIToFPOp::create(c.b, r.f64, e);
  return c.fma(exponent, r.number(0.69314718055994530942), c.mulf(p, s));
}

/// e^x of an f64 between -200 and 200.
static Value exponential(Reals r, Value x) {
  Code &c = r.c;
  Value magic = r.number(6755399441055744.0), shifted = c.fma(x, r.number(1.44269504088896340736), magic);
  Value n = c.subf(shifted, magic);
  Value rest = c.fma(n, r.number(-0.693147180369123816490), x);
  rest = c.fma(n, r.number(-1.90821492927058770002e-10), rest);
  SmallVector<double> inverse{1.0}; // 1/n!
  for (int64_t k = 1; k <= 13; ++k)
    inverse.push_back(inverse.back() / double(k));
  std::reverse(inverse.begin(), inverse.end());
  Value p = r.polynomial(rest, inverse);
  Value bits = arith::BitcastOp::create(c.b, r.i64, shifted);
  Value exponent = arith::ShLIOp::create(c.b, bits, r.word(52)); // n is in the low bits
  Value scaled = arith::AddIOp::create(c.b, Value(arith::BitcastOp::create(c.b, r.i64, p)), exponent);
  return arith::BitcastOp::create(c.b, r.f64, scaled);
}

Value heddle::loops::power(Code &c, Value x, Value y) {
  Reals r{c};
  using P = arith::CmpFPredicate;
  Value magnitude = math::AbsFOp::create(c.b, x), a = arith::ExtFOp::create(c.b, r.f64, magnitude);
  Value zero = r.compare(P::OEQ, a, 0), endless = r.compare(P::OEQ, a, INFINITY);
  Value some = c.select(arith::OrIOp::create(c.b, zero, endless), r.number(1), a);
  Value log = c.select(zero, r.number(-INFINITY), c.select(endless, r.number(INFINITY), logarithm(r, some)));
  Value t = c.mulf(arith::ExtFOp::create(c.b, r.f64, y), log);
  Value over = r.compare(P::OGT, t, 200), under = r.compare(P::OLT, t, -200);
  Value inside = c.select(over, r.number(200), c.select(under, r.number(-200), t));
  Value e = c.select(over, r.number(INFINITY), c.select(under, r.number(0), exponential(r, inside)));
  Value result = arith::TruncFOp::create(c.b, c.f32(), e);
  // Of a negative number: whole powers only, odd ones keep the sign.
  Value whole = arith::CmpFOp::create(c.b, P::OEQ, Value(math::FloorOp::create(c.b, y)), y);
  Value half = c.mulf(y, c.real(0.5));
  Value odd = r.both(whole, arith::CmpFOp::create(c.b, P::ONE, Value(math::FloorOp::create(c.b, half)), half));
  Value sign = arith::BitcastOp::create(c.b, c.b.getI32Type(), x);
  Value negative = arith::CmpIOp::create(c.b, arith::CmpIPredicate::slt, sign, c.integer(sign.getType(), 0));
  Value no = arith::ConstantOp::create(c.b, c.b.getBoolAttr(true));
  Value broken = arith::XOrIOp::create(c.b, whole, no);
  broken = r.both(broken, r.both(negative, arith::XOrIOp::create(c.b, arith::OrIOp::create(c.b, zero, endless), no)));
  result = c.select(r.both(negative, odd), arith::NegFOp::create(c.b, result), result);
  result = c.select(broken, c.real(NAN), result);
  Value nan = arith::CmpFOp::create(c.b, P::UNO, x, y);
  result = c.select(nan, c.real(NAN), result);
  Value unit = r.compare(P::OEQ, magnitude, 1), far = r.compare(P::OEQ, Value(math::AbsFOp::create(c.b, y)), INFINITY);
  Value one = arith::OrIOp::create(c.b, r.compare(P::OEQ, y, 0), r.compare(P::OEQ, x, 1));
  one = arith::OrIOp::create(c.b, one, r.both(unit, far));
  return c.select(one, c.real(1.0), result);
}
