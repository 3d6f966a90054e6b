//===- IntegerRows.cpp - rows rounded to 8 bits ---------------------------===//

#include "compiler/Conversion/Lowering/CPU/Linear/IntegerRows.h"
#include "compiler/Conversion/Lowering/Ops/LinearCode.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using namespace heddle::model;

IntegerRow::IntegerRow(const Arithmetic &arithmetic, int64_t k, Products products)
    : coding(arithmetic.coding), products(products), k(k), features(coding.groups(k) * coding.features(k)),
      block(arithmetic.rows), unit(arithmetic.unit(k)), units(features / unit), scales((features + block - 1) / block),
      codeBytes(products == Products::Pairs && coding.bits == 8 ? 2 : 1), scalesAt(features * codeBytes),
      offsetsAt(scalesAt + 4 * scales), sumsAt(offsetsAt + 4 * units), pairsAt(sumsAt + (hasSums() ? 4 * units : 0)) {
  bytes = int64_t(llvm::alignTo(uint64_t(pairsAt + (hasPairs() ? 2 * units : 0)), 64));
}

/// The `count` features from `number` * `block` on: their scale, their codes and the sums of their units.
void IntegerRow::roundBlock(Code &c, Value from, Value to, Value number, int64_t count, bool masked) const {
  Type f32 = c.f32(), i32 = c.b.getI32Type(), i8 = c.b.getI8Type(), words = c.vec(i32);
  Value first = c.mul(number, block);
  auto loaded = [&](Value j) {
    Value place = c.add(first, j);
    Value mask = masked ? c.firstLanes(c.sub(c.constant(k), place)) : Value();
    return c.loadVec(from, place, mask);
  };
  // The bits of sizes order as the sizes do, and those of a NaN are above an infinity's.
  Value none = c.integer(words, 0), noSign = c.integer(words, 0x7fffffff);
  Value sizes = c.loop(c.constant(0), c.constant(count), c.lanes, none, [&](Value j, ValueRange carried) {
    Value bits = arith::BitcastOp::create(c.b, words, loaded(j));
    Value size = arith::AndIOp::create(c.b, bits, noSign);
    return Values{arith::MaxSIOp::create(c.b, carried[0], size)};
  })[0];
  Value bits = c.foldLanes(sizes, [&](Value x, Value y) { return arith::MaxSIOp::create(c.b, x, y).getResult(); });
  Value largest = arith::BitcastOp::create(c.b, f32, bits);
  Value finite = arith::CmpIOp::create(c.b, arith::CmpIPredicate::slt, bits, c.integer(i32, 0x7f800000));
  Value inverse = c.divf(c.real(127), largest);
  Value fits = c.lessf(inverse, c.real(std::numeric_limits<double>::infinity()));
  Value holds = arith::AndIOp::create(c.b, finite, fits);
  Value scale = c.divf(largest, c.real(127));
  scale = c.select(finite, scale, c.real(std::numeric_limits<double>::quiet_NaN()));
  c.store(scale, c.at(c.at(to, c.constant(scalesAt), i8), number, f32));
  // Adding 1.5 * 2^23 leaves no bits after the point, rounded to the nearest even.
  Value factor = c.splat(inverse), point = c.real(c.vec(f32), 0x1.8p23);
  auto rounded = [&](Value j) {
    Value large = c.addf(c.mulf(loaded(j), factor), point);
    Value code = arith::FPToSIOp::create(c.b, words, c.subf(large, point));
    code = c.select(holds, code, none);
    Value place = c.add(first, j);
    Value narrow = arith::TruncIOp::create(c.b, c.vec(codeBytes == 2 ? c.b.getI16Type() : i8), code);
    if (codeBytes == 2) {
      SmallVector<int64_t> order;
      for (int64_t i = 0; i < c.lanes; ++i)
        order.push_back(i - i % 4 + (i % 4 == 1 ? 2 : i % 4 == 2 ? 1 : i % 4));
      narrow = vector::ShuffleOp::create(c.b, narrow, narrow, order);
    }
    c.store(narrow, c.at(to, c.mul(place, codeBytes), i8));
    return code;
  };
  auto add = [&](Value x, Value y) { return arith::AddIOp::create(c.b, x, y).getResult(); };
  c.loop(c.constant(0), c.constant(count / unit), 1, [&](Value u) {
    Value begin = c.mul(u, unit);
    Value sums = c.loop(c.constant(0), c.constant(unit), c.lanes, none, [&](Value j, ValueRange carried) {
      Value code = rounded(c.add(begin, j));
      return Values{add(carried[0], code)};
    })[0];
    Value sum = c.foldLanes(sums, add), index = c.add(c.mul(number, block / unit), u);
    Value offset = arith::MulIOp::create(c.b, sum, c.integer(i32, -offsetOfBytes(coding, products)));
    c.store(offset, c.at(c.at(to, c.constant(offsetsAt), i8), index, i32));
    if (hasSums()) {
      Value factor = coding.zeros ? Value(arith::SubIOp::create(c.b, c.integer(i32, 0), sum)) : sum;
      Value real = arith::SIToFPOp::create(c.b, f32, factor);
      c.store(real, c.at(c.at(to, c.constant(sumsAt), i8), index, f32));
    }
    if (hasPairs()) {
      Value in = c.rem(index, c.constant(4)), two = c.constant(2);
      Value place = c.add({c.mul(c.rem(in, two), 2), c.div(in, two)});
      Value half = arith::TruncIOp::create(c.b, c.b.getI16Type(), sum);
      c.store(half, c.at({c.at(to, c.constant(pairsAt), i8), c.add(c.sub(index, in), place)}, half.getType()));
    }
  });
}

void IntegerRow::round(Code &c, Value from, Value to) const {
  int64_t whole = k / block, all = features / block;
  if (unit % c.lanes || block % unit) { // one group of fewer features than a block
    roundBlock(c, from, to, c.constant(0), features, true);
    return;
  }
  c.loop(c.constant(0), c.constant(whole), 1, [&](Value number) { roundBlock(c, from, to, number, block, false); });
  if (whole < all)
    c.loop(c.constant(whole), c.constant(all), 1, [&](Value number) { roundBlock(c, from, to, number, block, true); });
  if (features % block)
    roundBlock(c, from, to, c.constant(all), features % block, true);
}

//===-- of a linear ------------------------------------------------------------===//

Value heddle::loops::integerRows(Lowering &l, LinearOp op) {
  LinearScratch scratch(op);
  SmallVector<LinearOp> readers = readersOfRows(op);
  if (!readers.empty() && readers.front() != op)
    return l.scratchPointer(op);
  ModelTensorType x = op.getInput().getType();
  int64_t k = *x.getSize(x.getRank() - 1).constant();
  Coding coding = arithmeticOf(op).coding;
  IntegerRow row(arithmeticOf(op), k, productsOf(op));
  LeftSide left(op);
  Type i8 = l.b.getI8Type(), i32 = l.b.getI32Type();
  Value base = l.scratchPointer(op), from = l.pointer(op.getInput());
  Value to = l.at({base, l.size(scratch.weight + scratch.bias)}, i8);
  Value own; // of this thread: a row in the order of the codes
  if (coding.ordered) {
    Value areas = l.at({base, l.size(scratch.weight + scratch.bias + scratch.rows)}, i8);
    own = l.at(areas, l.mul(l.tid, LinearScratch::linesOf(4 * k)), i8);
  }
  l.parallelFor(op.getLoc(), l.size(left.rows), [&](Value number) {
    Value source = l.at(from, rowBegin(l, op, left, number), l.f32());
    if (own) {
      Value order = l.pointer(op.getWeight());
      l.loop(op.getLoc(), l.constant(0), l.constant(k), 1, [&](Value place) {
        Value feature = l.toIndex(arith::ExtSIOp::create(l.b, l.b.getI64Type(), l.load(i32, l.at(order, place, i32))));
        l.store({l.loadF32(source, feature), l.at(own, place, l.f32())});
      });
      source = own;
    }
    row.round(l, source, l.at(to, l.mul(number, row.bytes), i8));
  });
  l.noteCost([&] { return Cost{"linear", 0, false, bytesWhereItLies(op.getInput()), scratch.rows}; });
  l.barrier(op.getLoc());
  return to;
}
