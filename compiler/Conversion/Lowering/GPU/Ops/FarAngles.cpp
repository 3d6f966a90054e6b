//===- FarAngles.cpp - sines of huge numbers -------------------------------===//
//
// Payne and Hanek's reduction, in integers: of the product of a 24-bit mantissa with 2/pi only the bits that are not
// whole turns matter, and there are 96 of them at most before the rest is below f32's last place. A CPU asks its C
// library instead, which a device has not.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/GPU/WarpLanes.h"
#include "compiler/Conversion/Lowering/Language/Code.h"
#include "compiler/Conversion/Lowering/Language/Functions.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace heddle::loops;

/// The first 224 bits of 2/pi after the point.
static constexpr uint32_t kTwoOverPi[] = {0xA2F9836E, 0x4E441529, 0xFC2757D1, 0xF534DDC0,
                                          0xDB629599, 0x3C439041, 0xFE5163AB};

namespace {
/// Arithmetic of i64 words.
struct Words {
  Code &c;
  Value number(int64_t v) { return arith::ConstantOp::create(c.b, c.b.getI64IntegerAttr(v)); }
  Value add(Value x, Value y) { return arith::AddIOp::create(c.b, x, y); }
  Value sub(Value x, int64_t y) { return arith::SubIOp::create(c.b, x, number(y)); }
  Value mul(Value x, Value y) { return arith::MulIOp::create(c.b, x, y); }
  Value up(Value x, Value by) { return arith::ShLIOp::create(c.b, x, by); }
  Value down(Value x, Value by) { return arith::ShRUIOp::create(c.b, x, by); }
  Value both(Value x, int64_t mask) { return arith::AndIOp::create(c.b, x, number(mask)); }
  Value either(Value x, Value y) { return arith::OrIOp::create(c.b, x, y); }
  /// Word `at` of 2/pi: chosen by comparisons, as there are few.
  Value table(Value at) {
    Value word = number(kTwoOverPi[0]);
    for (int64_t i = 1; i < int64_t(std::size(kTwoOverPi)); ++i)
      word = c.select(arith::CmpIOp::create(c.b, arith::CmpIPredicate::eq, at, number(i)), number(kTwoOverPi[i]), word);
    return word;
  }
};
} // namespace

Value WarpLanes::farAngle(Code &c, Value x, bool sine) const {
  Words w{c};
  Type i32 = c.b.getI32Type(), i64 = c.b.getI64Type();
  Value bits = arith::ExtUIOp::create(c.b, i64, Value(arith::BitcastOp::create(c.b, i32, x)));
  Value mantissa = w.either(w.both(bits, 0x7fffff), w.number(0x800000));
  // |x| = mantissa * 2^e, e >= 27. Bit n of 2/pi (weight 2^-(n+1)) is worth 2^(e-n-1) quarter turns: from bit e - 2 on
  // they are less than whole turns.
  Value e = w.sub(w.both(w.down(bits, w.number(23)), 0xff), 150);
  Value start = w.sub(e, 2), at = w.down(start, w.number(5)), shift = w.both(start, 31), half = w.number(32);
  Value window[3];
  for (int64_t k = 0; k < 3; ++k) {
    Value high = w.table(w.add(at, w.number(k))), low = w.table(w.add(at, w.number(k + 1)));
    window[k] = w.down(w.up(w.either(w.up(high, half), low), shift), half);
  }
  // The low 96 bits of mantissa * window: two bits of quarter turns, then their fraction.
  Value last = w.mul(mantissa, window[2]);
  Value middle = w.add(w.mul(mantissa, window[1]), w.down(last, half));
  Value top = w.add(w.up(w.mul(mantissa, window[0]), half), middle);
  Value turns = w.down(top, w.number(62));
  Value fraction = w.either(w.up(top, w.number(2)), w.down(w.both(last, 0xffffffff), w.number(30)));
  // As a signed number it is in [-1/2, 1/2) quarter turns, of the next quarter where it is negative.
  turns = w.add(turns, w.down(fraction, w.number(63)));
  Value part = arith::SIToFPOp::create(c.b, c.f64(), fraction);
  Value angle = c.mulf(part, c.real(c.f64(), 1.57079632679489661923 / 18446744073709551616.0));
  auto [s, k] = Functions(c).sinCos(angle);
  // sin of q quarter turns more: s, k, -s, -k; cos is one quarter ahead.
  Value q = sine ? turns : w.add(turns, w.number(1));
  auto isSet = [&](int64_t bit) -> Value {
    return arith::CmpIOp::create(c.b, arith::CmpIPredicate::ne, w.both(q, bit), w.number(0));
  };
  Value y = c.select(isSet(1), k, s);
  y = c.select(isSet(2), arith::NegFOp::create(c.b, y), y);
  if (sine) { // sin -x = -sin x
    Value negative = c.lessf(x, c.real(0.0));
    y = c.select(negative, arith::NegFOp::create(c.b, y), y);
  }
  // Of infinity and NaN there is none.
  Value magnitude = math::AbsFOp::create(c.b, x);
  return c.select(c.lessf(magnitude, c.real(INFINITY)), y, c.real(NAN));
}
