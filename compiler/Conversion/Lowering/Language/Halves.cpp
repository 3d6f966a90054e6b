//===- Halves.cpp - numbers stored in 16 bits -----------------------------===//
//
// Conversions between f32 and numbers stored in 16 bits. bf16 is in Bf16.cpp; f16 uses LLVM's own conversions.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/Language/Halves.h"

using namespace mlir;
using namespace heddle::loops;

Value heddle::loops::halfOf(Code &c, Stored stored, Value x) {
  if (stored == Stored::bf16)
    return toBf16(c, x);
  Value half = arith::TruncFOp::create(c.b, Code::with(x.getType(), c.b.getF16Type()), x);
  return arith::BitcastOp::create(c.b, Code::with(x.getType(), c.b.getI16Type()), half);
}

Value heddle::loops::widened(Code &c, Stored stored, Value x) {
  if (stored == Stored::bf16)
    return fromBf16(c, x);
  Value half = arith::BitcastOp::create(c.b, Code::with(x.getType(), c.b.getF16Type()), x);
  return arith::ExtFOp::create(c.b, Code::with(x.getType(), c.f32()), half);
}

Value heddle::loops::pairWord(Code &c, Stored stored, Value even, Value odd) {
  if (stored == Stored::bf16)
    return bf16Pair(c, even, odd);
  Type i = Code::with(even.getType(), c.b.getI32Type());
  Value low = arith::ExtUIOp::create(c.b, i, halfOf(c, stored, even)),
        high = arith::ExtUIOp::create(c.b, i, halfOf(c, stored, odd));
  return arith::OrIOp::create(c.b, low, Value(arith::ShLIOp::create(c.b, high, c.integer(i, 16))));
}

std::pair<Value, Value> heddle::loops::widenedPair(Code &c, Stored stored, Value pairs) {
  if (stored == Stored::bf16)
    return fromBf16Pair(c, pairs);
  Type i = pairs.getType(), half = Code::with(i, c.b.getI16Type());
  Value odd = arith::ShRUIOp::create(c.b, pairs, c.integer(i, 16));
  return {widened(c, stored, arith::TruncIOp::create(c.b, half, pairs)),
          widened(c, stored, arith::TruncIOp::create(c.b, half, odd))};
}

Value heddle::loops::widenedScale(Code &c, PackedType type, Value half) {
  if (type != PackedType::F16 || c.lanes > 4)
    return widened(c, model::storedOf(type), half);
  // A processor of short vectors need not have conversions of f16. The bits of a number in their places for f32 are
  // that number times 2^-112.
  Type i32 = Code::with(half.getType(), c.b.getI32Type()), f32 = Code::with(half.getType(), c.f32());
  Value word = arith::ExtUIOp::create(c.b, i32, half);
  Value size = arith::ShLIOp::create(c.b, Value(arith::AndIOp::create(c.b, word, c.integer(word.getType(), 0x7fff))),
                                     c.integer(i32, 13));
  Value real = c.mulf(Value(arith::BitcastOp::create(c.b, f32, size)), c.real(f32, 0x1p112));
  Value sign = arith::ShLIOp::create(c.b, Value(arith::AndIOp::create(c.b, word, c.integer(word.getType(), 0x8000))),
                                     c.integer(i32, 16));
  Value bits = arith::BitcastOp::create(c.b, i32, real);
  Value both = arith::OrIOp::create(c.b, bits, sign);
  return arith::BitcastOp::create(c.b, f32, both);
}
