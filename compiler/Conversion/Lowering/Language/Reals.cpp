//===- Reals.cpp - the reals of a softmax ---------------------------------===//

#include "compiler/Conversion/Lowering/Language/Reals.h"

using namespace mlir;
using namespace heddle::loops;

Exponent heddle::loops::splitExponent(Code &c, Value x) {
  Type t = x.getType();
  Value low = c.real(t, -127.0), magic = c.real(t, 12582912.0);
  x = c.select(c.lessf(x, low), low, x); // a NaN stays
  Value shifted = c.addf(x, magic);
  return {c.subf(x, c.subf(shifted, magic)), shifted};
}

Value heddle::loops::exp2(Code &c, Exponent x) {
  Type t = x.rest.getType(), i = Code::with(t, c.b.getI32Type());
  Value p = c.real(t, 0.0013333558);
  for (double k : {0.009618129, 0.05550411, 0.24022651, 0.6931472, 1.0})
    p = c.fma(p, x.rest, c.real(t, k));
  Value bits = arith::BitcastOp::create(c.b, i, x.shifted);
  Value exponent = arith::ShLIOp::create(c.b, bits, c.integer(i, 23));
  bits = arith::BitcastOp::create(c.b, i, p);
  return arith::BitcastOp::create(c.b, t, Value(arith::AddIOp::create(c.b, bits, exponent)));
}

Value heddle::loops::largestLane(Code &c, Value x) {
  return c.foldLanes(x, [&](Value a, Value b) { return larger(c, a, b); });
}

Value heddle::loops::softcap(Code &c, Value x, double cap) {
  Type t = x.getType();
  Value low = c.real(t, -7.90531110763549805), high = c.real(t, 7.90531110763549805);
  x = c.mulf(x, c.real(t, 1.0 / (cap * kLog2E)));
  x = c.select(c.lessf(x, low), low, x);
  x = c.select(c.lessf(high, x), high, x);
  Value z = c.mulf(x, x), p = c.real(t, -2.76076847742355e-16), q = c.real(t, 1.19825839466702e-06);
  for (double k : {2.00018790482477e-13, -8.60467152213735e-11, 5.12229709037114e-08, 1.48572235717979e-05,
                   6.37261928875436e-04, 4.89352455891786e-03})
    p = c.fma(p, z, c.real(t, k));
  for (double k : {1.18534705686654e-04, 2.26843463243900e-03, 4.89352518554385e-03})
    q = c.fma(q, z, c.real(t, k));
  return c.mulf(c.divf(c.mulf(x, p), q), c.real(t, cap * kLog2E));
}
