//===- CodeNumbers.cpp - what codes of a matrix mean, as code --------------===//

#include "compiler/Conversion/Lowering/Language/CodeNumbers.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;

Value heddle::loops::bytesAt(Code &c, ArrayRef<int8_t> entries, Value indices) {
  // The entries are two words of 64 bits, whose bytes are shifted down: no target lacks that.
  uint64_t halves[2] = {};
  for (size_t i = 0; i < 16; ++i)
    halves[i / 8] |= uint64_t(uint8_t(entries[i])) << (8 * (i % 8));
  Type words = Code::with(indices.getType(), c.b.getI64Type());
  auto constant = [&](uint64_t x) { return c.integer(words, int64_t(x)); };
  Value index = arith::ExtUIOp::create(c.b, words, indices);
  Value upper = arith::CmpIOp::create(c.b, arith::CmpIPredicate::uge, index, constant(8));
  Value high = constant(halves[1]), low = constant(halves[0]), half = arith::SelectOp::create(c.b, upper, high, low);
  Value in = arith::AndIOp::create(c.b, index, constant(7));
  Value place = arith::MulIOp::create(c.b, in, constant(8)), byte = arith::ShRUIOp::create(c.b, half, place);
  return arith::TruncIOp::create(c.b, Code::with(indices.getType(), c.b.getI8Type()), byte);
}

Value heddle::loops::signedByte(Code &c, Value words, Value up) {
  Value top = arith::ShLIOp::create(c.b, words, up);
  Value byte = arith::ShRSIOp::create(c.b, top, c.integer(words.getType(), 24));
  return arith::SIToFPOp::create(c.b, Code::with(words.getType(), c.f32()), byte);
}

Value heddle::loops::unsignedByte(Code &c, Value words, Value down) {
  Value moved = arith::ShRUIOp::create(c.b, words, down);
  Value byte = arith::AndIOp::create(c.b, moved, c.integer(words.getType(), 255));
  return arith::SIToFPOp::create(c.b, Code::with(words.getType(), c.f32()), byte);
}

GroupValues GroupValues::times(Code &c, Value subScale, Value subMinimum) const {
  GroupValues group = *this;
  group.scale = c.mulf(scale, subScale);
  if (minimum)
    group.minimum = c.mulf(minimum, subMinimum);
  return group;
}

Value GroupValues::number(Code &c, const CodeFormat &format, Value codes) const {
  Type reals = Code::with(codes.getType(), c.f32());
  if (format.table != CodeTable::None)
    codes = arith::ExtSIOp::create(c.b, codes.getType(), bytesAt(c, integersOf(format.table), codes));
  Value x = arith::SIToFPOp::create(c.b, reals, codes);
  if (format.offset())
    x = c.subf(x, c.real(reals, double(format.offset())));
  if (zero)
    x = c.subf(x, zero);
  x = c.mulf(x, scale);
  return minimum ? c.addf(x, minimum) : x;
}
