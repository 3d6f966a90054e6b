//===- FillMaskTables.cpp - tables of masks, once a forward ---------------===//
//
// Computes the tables of masks, once in each call; their formats are in dialects/Mask/IR/MaskTables.h. All take
// O(length) except those of dense masks, which have to be read once. Threads share the work by batch element, row block
// or granule of rows.
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/Frame/TableCode.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"
#include <limits>

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using mask::kGranule;
using model::ModelTensorType;
using Compare = arith::CmpIPredicate;

Value TableCode::element(Value base, ModelTensorType t, Value batch) {
  if (t.getRank() < 2 || t.getSize(0).is(1))
    return base;
  return l.at(base, l.mul(batch, l.size(t.getSize(t.getRank() - 1))), t.getElementType());
}

Value TableCode::setBits(Value base, Type element, Value from, Value count) {
  auto lanes = VectorType::get({kGranule}, l.b.getI1Type());
  Value inside = vector::CreateMaskOp::create(l.b, lanes, count);
  Value v = l.load(VectorType::get({kGranule}, element), l.at(base, from, element), inside);
  Value set = mask::IntCode{l.b, l.b.getLoc()}.isSet(v);
  Value bits = vector::BitCastOp::create(l.b, VectorType::get({1}, l.b.getI16Type()), set);
  return arith::ExtUIOp::create(l.b, i64, Value(vector::ExtractOp::create(l.b, bits, ArrayRef<int64_t>{0})));
}

//===-- keys and queries -----------------------------------------------------------===//

static void keyTable(TableCode c, mask::KeyTableOp op) {
  Lowering &l = c.l;
  auto keys = cast<ModelTensorType>(op.getTensor().getType()), table = cast<ModelTensorType>(op.getType());
  Type element = keys.getElementType();
  Value source = l.pointer(op.getTensor()), target = l.allocatePointer(op->getResult(0));
  Value length = l.size(mask::lastSize(op.getTensor())), stride = l.size(table.getSize(1));
  Value granules = l.div(l.add(length, kGranule - 1), l.constant(kGranule));
  l.forEach(op.getLoc(), l.size(table.getSize(0)), [&](Value batch) {
    Value from = c.element(source, keys, batch), to = l.at(target, l.mul(batch, stride), c.i64), two = l.constant(2);
    auto zero = l.constant(0), far = l.constant(kGranule);
    // First pass: the bits of each granule, and the first and last key that is set.
    Values ends = l.Code::loop(zero, granules, 1, {length, zero}, [&](Value g, ValueRange now) -> Values {
      Value first = l.mul(g, kGranule), bits = c.setBits(from, element, first, l.min(far, l.sub(length, first)));
      c.write(to, l.add(g, two), bits);
      Value some = c.compare(Compare::ne, bits, c.word(0)), fresh = c.both(some, l.equal(now[0], length));
      Value low = l.toIndex(math::CountTrailingZerosOp::create(l.b, bits));
      Value high = l.sub(l.constant(64), l.toIndex(math::CountLeadingZerosOp::create(l.b, bits)));
      return {l.select(fresh, l.add(first, low), now[0]), l.select(some, l.add(first, high), now[1])};
    });
    c.write(to, zero, l.toI64(ends[0]));
    c.write(to, l.constant(1), l.toI64(ends[1]));
    // Second pass, from the right: where the state of the granule ends, so that one load skips all of its granules.
    l.Code::loop(zero, granules, 1, {zero, c.word(-1)}, [&](Value n, ValueRange now) -> Values {
      Value g = l.sub(l.sub(granules, n), l.constant(1)), first = l.mul(g, kGranule), bits = c.read(to, l.add(g, two));
      auto inside = [&](Value k) { return l.min(l.max(l.sub(k, first), zero), far); };
      Value firsts = inside(ends[0]), lasts = inside(ends[1]), wanted = c.bitRange(firsts, lasts);
      Value every = c.compare(Compare::eq, bits, wanted), some = c.compare(Compare::ne, bits, c.word(0));
      Value state = l.select(some, l.select(every, c.word(2), c.word(1)), c.word(0));
      Value end = l.select({c.compare(Compare::eq, state, now[1]), now[0], l.min(ends[1], l.add(first, kGranule))});
      Value place = l.add(g, two);
      c.write(to, place, c.either(c.up(l.toI64(end), c.word(2)), state));
      return {end, state};
    });
  });
}

static void rowCounts(TableCode c, mask::RowCountsOp op) {
  Lowering &l = c.l;
  auto rows = cast<ModelTensorType>(op.getTensor().getType()), table = cast<ModelTensorType>(op.getType());
  Type element = rows.getElementType();
  Value source = l.pointer(op.getTensor()), target = l.allocatePointer(op->getResult(0));
  Value length = l.size(mask::lastSize(op.getTensor())), stride = l.size(table.getSize(1));
  l.forEach(op.getLoc(), l.size(table.getSize(0)), [&](Value batch) {
    Value from = c.element(source, rows, batch), to = l.at(target, l.mul(batch, stride), c.i64);
    Values total = l.Code::loop(l.constant(0), length, 1, {c.word(0)}, [&](Value r, ValueRange now) -> Values {
      c.write(to, r, now[0]);
      Value set = mask::IntCode{l.b, l.b.getLoc()}.isSet(l.load(element, l.at(from, r, element)));
      return {arith::AddIOp::create(l.b, now[0], Value(arith::ExtUIOp::create(l.b, c.i64, set)))};
    });
    c.write(to, length, total[0]);
  });
}

//===-- labels ---------------------------------------------------------------------===//

namespace {
/// The label table of one batch element.
struct LabelTable {
  TableCode c;
  mask::LabelTableOp op;
  Value rows, keys, table;  ///< of this batch element
  Value rowCount, keyCount; ///< lengths
  Lowering &l = c.l;
  Type rowElement = cast<ModelTensorType>(op.getLabels().getType()).getElementType();
  Type keyElement = cast<ModelTensorType>(op.getKeyLabels().getType()).getElementType();

  Value row(Value r) { return c.label(rows, rowElement, r); }
  Value key(Value k) { return c.label(keys, keyElement, k); }
  Value zero() { return l.constant(0); }
  Value before(Value n) { return l.sub(n, l.constant(1)); }
  void set(Value place, Value k) { c.write(table, place, l.toI64(k)); }
  void setBegin(Value r, Value k) { set(l.add(r, 1), k); }
  void setEnd(Value r, Value k) { set(l.add(l.add(r, rowCount), 1), k); }

  void signatures();
  Value runs();
  Value merge();
  Value ascends(Value count, llvm::function_ref<Value(Value)> label);
  void bounds(Value steps, bool begins, std::optional<int64_t> side);
};
} // namespace

void LabelTable::signatures() {
  Value first = l.add(l.mul(rowCount, 2), 1), granules = l.div(l.add(keyCount, kGranule - 1), l.constant(kGranule));
  l.Code::loop(zero(), granules, 1, [&](Value g) {
    Value from = l.mul(g, kGranule), to = l.min(keyCount, l.add(from, kGranule)), start = key(from);
    Values s = l.Code::loop(from, to, 1, {start, start, c.word(0)}, [&](Value k, ValueRange now) -> Values {
      Value v = key(k);
      return {c.least(now[0], v), c.greatest(now[1], v), c.either(now[2], c.up(c.word(1), c.both(v, c.word(63))))};
    });
    Value at = l.add(first, l.mul(g, 3));
    for (int64_t i = 0; i < 3; ++i)
      c.write(table, l.add(at, i), s[i]);
  });
}

/// Documents of one sequence of ids: a row's keys are the run of equal ids around it, if no id ever comes back. This is
/// certain if each new id is greater or less than all before it.
Value LabelTable::runs() {
  Values seen = l.Code::loop(zero(), rowCount, 1, {row(zero()), zero(), row(zero()), row(zero()), c.flag(true)},
                             [&](Value r, ValueRange now) -> Values {
                               Value v = row(r), fresh = c.compare(Compare::ne, v, now[0]);
                               Value under = c.compare(Compare::slt, v, now[2]),
                                     over = c.compare(Compare::sgt, v, now[3]), outside = c.either(under, over);
                               Value begin = l.select(fresh, r, now[1]);
                               setBegin(r, begin);
                               return {v, begin, c.least(now[2], v), c.greatest(now[3], v),
                                       c.both(now[4], c.either(outside, c.exclusive(fresh, c.flag(true))))};
                             });
  l.Code::loop(zero(), rowCount, 1, {row(before(rowCount)), rowCount}, [&](Value n, ValueRange now) -> Values {
    Value r = before(l.sub(rowCount, n)), v = row(r);
    Value end = l.select({c.compare(Compare::ne, v, now[0]), l.add(r, 1), now[1]});
    setEnd(r, end);
    return {v, end};
  });
  return seen[4];
}

Value LabelTable::ascends(Value count, llvm::function_ref<Value(Value)> label) {
  Values good =
      l.Code::loop(l.constant(1), count, 1, {label(zero()), c.flag(true)}, [&](Value n, ValueRange now) -> Values {
        Value v = label(n);
        return {v, c.both(now[1], c.compare(Compare::sge, v, now[0]))};
      });
  return good[1];
}

/// With labels that do not decrease on either side: for each row the first key that is not before (or: is past) its
/// window, found by advancing along both sequences at once.
void LabelTable::bounds(Value steps, bool begins, std::optional<int64_t> side) {
  l.Code::loop(zero(), steps, 1, {zero(), zero()}, [&](Value, ValueRange now) -> Values {
    Value r = l.min(now[0], before(rowCount)), k = l.min(now[1], before(keyCount));
    Value live = l.less(now[0], rowCount);
    mask::IntCode at{l.b, l.b.getLoc()};
    Value theirs = key(k), own = row(r);
    Value skips = begins ? at.invert(at.atLeast(theirs, own, -*side)) : at.atMost(theirs, own, *side);
    Value ahead = c.both(c.both(live, l.less(now[1], keyCount)), skips),
          found = c.both(live, c.exclusive(ahead, c.flag(true)));
    l.when(found, [&] { begins ? setBegin(r, now[1]) : setEnd(r, now[1]); });
    return {l.select(found, l.add(now[0], 1), now[0]), l.select(ahead, l.add(now[1], 1), now[1])};
  });
}

Value LabelTable::merge() {
  Value steps = l.add(rowCount, keyCount);
  if (op.getLeft())
    bounds(steps, true, mask::labelSide(op.getLeft()));
  else
    l.Code::loop(zero(), rowCount, 1, [&](Value r) { setBegin(r, zero()); });
  if (op.getRight())
    bounds(steps, false, mask::labelSide(op.getRight()));
  else
    l.Code::loop(zero(), rowCount, 1, [&](Value r) { setEnd(r, keyCount); });
  Value inRows = ascends(rowCount, [&](Value n) { return row(n); }),
        inKeys = ascends(keyCount, [&](Value n) { return key(n); });
  return c.both(inRows, inKeys);
}

static void labelTable(TableCode c, mask::LabelTableOp op) {
  Lowering &l = c.l;
  auto rows = cast<ModelTensorType>(op.getLabels().getType()),
       keys = cast<ModelTensorType>(op.getKeyLabels().getType());
  auto type = cast<ModelTensorType>(op.getType());
  Value rowBase = l.pointer(op.getLabels()), keyBase = l.pointer(op.getKeyLabels()),
        target = l.allocatePointer(op->getResult(0));
  Value rowCount = l.size(mask::lastSize(op.getLabels())), keyCount = l.size(mask::lastSize(op.getKeyLabels()));
  Value stride = l.size(type.getSize(1));
  bool documents = op.getLeft() == 0 && op.getRight() == 0 && op.getLabels() == op.getKeyLabels();
  l.forEach(op.getLoc(), l.size(type.getSize(0)), [&](Value batch) {
    LabelTable t{c,
                 op,
                 c.element(rowBase, rows, batch),
                 c.element(keyBase, keys, batch),
                 l.at(target, l.mul(batch, stride), c.i64),
                 rowCount,
                 keyCount};
    Value someRows = l.less(t.zero(), rowCount), someKeys = l.less(t.zero(), keyCount),
          some = c.both(someRows, someKeys);
    l.when(some, [&] {
      t.signatures();
      Value isBand = documents ? t.runs() : t.merge();
      c.write(t.table, t.zero(), arith::ExtUIOp::create(l.b, c.i64, isBand));
    });
  });
}

//===-- blocks and dense masks -------------------------------------------------------===//

/// The entries of a list in ascending order, each once, by taking the least that is left; an entry next to the previous
/// one extends its run.
static void blockRuns(TableCode c, mask::BlockRunsOp op) {
  Lowering &l = c.l;
  auto table = cast<ModelTensorType>(op.getType());
  Value source = l.pointer(op.getLists()), target = l.allocatePointer(op->getResult(0));
  Value entries = l.size(mask::lastSize(op.getLists())), stride = l.size(table.getSize(2)), zero = l.constant(0);
  int64_t size = std::min<int64_t>(op.getSize(), mask::kUnbounded);
  Value beyond = c.word(mask::kUnbounded / size + 1);
  l.forEach(op.getLoc(), l.size(table.getSize(0) * table.getSize(1)), [&](Value item) {
    Value from = l.at(source, l.mul(item, entries), c.i64), to = l.at(target, l.mul(item, stride), c.i64);
    // the last block taken (`beyond`: none is left), the number of runs so far
    Values made = l.Code::loop(zero, entries, 1, {c.word(-1), zero}, [&](Value, ValueRange now) -> Values {
      Value last = now[0], done = c.compare(Compare::eq, last, beyond);
      Values next =
          l.Code::loop(zero, l.select(done, zero, entries), 1, {beyond}, [&](Value i, ValueRange best) -> Values {
            Value v = c.read(from, i);
            return {l.select({c.compare(Compare::sgt, v, last), c.least(best[0], v), best[0]})};
          });
      Value block = next[0], found = c.compare(Compare::slt, block, beyond);
      Value known = c.both(found, l.less(zero, now[1])), follower = arith::AddIOp::create(l.b, last, c.word(1));
      Value follows = c.both(known, c.compare(Compare::eq, block, follower));
      Value count = l.select({c.both(found, c.exclusive(follows, c.flag(true))), l.add(now[1], 1), now[1]});
      l.when(found, [&] {
        Value slot = l.sub(l.mul(count, 2), l.constant(1)), begin = l.mul(l.toIndex(block), size);
        l.when(c.exclusive(follows, c.flag(true)), [&] { c.write(to, slot, l.toI64(begin)); });
        Value behind = l.add(slot, 1);
        c.write(to, behind, l.toI64(l.add(begin, size)));
      });
      return {block, count};
    });
    c.write(to, zero, l.toI64(made[1]));
  });
}

static void denseTable(TableCode c, mask::DenseTableOp op) {
  Lowering &l = c.l;
  auto dense = cast<ModelTensorType>(op.getTensor().getType()), table = cast<ModelTensorType>(op.getType());
  Type element = dense.getElementType();
  int64_t rank = dense.getRank();
  Value source = l.pointer(op.getTensor()), target = l.allocatePointer(op->getResult(0));
  Value rows = l.size(dense.getSize(rank - 2)), keys = l.size(dense.getSize(rank - 1));
  Length rowGranules = l.size(table.getSize(rank - 2)), words = l.size(table.getSize(rank));
  Value zero = l.constant(0);
  Value granules = l.div(l.add(keys, kGranule - 1), l.constant(kGranule)), far = l.constant(kGranule);
  l.forEach(op.getLoc(), l.mul(l.count(table, 0, rank - 2), rowGranules), [&](Value item) {
    Value firstRow = l.mul(l.rem(item, rowGranules), mask::kRowGranule);
    Value lastRow = l.min(rows, l.add(firstRow, mask::kRowGranule));
    Value from = l.at(source, l.mul(l.mul(l.div(item, rowGranules), rows), keys), element);
    Value to = l.at(target, l.mul(l.mul(item, words), 2), c.i64);
    l.Code::loop(zero, words, 1, [&](Value w) {
      Value first = l.mul(w, 64), last = l.min(granules, l.add(first, 64));
      Values bits = l.Code::loop(first, last, 1, {c.word(0), c.word(0)}, [&](Value g, ValueRange now) -> Values {
        Value key = l.mul(g, kGranule), count = l.min(far, l.sub(keys, key)), whole = c.bitRange(zero, count);
        Values seen = l.Code::loop(firstRow, lastRow, 1, {c.word(0), whole}, [&](Value r, ValueRange s) -> Values {
          Value set = c.setBits(from, element, l.add(l.mul(r, keys), key), count);
          return {c.either(s[0], set), c.both(s[1], set)};
        });
        Value at = l.toI64(l.sub(g, first));
        auto bit = [&](Value condition) { return c.up(Value(arith::ExtUIOp::create(l.b, c.i64, condition)), at); };
        return {c.either(now[0], bit(c.compare(Compare::ne, seen[0], c.word(0)))),
                c.either(now[1], bit(c.compare(Compare::eq, seen[1], whole)))};
      });
      c.write(to, w, bits[0]);
      c.write(to, l.add(words, w), bits[1]);
    });
  });
}

LogicalResult heddle::loops::lowerMaskTable(Lowering &l, Operation *op) {
  l.b.setLoc(op->getLoc());
  TableCode c{l};
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](mask::KeyTableOp o) { keyTable(c, o); })
      .Case([&](mask::RowCountsOp o) { rowCounts(c, o); })
      .Case([&](mask::LabelTableOp o) { labelTable(c, o); })
      .Case([&](mask::BlockRunsOp o) { blockRuns(c, o); })
      .Case([&](mask::DenseTableOp o) { denseTable(c, o); });
  l.barrier(op->getLoc());
  return success();
}
