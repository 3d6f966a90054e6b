//===- PackRows.cpp - rows of padding left out, and back ------------------===//
//
// live_rows counts and lists the rows that are no padding; its dim is known from there on.
// pack_rows and unpack_rows move rows up or down, in place where the planner merged both sides.
// Each thread owns a stretch of columns, so rows may move in order without a barrier between.
// Where nothing is padded and both sides are one place, there is nothing to do.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/Frame/Lowering.h"
#include "compiler/Conversion/Lowering/Frame/Predicates.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using namespace heddle::model;
using Lower = heddle::loops::Lowering;

Value heddle::loops::isLive(Lower &l, Value mask, Type element, Value i) {
  if (element.isF32()) {
    Value zero = l.real(0.0), x = l.loadF32(mask, i);
    Value live = arith::CmpFOp::create(l.b, arith::CmpFPredicate::UNE, x, zero); // a NaN is not 0
    return l.select(live, l.constant(1), l.constant(0));
  }
  Value x = l.load(element, l.at(mask, i, element));
  Value zero = arith::ConstantOp::create(l.b, l.b.getIntegerAttr(element, 0));
  Value live = arith::CmpIOp::create(l.b, arith::CmpIPredicate::ne, x, zero);
  return l.select(live, l.constant(1), l.constant(0));
}

static LogicalResult lowerLiveRows(Lower &l, LiveRowsOp op) {
  Type i64 = l.b.getI64Type();
  ModelTensorType mask = op.getMask().getType();
  Value from = l.pointer(op.getMask()), rows = l.allocatePointer(op->getResult(0)), count = l.scratchPointer(op);
  l.when(l.equal(l.tid, l.constant(0)), [&] {
    Values n = l.loop(l.constant(0), l.size(mask.getCount()), 1, ValueRange{l.constant(0)}, [&](Value i, ValueRange n) {
      l.store({l.toI64(i), l.at(rows, n[0], i64)}); // n <= i: within the mask's count
      return Values{l.add(n[0], isLive(l, from, mask.getElementType(), i))};
    });
    l.store(l.toI64(n[0]), count);
  });
  l.barrier(op.getLoc());
  Value found = l.load(i64, count);
  l.setSize(op.getDim(), found);
  return success();
}

/// Calls body(first column, number of columns) with this thread's stretch of `width`.
static void columns(Lower &l, const Length &width, llvm::function_ref<void(Value, Value)> body) {
  constexpr int64_t line = 16;
  auto [from, to] = l.share(l.parts(width, line));
  Value begin = l.mul(from, line), end = l.min(l.mul(to, line), width);
  l.when(l.less(begin, end), [&] { body(begin, l.sub(end, begin)); });
}

/// pack_rows copies row list[i] of x [batch, rows, ..] to row i, unpack_rows row i to row list[i] and zeros to the
/// others. Packing walks upwards and unpacking downwards, so that no row is overwritten before it was moved.
LogicalResult heddle::loops::lowerRows(Lower &l, Operation *op) {
  if (auto live = dyn_cast<LiveRowsOp>(op))
    return lowerLiveRows(l, live);
  Type i64 = l.b.getI64Type();
  bool pack = isa<PackRowsOp>(op), inPlace = isInPlace(op);
  auto x = cast<ModelTensorType>(op->getOperand(0).getType()), y = cast<ModelTensorType>(op->getResult(0).getType());
  Type element = x.getElementType();
  Value from = l.pointer(op->getOperand(0)), list = l.pointer(op->getOperand(1)),
        to = l.allocatePointer(op->getResult(0));
  Value live = l.count(pack ? y : x, 0, 2), all = l.count(pack ? x : y, 0, 2);
  Length width = l.count(x, 2, x.getRank());
  auto rowOf = [&](Value i) { return l.toIndex(l.load(i64, l.at(list, i, i64))); };
  auto copyRow = [&](Value source, Value target, Value column, Value n) {
    Value a = l.at(from, l.add(l.mul(source, width), column), element);
    Value c = l.at(to, l.add(l.mul(target, width), column), element);
    l.vectors(n, [&](Value j, Value mask) {
      l.storeLanes({l.loadLanes(element, l.at(a, j, element), mask), l.at(c, j, element)}, mask);
    });
  };
  auto clearRow = [&](Value target, Value column, Value n) {
    Value c = l.at(to, l.add(l.mul(target, width), column), element);
    Value zero = arith::ConstantOp::create(l.b, l.b.getZeroAttr(l.vec(element)));
    l.vectors(n, [&](Value j, Value mask) { l.storeLanes(zero, l.at(c, j, element), mask); });
  };
  auto move = [&] {
    columns(l, width, [&](Value column, Value n) {
      if (pack) { // rows move up: the first goes first
        l.loop(op->getLoc(), l.constant(0), live, 1, [&](Value i) { copyRow(rowOf(i), i, column, n); });
        return;
      }
      // Rows move down: the last goes first, and what is between is cleared.
      l.loop(l.constant(0), all, 1, ValueRange{live}, [&](Value i, ValueRange left) {
        Value target = l.sub(l.sub(all, l.constant(1)), i), source = l.sub(left[0], l.constant(1));
        Value some = l.less(l.constant(0), left[0]);
        Value next = rowOf(l.max(source, l.constant(0)));
        Value mine = arith::AndIOp::create(l.b, some, l.equal(next, target));
        l.when(mine, [&] { copyRow(source, target, column, n); }, [&] { clearRow(target, column, n); });
        return Values{l.select(mine, source, left[0])};
      });
    });
    l.barrier(op->getLoc());
  };
  l.b.setLoc(op->getLoc());
  if (inPlace)
    l.when(l.equal(live, all), [] {}, move);
  else
    move();
  return success();
}
