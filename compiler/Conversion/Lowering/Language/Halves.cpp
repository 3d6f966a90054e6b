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
