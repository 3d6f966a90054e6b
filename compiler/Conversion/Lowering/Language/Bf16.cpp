//===- Bf16.cpp - numbers stored in 16 bits -------------------------------===//
//
// bf16 is the upper half of an f32, so widening is a shift or a mask. Two of them share a word: neighbours along the
// axis that is summed, the even one in the low half, as vdpbf16ps reads them. Rounding works on integers: the same bits
// on every processor.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/Language/Halves.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace heddle::loops;

Value heddle::loops::bf16Word(Code &c, Value x) {
  auto &b = c.b;
  Type i = Code::with(x.getType(), b.getI32Type());
  Value bits = arith::BitcastOp::create(b, i, x);
  Value last = arith::AndIOp::create(b, Value(arith::ShRUIOp::create(b, bits, c.integer(i, 16))), c.integer(i, 1));
  Value up = arith::AddIOp::create(b, bits, Value(arith::AddIOp::create(b, last, c.integer(i, 0x7fff))));
  Value quiet = arith::OrIOp::create(b, bits, c.integer(i, 0x400000)); // the payload may be in the half that goes
  return arith::AndIOp::create(b, c.select(c.isNaN(x), quiet, up), c.integer(i, -65536));
}

Value heddle::loops::toBf16(Code &c, Value x) {
  Value word = bf16Word(c, x);
  Type i = word.getType();
  return arith::TruncIOp::create(c.b, Code::with(i, c.b.getI16Type()),
                                 Value(arith::ShRUIOp::create(c.b, word, c.integer(i, 16))));
}

Value heddle::loops::fromBf16(Code &c, Value x) {
  Type i = Code::with(x.getType(), c.b.getI32Type());
  Value wide = arith::ExtUIOp::create(c.b, i, x);
  return arith::BitcastOp::create(c.b, Code::with(i, c.f32()),
                                  Value(arith::ShLIOp::create(c.b, wide, c.integer(i, 16))));
}

Value heddle::loops::bf16Pair(Code &c, Value even, Value odd) {
  Value low = bf16Word(c, even);
  low = arith::ShRUIOp::create(c.b, low, c.integer(low.getType(), 16));
  return arith::OrIOp::create(c.b, low, bf16Word(c, odd));
}

std::pair<Value, Value> heddle::loops::fromBf16Pair(Code &c, Value pairs) {
  Type i = pairs.getType(), real = Code::with(i, c.f32());
  Value even = arith::ShLIOp::create(c.b, pairs, c.integer(i, 16)),
        odd = arith::AndIOp::create(c.b, pairs, c.integer(i, -65536));
  return {arith::BitcastOp::create(c.b, real, even), arith::BitcastOp::create(c.b, real, odd)};
}

Value heddle::loops::dot(Code &c, Value sum, Value x, Value y) {
  auto halves = VectorType::get({2 * c.lanes}, c.b.getBF16Type());
  Value left = vector::BitCastOp::create(c.b, halves, x), right = vector::BitCastOp::create(c.b, halves, y);
  auto call = LLVM::CallIntrinsicOp::create(c.b, sum.getType(), c.b.getStringAttr("llvm.x86.avx512bf16.dpbf16ps.512"),
                                            ValueRange{sum, left, right});
  return call->getResult(0);
}
