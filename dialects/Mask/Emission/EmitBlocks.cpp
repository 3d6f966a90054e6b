//===- EmitBlocks.cpp - block lists and dense masks -----------------------===//
//
// Block lists are looked up in runs of keys (block_runs), dense masks in two bits for every 8 rows and
// 16 keys (dense_table); both tables are computed once in each call (MaskTables.h). Without its table
// a list is searched, and a dense mask is undecided everywhere.
//
//===----------------------------------------------------------------------===//

#include "dialects/Mask/Emission/MaskCode.h"
#include "dialects/Mask/IR/MaskTables.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace heddle::mask;
using heddle::model::ModelTensorType;
using Compare = arith::CmpIPredicate;

//===-- block lists ------------------------------------------------------------===//

/// How often lists[(h,) row block] contains key block `c` (i64); 0 for a row block beyond the lists.
static Value listed(BlocksOp op, OpBuilder &b, Emitter &e, Value rowBlock, Value keyBlock) {
  IntCode c{b, e.loc};
  auto type = cast<ModelTensorType>(op.getLists().getType());
  int64_t rank = type.getRank();
  Value rows = e.lengthOf(op.getLists(), rank - 2), entries = e.lengthOf(op.getLists(), rank - 1);
  Value zero = c.constant(0), inside = c.less(rowBlock, rows), wanted = c.wide(keyBlock);
  Value none = arith::ConstantOp::create(b, e.loc, b.getZeroAttr(wanted.getType()));
  auto loop = scf::ForOp::create(b, e.loc, zero, c.choose(inside, entries, zero), c.constant(1), ValueRange{none});
  OpBuilder inner = OpBuilder::atBlockEnd(loop.getBody());
  IntCode s{inner, e.loc};
  SmallVector<Value> at = {rowBlock, loop.getInductionVar()};
  if (rank == 3)
    at.insert(at.begin(), e.head);
  Value hit = s.equal(wanted, e.load(inner, op.getLists(), at));
  Value one = arith::ExtUIOp::create(inner, e.loc, wanted.getType(), hit);
  scf::YieldOp::create(inner, e.loc, ValueRange{s.add(loop.getRegionIterArgs()[0], one)});
  return loop.getResult(0);
}

/// A loop over the row blocks that the tile covers: body(b, row block, carried values).
static SmallVector<Value> overRowBlocks(BlocksOp op, Emitter &e, OpBuilder &b, ValueRange inits,
                                        llvm::function_ref<SmallVector<Value>(OpBuilder &, Value, ValueRange)> body) {
  IntCode t{e.tile, e.loc}, c{b, e.loc};
  Value first = t.div(e.first, op.getSize()), stop = t.add(t.div(e.last, op.getSize()), t.constant(1));
  auto loop = scf::ForOp::create(b, e.loc, first, stop, c.constant(1), inits);
  OpBuilder inner = OpBuilder::atBlockEnd(loop.getBody());
  SmallVector<Value> next = body(inner, loop.getInductionVar(), loop.getRegionIterArgs());
  scf::YieldOp::create(inner, e.loc, next);
  return llvm::to_vector_of<Value>(loop.getResults());
}

static Value hasList(BlocksOp op, Emitter &e, OpBuilder &b, Value rowBlock) {
  auto type = cast<ModelTensorType>(op.getLists().getType());
  return IntCode{b, e.loc}.less(rowBlock, e.lengthOf(op.getLists(), type.getRank() - 2));
}

/// Entry `n` of the runs of a row block, as an index.
static Value runEntry(BlocksOp op, Emitter &e, OpBuilder &b, Value rowBlock, Value n) {
  return IntCode{b, e.loc}.index(e.load(b, op.getTable(), {e.head, rowBlock, n}));
}
/// The number of runs of a row block; 0 beyond the lists.
static Value runCount(BlocksOp op, Emitter &e, OpBuilder &b, Value rowBlock) {
  IntCode c{b, e.loc};
  Value zero = c.constant(0), inside = hasList(op, e, b, rowBlock);
  Value count = runEntry(op, e, b, c.choose(inside, rowBlock, zero), zero);
  return c.choose(inside, count, zero);
}

/// The first run of a row block that ends after `key`, or an empty one far away. Runs ascend, so those
/// before it do not matter.
static std::pair<Value, Value> stretchAt(BlocksOp op, Emitter &e, OpBuilder &b, Value rowBlock, Value key) {
  IntCode c{b, e.loc};
  Type index = b.getIndexType();
  Value zero = c.constant(0), one = c.constant(1), two = c.constant(2), far = c.constant(kUnbounded);
  Value last = c.mul(runCount(op, e, b, rowBlock), two); // the entry with the last end
  Value row = c.choose(hasList(op, e, b, rowBlock), rowBlock, zero), most = c.sub(lastLength(e, op.getTable()), one);
  auto loop = scf::WhileOp::create(b, e.loc, TypeRange{index, index}, ValueRange{two});
  {
    OpBuilder::InsertionGuard guard(b);
    Block *before = b.createBlock(&loop.getBefore(), {}, {index}, {e.loc});
    Value at = before->getArgument(0), inside = c.compare(Compare::sle, at, last);
    // Loaded unconditionally (the index is clamped), so that the load need not wait for the compare.
    Value end = c.choose(inside, runEntry(op, e, b, row, c.min(at, most)), far);
    scf::ConditionOp::create(b, e.loc, c.compare(Compare::sle, end, key), ValueRange{at, end});
    Block *after = b.createBlock(&loop.getAfter(), {}, {index, index}, {e.loc, e.loc});
    scf::YieldOp::create(b, e.loc, ValueRange{c.add(after->getArgument(0), two)});
  }
  Value at = loop.getResult(0), found = c.compare(Compare::sle, at, last);
  Value begin = runEntry(op, e, b, row, c.min(c.sub(at, one), most));
  return {c.choose(found, begin, far), loop.getResult(1)};
}

static Segment lookUpRuns(BlocksOp op, Emitter &e, Value key) {
  IntCode c{e.step, e.loc};
  Value far = c.constant(kUnbounded);
  SmallVector<Value> joined =
      overRowBlocks(op, e, e.step, {c.flag(false), c.flag(true), far},
                    [&](OpBuilder &b, Value rowBlock, ValueRange outer) -> SmallVector<Value> {
                      auto [begin, end] = stretchAt(op, e, b, rowBlock, key);
                      IntCode s{b, e.loc};
                      Value seen = s.compare(Compare::sle, begin, key), next = s.choose(seen, end, begin);
                      return {s.either(outer[0], seen), s.both(outer[1], seen), s.min(outer[2], next)};
                    });
  return {joined[0], joined[1], joined[2]};
}

static Segment segmentOf(BlocksOp op, Emitter &e, Value key) {
  if (op.getTable())
    return lookUpRuns(op, e, key);
  IntCode c{e.step, e.loc};
  int64_t size = op.getSize();
  Value keyBlock = c.div(key, size);
  SmallVector<Value> bits = overRowBlocks(op, e, e.step, {c.flag(false), c.flag(true)},
                                          [&](OpBuilder &b, Value rowBlock, ValueRange carried) -> SmallVector<Value> {
                                            IntCode s{b, e.loc};
                                            Value seen = s.isSet(listed(op, b, e, rowBlock, keyBlock));
                                            return {s.either(carried[0], seen), s.both(carried[1], seen)};
                                          });
  return {bits[0], bits[1], c.mul(c.add(keyBlock, c.constant(1)), c.constant(size))};
}

/// From the first run of any row block of the tile to the last.
static Hull hullOf(BlocksOp op, Emitter &e) {
  if (!op.getTable())
    return {};
  IntCode c{e.tile, e.loc};
  SmallVector<Value> ends =
      overRowBlocks(op, e, e.tile, {c.constant(kUnbounded), c.constant(0)},
                    [&](OpBuilder &b, Value rowBlock, ValueRange carried) -> SmallVector<Value> {
                      IntCode s{b, e.loc};
                      Value count = runCount(op, e, b, rowBlock), none = s.compare(Compare::eq, count, s.constant(0));
                      Value row = s.choose(none, s.constant(0), rowBlock),
                            last = s.choose(none, s.constant(0), s.mul(count, s.constant(2)));
                      Value begin = s.choose(none, s.constant(kUnbounded), runEntry(op, e, b, row, s.constant(1)));
                      Value end = s.choose(none, s.constant(0), runEntry(op, e, b, row, last));
                      return {s.min(carried[0], begin), s.max(carried[1], end)};
                    });
  return {ends[0], ends[1]};
}

/// `key` is an index or a vector of keys.
Value heddle::mask::emitMultiplicity(BlocksOp op, Emitter &e, Value row, Value key) {
  IntCode c{e.step, e.loc};
  int64_t size = op.getSize();
  Value rowBlock = IntCode{e.tile, e.loc}.div(row, size), keyBlock;
  if (isa<VectorType>(key.getType())) {
    Value n =
        c.spread(arith::ConstantIntOp::create(e.step, e.loc, std::min<int64_t>(size, kUnbounded), 32).getResult(), key);
    keyBlock = arith::DivUIOp::create(e.step, e.loc, key, n);
  } else {
    keyBlock = c.div(key, size);
  }
  return listed(op, e.step, e, rowBlock, keyBlock);
}
static Value contains(BlocksOp op, Emitter &e, Value row, Value key) {
  return IntCode{e.step, e.loc}.isSet(emitMultiplicity(op, e, row, key));
}

//===-- dense ------------------------------------------------------------------===//

/// The index (batch, head) in front of an entry's last axes, as far as the tensor has these axes.
static SmallVector<Value> outerIndex(DenseOp op, Emitter &e) {
  int64_t rank = cast<ModelTensorType>(op.getTensor().getType()).getRank();
  SmallVector<Value> at;
  if (rank > 2)
    at.push_back(e.batch);
  if (rank > 3)
    at.push_back(e.head);
  return at;
}

/// Joins the bits of 64 granules of keys over the granules of rows that the tile covers; the segment
/// ends where one of the two bits changes.
static Segment lookUpBits(DenseOp op, Emitter &e, Value key) {
  OpBuilder &b = e.step;
  IntCode c{b, e.loc}, t{e.tile, e.loc};
  Type i64 = b.getI64Type();
  auto word = [&](OpBuilder &at, int64_t v) -> Value { return arith::ConstantIntOp::create(at, e.loc, v, 64); };
  Value first = t.div(rowIndex(e, e.tile, e.first), kRowGranule);
  Value stop = t.add(t.div(rowIndex(e, e.tile, e.last), kRowGranule), t.constant(1));
  Value column = c.div(key, kWordKeys), one = c.constant(1);
  auto loop = scf::ForOp::create(b, e.loc, first, stop, one, ValueRange{word(b, 0), word(b, -1)});
  {
    OpBuilder in = OpBuilder::atBlockEnd(loop.getBody());
    IntCode i{in, e.loc};
    auto part = [&](int64_t n) {
      SmallVector<Value> at = outerIndex(op, e);
      at.append({loop.getInductionVar(), i.constant(n), column});
      return e.load(in, op.getTable(), at);
    };
    scf::YieldOp::create(
        in, e.loc,
        ValueRange{i.either(loop.getRegionIterArgs()[0], part(0)), i.both(loop.getRegionIterArgs()[1], part(1))});
  }
  Value granule = c.div(key, kGranule), shift = arith::IndexCastOp::create(b, e.loc, i64, c.rem(granule, 64));
  Value some = arith::ShRUIOp::create(b, e.loc, loop.getResult(0), shift),
        every = arith::ShRUIOp::create(b, e.loc, loop.getResult(1), shift);
  Type bit = b.getI1Type();
  Value any = arith::TruncIOp::create(b, e.loc, bit, some), all = arith::TruncIOp::create(b, e.loc, bit, every);
  auto changes = [&](Value bits, Value now) -> Value {
    return arith::XOrIOp::create(b, e.loc, bits, arith::ExtSIOp::create(b, e.loc, i64, now).getResult());
  };
  // The shift brings in zeros, which end the segment at the latest at the end of the word.
  Value changesAny = changes(some, any), changesAll = changes(every, all);
  Value same = math::CountTrailingZerosOp::create(b, e.loc, c.either(changesAny, changesAll));
  Value end = c.mul(c.add(granule, c.index(same)), c.constant(kGranule));
  return {any, all, c.min(end, c.mul(c.add(column, one), c.constant(kWordKeys)))};
}

static Segment segmentOf(DenseOp op, Emitter &e, Value key) {
  if (op.getTable())
    return lookUpBits(op, e, key);
  IntCode c{e.tile, e.loc};
  return everywhere(e, c.flag(true), c.flag(false));
}
static Hull hullOf(DenseOp op, Emitter &) { return {}; }
static Value contains(DenseOp op, Emitter &e, Value row, Value key) {
  SmallVector<Value> at = outerIndex(op, e);
  at.append({rowIndex(e, e.step, row), key});
  IntCode c{e.step, e.loc};
  return c.spread(c.isSet(e.load(e.step, op.getTensor(), at)), key);
}

void heddle::mask::attachBlocks(MLIRContext &context) {
  BlocksOp::attachInterface<CodeOf<BlocksOp, segmentOf, hullOf, contains>>(context);
  DenseOp::attachInterface<CodeOf<DenseOp, segmentOf, hullOf, contains>>(context);
}
