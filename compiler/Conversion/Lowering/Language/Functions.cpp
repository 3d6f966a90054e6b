//===- Functions.cpp - the functions of calculus --------------------------===//
//
// Written for vectors: no branches, no tables, about 1e-7 relative. The coefficients of exp,
// tanh, log, sin and cos are those of Cephes (S. Moshier), of erf those of the rational
// approximation that Eigen and XLA use.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/Language/Functions.h"
#include "compiler/Conversion/Lowering/Language/Halves.h"
#include "dialects/Model/Transforms/Scalars.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <cmath>

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using model::UnaryKind;

Value Functions::poly(Value x, ArrayRef<double> c) {
  Value p = real(x.getType(), c[0]);
  for (double k : c.drop_front())
    p = fma(p, x, real(x.getType(), k));
  return p;
}

Value Functions::exp(Value x) {
  Type t = x.getType(), i = with(t, b.getI32Type());
  // x = n ln 2 + r; n is in the low bits of x*log2(e) + 1.5*2^23. A NaN passes through. The ends are the last
  // numbers whose results are not denormal and not infinite.
  Value lo = real(t, -87.33654), hi = real(t, 88.722832);
  Value under = lessf(x, lo), over = lessf(hi, x);
  Value v = select(under, lo, select(over, hi, x));
  Value magic = fma(v, real(t, 1.44269504088896341), real(t, 12582912.0));
  Value n = subf(magic, real(t, 12582912.0));
  Value r = fma(n, real(t, -0.693359375), v);
  r = fma(n, real(t, 2.12194440e-4), r);
  Value p =
      poly(r, {1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1});
  p = addf(fma(p, mulf(r, r), r), real(t, 1.0));
  Value shift = arith::ConstantOp::create(
      b, isa<VectorType>(i) ? TypedAttr(DenseElementsAttr::get(cast<ShapedType>(i), b.getI32IntegerAttr(23)))
                            : TypedAttr(b.getI32IntegerAttr(23)));
  Value e = arith::ShLIOp::create(b, Value(arith::BitcastOp::create(b, i, magic)), shift);
  Value bits = arith::AddIOp::create(b, Value(arith::BitcastOp::create(b, i, p)), e);
  Value y = arith::BitcastOp::create(b, t, bits);
  y = select(under, real(t, 0.0), select(over, real(t, INFINITY), y));
  return select(isNaN(x), x, y);
}

Value Functions::sigmoid(Value x) {
  Value one = real(x.getType(), 1.0);
  return divf(one, addf(one, exp(arith::NegFOp::create(b, x))));
}

Value Functions::tanh(Value x) {
  Type t = x.getType();
  Value z = mulf(x, x), abs = math::AbsFOp::create(b, x);
  Value p = poly(z, {-5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2, 1.33314422036e-1, -3.33332819422e-1});
  Value small = fma(mulf(p, z), x, x);
  Value e = exp(addf(abs, abs));
  Value large = subf(real(t, 1.0), divf(real(t, 2.0), addf(e, real(t, 1.0))));
  return math::CopySignOp::create(b, select(lessf(abs, real(t, 0.625)), small, large), x);
}

Value Functions::erf(Value x) {
  Type t = x.getType();
  Value lo = real(t, -4.0), hi = real(t, 4.0);
  Value v = select({lessf(x, lo), lo, select(lessf(hi, x), hi, x)}), z = mulf(v, v);
  Value p = poly(z, {-2.72614225801306e-10, 2.77068142495902e-08, -2.10102402082508e-06, -5.69250639462346e-05,
                     -7.34990630326855e-04, -2.95459980854025e-03, -1.60960333262415e-02});
  Value q = poly(z, {-1.45660718464996e-05, -2.13374055278905e-04, -1.68282697438203e-03, -7.37332916720468e-03,
                     -1.42647390514189e-02});
  return divf(mulf(v, p), q);
}

Value Functions::log(Value x) {
  Type t = x.getType(), i = with(t, b.getI32Type());
  auto number = [&](int64_t v) -> Value {
    return arith::ConstantOp::create(
        b, isa<VectorType>(i) ? TypedAttr(DenseElementsAttr::get(cast<ShapedType>(i), b.getI32IntegerAttr(v)))
                              : TypedAttr(b.getI32IntegerAttr(v)));
  };
  // Denormals are scaled up first; then x = 2^e m with m in [sqrt(1/2), sqrt(2)).
  Value tiny = lessf(x, real(t, 1.17549435e-38));
  Value v = select(tiny, mulf(x, real(t, 8388608.0)), x);
  Value bits = arith::BitcastOp::create(b, i, v);
  Value shifted = arith::AddIOp::create(b, bits, number(0x3f800000 - 0x3f3504f3));
  Value e = arith::SubIOp::create(b, Value(arith::ShRSIOp::create(b, shifted, number(23))), number(127));
  Value mantissa =
      arith::AddIOp::create(b, Value(arith::AndIOp::create(b, shifted, number(0x007fffff))), number(0x3f3504f3));
  Value m = subf(arith::BitcastOp::create(b, t, mantissa), real(t, 1.0));
  Value n = subf({arith::SIToFPOp::create(b, t, e), select(tiny, real(t, 23.0), real(t, 0.0))});
  Value z = mulf(m, m);
  Value p = poly(m, {7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1,
                     -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1});
  Value y = mulf(mulf(p, m), z);
  y = fma(n, real(t, -2.12194440e-4), y);
  y = fma(z, real(t, -0.5), y);
  y = fma(n, real(t, 0.693359375), addf(m, y));
  Value zero = real(t, 0.0), inf = real(t, INFINITY);
  y = select(arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, x, inf), inf, y);
  y = select(arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, x, zero), real(t, -INFINITY), y);
  Value bad = arith::CmpFOp::create(b, arith::CmpFPredicate::ULT, x, zero); // below 0 or NaN
  return select(bad, real(t, NAN), y);
}

std::pair<Value, Value> Functions::sinCos(Value angle) {
  // angle = q pi/2 + r with |r| <= pi/4, reduced in f64 so that large positions keep their digits.
  Type d = angle.getType(), t = with(d, f32()), i = with(d, b.getI64Type());
  auto number = [&](int64_t v) -> Value {
    return arith::ConstantOp::create(
        b, isa<VectorType>(i) ? TypedAttr(DenseElementsAttr::get(cast<ShapedType>(i), b.getI64IntegerAttr(v)))
                              : TypedAttr(b.getI64IntegerAttr(v)));
  };
  Value magic = fma(angle, real(d, 0.63661977236758134308), real(d, 6755399441055744.0));
  Value q = subf(magic, real(d, 6755399441055744.0));
  Value r = fma(q, real(d, -1.57079632679489655800), angle);
  r = fma(q, real(d, -6.12323399573676603587e-17), r);
  Value x = arith::TruncFOp::create(b, t, r), z = mulf(x, x);
  Value s = poly(z, {-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1});
  s = fma(mulf(s, z), x, x);
  Value c = poly(z, {2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2});
  c = fma({mulf(c, z), z, fma(z, real(t, -0.5), real(t, 1.0))});
  Value bits = arith::BitcastOp::create(b, i, magic);
  auto isSet = [&](Value v, int64_t bit) -> Value {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, Value(arith::AndIOp::create(b, v, number(bit))),
                                 number(0));
  };
  Value odd = isSet(bits, 1);
  Value sine = select(odd, c, s), cosine = select(odd, s, c);
  sine = select({isSet(bits, 2), arith::NegFOp::create(b, sine), sine});
  Value next = arith::AddIOp::create(b, bits, number(1));
  cosine = select({isSet(next, 2), arith::NegFOp::create(b, cosine), cosine});
  return {sine, cosine};
}

Value Functions::sinOrCos(Value x, bool sine) {
  Type t = x.getType();
  auto [sin, cos] = sinCos(arith::ExtFOp::create(b, with(t, f64()), x));
  Value zero = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, x, real(t, 0.0));
  Value near = sine ? select(zero, x, sin) : cos; // sin -0 is -0
  Value far = arith::CmpFOp::create(b, arith::CmpFPredicate::OGE, math::AbsFOp::create(b, x), real(t, 0x1p50));
  Value any = isa<VectorType>(t) ? Value(vector::ReductionOp::create(b, vector::CombiningKind::OR, far)) : far;
  auto op = scf::IfOp::create(b, t, any, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.thenBlock());
  Value known = vectorLanes.farAngle(*this, x, sine);
  scf::YieldOp::create(b, select(far, known, near));
  b.setInsertionPointToStart(op.elseBlock());
  scf::YieldOp::create(b, near);
  return op.getResult(0);
}

/// An elementwise function of the language, on one f32 or a vector of them.
Value Functions::function(UnaryKind kind, Value x) {
  Type t = x.getType();
  Value one = real(t, 1.0), zero = real(t, 0.0);
  switch (kind) {
  case UnaryKind::neg: return arith::NegFOp::create(b, x);
  case UnaryKind::abs: return math::AbsFOp::create(b, x);
  case UnaryKind::sqrt: return sqrt(x);
  case UnaryKind::exp: return exp(x);
  case UnaryKind::log: return log(x);
  case UnaryKind::sin: return sinOrCos(x, true);
  case UnaryKind::cos: return sinOrCos(x, false);
  case UnaryKind::floor: return math::FloorOp::create(b, x);
  case UnaryKind::ceil: return math::CeilOp::create(b, x);
  case UnaryKind::tanh: return tanh(x);
  case UnaryKind::sigmoid: return sigmoid(x);
  case UnaryKind::relu: return maxf(x, zero);
  case UnaryKind::gelu: return mulf({mulf(x, real(t, 0.5)), addf(one, erf(mulf(x, real(t, 0.70710678118654752440))))});
  case UnaryKind::gelu_tanh: {
    // 0.5 x (1 + tanh u) = x / (1 + exp(-2u))
    Value u =
        mulf(x, fma(mulf(x, x), real(t, -2 * 0.79788456080286535588 * 0.044715), real(t, -2 * 0.79788456080286535588)));
    return divf(x, addf(one, exp(u)));
  }
  case UnaryKind::quick_gelu: return divf(x, addf(one, exp(mulf(x, real(t, -1.702)))));
  case UnaryKind::silu: return divf(x, addf(one, exp(arith::NegFOp::create(b, x))));
  case UnaryKind::relu2: {
    Value r = maxf(x, zero);
    return mulf(r, r);
  }
  case UnaryKind::softplus: {
    // log(1 + e^x) = max(x, 0) + log1p(e), e = exp(-|x|); log1p(e) = log(u) e/(u-1), u = 1 + e.
    Value e = exp(arith::NegFOp::create(b, Value(math::AbsFOp::create(b, x))));
    Value u = addf(one, e), d = subf(u, one);
    Value none = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, d, zero);
    Value l = select(none, e, divf({mulf(log(u), e), select(none, one, d)}));
    return addf(maxf(x, zero), l);
  }
  case UnaryKind::bf16: return arith::BitcastOp::create(b, t, bf16Word(*this, x));
  case UnaryKind::logical_not: break;
  }
  llvm_unreachable("not a function of a real");
}
