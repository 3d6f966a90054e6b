//===- Bf16.cpp - numbers stored in 16 bits -------------------------------===//
//
// A bf16 is the upper half of an f32, so widening is a shift or a mask. Two of them share a word:
// neighbours along the axis that is summed, the even one in the lower half, as vdpbf16ps wants them.
// Rounding is done on integers: the same bits on every processor.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ToLoops/Code.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace heddle::loops;

Value Code::integer(Type like, int64_t value) {
  IntegerAttr one = b.getIntegerAttr(getElementTypeOrSelf(like), value);
  auto vector = dyn_cast<VectorType>(like);
  return arith::ConstantOp::create(b, vector ? TypedAttr(DenseElementsAttr::get(vector, one)) : TypedAttr(one));
}

Value Code::bf16Word(Value x) {
  Type i = with(x.getType(), b.getI32Type());
  Value bits = arith::BitcastOp::create(b, i, x);
  Value last = arith::AndIOp::create(b, Value(arith::ShRUIOp::create(b, bits, integer(i, 16))), integer(i, 1));
  Value up = arith::AddIOp::create(b, bits, Value(arith::AddIOp::create(b, last, integer(i, 0x7fff))));
  Value quiet = arith::OrIOp::create(b, bits, integer(i, 0x400000)); // the payload may lie in the half that goes
  return arith::AndIOp::create(b, select(isNaN(x), quiet, up), integer(i, -65536));
}

Value Code::toBf16(Value x) {
  Value word = bf16Word(x);
  Type i = word.getType();
  return arith::TruncIOp::create(b, with(i, b.getI16Type()), Value(arith::ShRUIOp::create(b, word, integer(i, 16))));
}

Value Code::fromBf16(Value x) {
  Type i = with(x.getType(), b.getI32Type());
  Value wide = arith::ExtUIOp::create(b, i, x);
  return arith::BitcastOp::create(b, with(i, f32()), Value(arith::ShLIOp::create(b, wide, integer(i, 16))));
}

Value Code::pairWord(Value even, Value odd) {
  Value low = bf16Word(even);
  low = arith::ShRUIOp::create(b, low, integer(low.getType(), 16));
  return arith::OrIOp::create(b, low, bf16Word(odd));
}

std::pair<Value, Value> Code::widened(Value pairs) {
  Type i = pairs.getType(), real = with(i, f32());
  Value even = arith::ShLIOp::create(b, pairs, integer(i, 16)), odd = arith::AndIOp::create(b, pairs, integer(i, -65536));
  return {arith::BitcastOp::create(b, real, even), arith::BitcastOp::create(b, real, odd)};
}

Value Code::dot(Value sum, Value x, Value y) {
  auto halves = VectorType::get({2 * lanes}, b.getBF16Type());
  auto view = [&](Value words) -> Value { return vector::BitCastOp::create(b, halves, words); };
  auto call = LLVM::CallIntrinsicOp::create(b, sum.getType(), b.getStringAttr("llvm.x86.avx512bf16.dpbf16ps.512"),
                                            ValueRange{sum, view(x), view(y)});
  return call->getResult(0);
}
