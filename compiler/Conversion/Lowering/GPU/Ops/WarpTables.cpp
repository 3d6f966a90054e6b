//===- WarpTables.cpp - what calls find out about their rows and keys -----===//
//
// Which rows are no padding, which keys are set and where runs of them end, by warps: 32 elements or granules are asked
// at once, and what depends on those before is a scan of lanes.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/Frame/Predicates.h"
#include "compiler/Conversion/Lowering/Frame/TableCode.h"
#include "compiler/Conversion/Lowering/GPU/Ops/WarpOps.h"
#include "compiler/Conversion/Lowering/GPU/Ops/WarpScan.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using namespace heddle::model;
using mask::kGranule;
using Compare = arith::CmpIPredicate;
using Lower = heddle::loops::Lowering;

/// Rows that one warp counts and lists.
static constexpr int64_t kPartRows = 256;

static Size partsOf(const Size &rows) { return (rows + Size(kPartRows - 1)).floorDiv(Size(kPartRows)); }

/// How many there are, then how many each part has.
Size heddle::loops::liveRowsScratch(LiveRowsOp op) {
  return Size(64) + partsOf(op.getMask().getType().getCount()) * Size(8);
}

void heddle::loops::lowerWarpLiveRows(Lower &l, LiveRowsOp op) {
  Type i64 = l.b.getI64Type();
  Location loc = op.getLoc();
  ModelTensorType mask = op.getMask().getType();
  Type element = mask.getElementType();
  Value from = l.pointer(op.getMask()), rows = l.allocatePointer(op->getResult(0)), count = l.scratchPointer(op);
  Length all = l.size(mask.getCount()), parts = l.size(partsOf(mask.getCount()));
  Value zero = l.constant(0);
  Value counts = l.at(count, l.constant(8), i64);
  auto sum = [&](Value x, Value y) { return l.add(x, y); };
  auto sums = [&](ValueRange x, ValueRange y) { return Values{l.add(x[0], y[0])}; };
  // Of a part: its first row and the one after its last.
  auto ends = [&](Value part) {
    Value first = l.mul(part, kPartRows);
    return std::pair(first, l.min(all, l.add(first, kPartRows)));
  };
  l.parallelFor(loc, parts, [&](Value part) {
    WarpScan warp(l);
    auto [first, last] = ends(part);
    Values mine = warp.each(first, last, zero, [&](Value i, Value inside, ValueRange n) {
      return Values{l.add(n[0], l.select(inside, isLive(l, from, element, i), zero))};
    });
    l.store({l.toI64(warp.all(mine, sums)[0]), l.at(counts, part, i64)});
  });
  l.barrier(loc);
  l.parallelFor(loc, l.max(parts, l.number(1)), [&](Value part) {
    WarpScan warp(l);
    auto [first, last] = ends(part);
    Values before = warp.each(zero, part, zero, [&](Value i, Value inside, ValueRange n) {
      Value theirs = l.toIndex(l.load(i64, l.at(counts, i, i64)));
      return Values{l.add(n[0], l.select(inside, theirs, zero))};
    });
    Values end = warp.each(first, last, warp.all(before, sums), [&](Value i, Value inside, ValueRange n) {
      Value live = l.select(inside, isLive(l, from, element, i), zero), upTo = warp.upTo(live, sum);
      Value place = l.sub(l.add(n[0], upTo), l.constant(1));
      l.when(l.less(zero, live), [&] { l.store({l.toI64(i), l.at(rows, place, i64)}); });
      return Values{l.add(n[0], warp.of(upTo, l.constant(kWarp - 1)))};
    });
    l.when(l.equal(l.add(part, 1), l.max(parts, l.constant(1))), [&] { l.store(l.toI64(end[0]), count); });
  });
  l.noteCost(
      [&] { return Cost{"live_rows", 0, false, bytesWhereItLies(op.getMask()), bytesWhereItLies(op.getResult())}; });
  l.barrier(loc);
  Value found = l.load(i64, count);
  l.setSize(op.getDim(), found);
}

void heddle::loops::lowerWarpKeyTable(Lower &l, mask::KeyTableOp op) {
  TableCode c{l};
  auto keys = cast<ModelTensorType>(op.getTensor().getType()), table = cast<ModelTensorType>(op.getType());
  Type element = keys.getElementType();
  Value source = l.pointer(op.getTensor()), target = l.allocatePointer(op->getResult(0));
  Value length = l.size(mask::lastSize(op.getTensor())), stride = l.size(table.getSize(1));
  Value granules = l.div(l.add(length, kGranule - 1), l.constant(kGranule));
  l.parallelFor(op.getLoc(), l.size(table.getSize(0)), [&](Value batch) {
    WarpScan warp(l);
    Value from = c.element(source, keys, batch), to = l.at(target, l.mul(batch, stride), c.i64), two = l.constant(2);
    Value zero = l.constant(0), far = l.constant(kGranule);
    // The bits of each granule, and the first and last key that is set.
    Values found = warp.each(zero, granules, {length, zero}, [&](Value g, Value, ValueRange now) -> Values {
      Value first = l.mul(g, kGranule), bits = c.setBits(from, element, first, l.min(far, l.sub(length, first)));
      c.write(to, l.add(g, two), bits);
      Value some = c.compare(Compare::ne, bits, c.word(0));
      Value low = l.add(first, l.toIndex(math::CountTrailingZerosOp::create(l.b, bits)));
      Value high = l.sub(l.constant(64), l.toIndex(math::CountLeadingZerosOp::create(l.b, bits)));
      Value begin = l.select({some, l.min(low, now[0]), now[0]});
      return {begin, l.select({some, l.max(l.add(first, high), now[1]), now[1]})};
    });
    Values ends = warp.all(found, [&](ValueRange x, ValueRange y) -> Values {
      Value begin = l.min(x[0], y[0]);
      return {begin, l.max(x[1], y[1])};
    });
    c.write(to, zero, l.toI64(ends[0]));
    c.write(to, l.constant(1), l.toI64(ends[1]));
    l.laneSync();
    // From the right: where the run of granules of one state ends. Lane 0 has the rightmost one; a run begins where the
    // lane before, or the last one of the round before, is in another state.
    Value last = l.constant(kWarp - 1);
    warp.each(zero, granules, {zero, c.word(-1)}, [&](Value n, Value inside, ValueRange now) -> Values {
      Value g = l.sub(l.sub(granules, n), l.constant(1)), first = l.mul(g, kGranule), bits = c.read(to, l.add(g, two));
      auto within = [&](Value k) { return l.min(l.max(l.sub(k, first), zero), far); };
      Value firsts = within(ends[0]), lasts = within(ends[1]), wanted = c.bitRange(firsts, lasts);
      Value every = c.compare(Compare::eq, bits, wanted), some = c.compare(Compare::ne, bits, c.word(0));
      Value state = l.select(some, l.select(every, c.word(2), c.word(1)), c.word(0));
      Value mine = l.min(ends[1], l.add(first, kGranule)), none = l.equal(warp.lane, zero);
      Value neighbour = warp.of(state, l.select(none, zero, l.sub(warp.lane, l.constant(1))));
      Value begins = c.compare(Compare::ne, state, l.select(none, now[1], neighbour));
      // The nearest lane up to here where a run begins, counted from 1.
      Value run = warp.upTo(l.select(begins, l.add(warp.lane, 1), zero), [&](Value x, Value y) { return l.max(x, y); });
      Value there = warp.of(mine, l.max(l.sub(run, l.constant(1)), zero));
      Value end = l.select(l.equal(run, zero), now[0], there);
      Value place = l.add(g, two);
      l.laneSync(); // every lane has read its bits, the last granule's perhaps as well
      l.when(inside, [&] { c.write(to, place, c.either(c.up(l.toI64(end), c.word(2)), state)); });
      Value carried = warp.of(end, last);
      return {carried, warp.of(state, last)};
    });
  });
  l.barrier(op.getLoc());
}

void heddle::loops::lowerWarpRowCounts(Lower &l, mask::RowCountsOp op) {
  TableCode c{l};
  auto rows = cast<ModelTensorType>(op.getTensor().getType()), table = cast<ModelTensorType>(op.getType());
  Type element = rows.getElementType();
  Value source = l.pointer(op.getTensor()), target = l.allocatePointer(op->getResult(0));
  Value length = l.size(mask::lastSize(op.getTensor())), stride = l.size(table.getSize(1));
  l.parallelFor(op.getLoc(), l.size(table.getSize(0)), [&](Value batch) {
    WarpScan warp(l);
    Value from = c.element(source, rows, batch), to = l.at(target, l.mul(batch, stride), c.i64);
    Values total = warp.each(l.constant(0), length, c.word(0), [&](Value r, Value inside, ValueRange now) -> Values {
      Value set = mask::IntCode{l.b, l.b.getLoc()}.isSet(l.load(element, l.at(from, r, element)));
      Value one = arith::ExtUIOp::create(l.b, c.i64, c.both(set, inside));
      auto sum = [&](Value x, Value y) -> Value { return arith::AddIOp::create(l.b, x, y); };
      Value upTo = warp.upTo(one, sum), before = arith::SubIOp::create(l.b, sum(now[0], upTo), one);
      l.when(inside, [&] { c.write(to, r, before); });
      return {sum(now[0], warp.of(upTo, l.constant(kWarp - 1)))};
    });
    c.write(to, length, total[0]);
  });
  l.barrier(op.getLoc());
}
