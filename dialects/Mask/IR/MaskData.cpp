//===- MaskData.cpp - leaves that are read from tensors -------------------===//
//
// Stretches of keys are found by looking: from `key` on, as long as the state stays what it
// is, at most to the end of its granule. What depends on the rows of a tile is gathered
// once a tile (least and greatest label; any and all of the set).
//
//===----------------------------------------------------------------------===//

#include "dialects/Mask/IR/MaskCode.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <limits>

using namespace mlir;
using namespace heddle::mask;
using heddle::model::ModelTensorType;
using Compare = arith::CmpIPredicate;

//===-- helpers shared with the windows on labels ------------------------------===//

Value heddle::mask::rowIndex(Emitter &e, OpBuilder &b, Value row) { return IntCode{b, e.loc}.sub(row, e.past); }

Value heddle::mask::loadAlong(Emitter &e, OpBuilder &b, Value tensor, Value last) {
  SmallVector<Value> at;
  if (cast<ModelTensorType>(tensor.getType()).getRank() == 2)
    at.push_back(e.batch);
  at.push_back(last);
  return e.load(b, tensor, at);
}

/// body(b, row index of this call, carried) for every row of the tile.
static SmallVector<Value> overRows(Emitter &e, ValueRange inits,
                                   llvm::function_ref<SmallVector<Value>(OpBuilder &, Value, ValueRange)> body) {
  OpBuilder &b = e.tile;
  IntCode c{b, e.loc};
  Value lo = rowIndex(e, b, e.first), hi = c.add(rowIndex(e, b, e.last), c.constant(1));
  auto loop = scf::ForOp::create(b, e.loc, lo, hi, c.constant(1), inits);
  OpBuilder inner = OpBuilder::atBlockEnd(loop.getBody());
  SmallVector<Value> next = body(inner, loop.getInductionVar(), loop.getRegionIterArgs());
  scf::YieldOp::create(inner, e.loc, next);
  return llvm::to_vector_of<Value>(loop.getResults());
}

static Value extremum(IntCode c, bool least, Value x, Value y) {
  if (!isa<FloatType>(x.getType()))
    return least ? c.min(x, y) : c.max(x, y);
  return least ? arith::MinimumFOp::create(c.b, c.loc, x, y).getResult() : arith::MaximumFOp::create(c.b, c.loc, x, y).getResult();
}

std::pair<Value, Value> heddle::mask::rowRange(Emitter &e, Operation *op, Value tensor) {
  auto &kept = e.kept[op];
  if (kept.empty()) {
    Value start = loadAlong(e, e.tile, tensor, rowIndex(e, e.tile, e.first));
    if (start.getType().isInteger(1))
      start = arith::ExtUIOp::create(e.tile, e.loc, e.tile.getI64Type(), start);
    SmallVector<Value> range = overRows(e, {start, start}, [&](OpBuilder &b, Value r, ValueRange carried) -> SmallVector<Value> {
      IntCode c{b, e.loc};
      Value v = loadAlong(e, b, tensor, r);
      if (v.getType().isInteger(1))
        v = arith::ExtUIOp::create(b, e.loc, b.getI64Type(), v);
      return {extremum(c, true, carried[0], v), extremum(c, false, carried[1], v)};
    });
    e.kept[op] = range;
    return {range[0], range[1]};
  }
  return {kept[0], kept[1]};
}

Segment heddle::mask::scanStretch(Emitter &e, Value key, StateAt state) {
  constexpr int64_t granule = 128;
  OpBuilder &b = e.step;
  IntCode c{b, e.loc};
  auto [any, all] = state(b, key);
  Value one = c.constant(1), limit = c.min(c.mul(c.add(c.div(key, granule), one), c.constant(granule)), e.keys);
  Type index = b.getIndexType();
  auto loop = scf::WhileOp::create(b, e.loc, TypeRange{index}, ValueRange{c.add(key, one)});
  OpBuilder::InsertionGuard guard(b);
  Block *before = b.createBlock(&loop.getBefore(), {}, {index}, {e.loc});
  Value k = before->getArgument(0), inside = c.less(k, limit);
  // Behind the limit nothing may be read: the last key is looked at once more.
  auto [any2, all2] = state(b, c.choose(inside, k, key));
  Value same = c.both(c.compare(Compare::eq, any, any2), c.compare(Compare::eq, all, all2));
  scf::ConditionOp::create(b, e.loc, c.both(inside, same), before->getArguments());
  Block *after = b.createBlock(&loop.getAfter(), {}, {index}, {e.loc});
  scf::YieldOp::create(b, e.loc, ValueRange{c.add(after->getArgument(0), one)});
  return {any, all, loop.getResult(0)};
}

//===-- keys and queries -------------------------------------------------------===//

/// As scanStretch, for a predicate of the key alone: a vector of keys at a time.
static Segment scanVectors(Emitter &e, Value key, Value tensor) {
  constexpr int64_t granule = 512;
  OpBuilder &b = e.step;
  IntCode c{b, e.loc};
  Value first = c.isSet(loadAlong(e, b, tensor, key));
  Value limit = c.min(c.mul(c.add(c.div(key, granule), c.constant(1)), c.constant(granule)), e.keys);
  Type index = b.getIndexType(), bits = b.getIntegerType(e.lanes);
  auto loop = scf::WhileOp::create(b, e.loc, TypeRange{index, bits}, ValueRange{key});
  {
    OpBuilder::InsertionGuard guard(b);
    Block *before = b.createBlock(&loop.getBefore(), {}, {index}, {e.loc});
    Value k = before->getArgument(0);
    SmallVector<int32_t> steps;
    for (int32_t i = 0; i < e.lanes; ++i)
      steps.push_back(i);
    auto words = VectorType::get({e.lanes}, b.getI32Type());
    Value up = arith::ConstantOp::create(b, e.loc, DenseIntElementsAttr::get(words, steps));
    Value at = arith::IndexCastOp::create(b, e.loc, b.getI32Type(), k);
    Value keys = c.add(c.spread(at, up), up);
    Value set = c.spread(c.isSet(loadAlong(e, b, tensor, keys)), keys);
    Value other = arith::XOrIOp::create(b, e.loc, set, c.spread(first, keys));
    Value packed = vector::BitCastOp::create(b, e.loc, VectorType::get({1}, bits), other);
    Value differ = vector::ExtractOp::create(b, e.loc, packed, ArrayRef<int64_t>{0});
    Value none = arith::ConstantOp::create(b, e.loc, b.getIntegerAttr(bits, 0));
    Value go = c.both(c.less(k, limit), c.compare(Compare::eq, differ, none));
    scf::ConditionOp::create(b, e.loc, go, ValueRange{k, differ});
    Block *after = b.createBlock(&loop.getAfter(), {}, {index, bits}, {e.loc, e.loc});
    scf::YieldOp::create(b, e.loc, ValueRange{c.add(after->getArgument(0), c.constant(e.lanes))});
  }
  Value same = math::CountTrailingZerosOp::create(b, e.loc, loop.getResult(1));
  same = arith::IndexCastUIOp::create(b, e.loc, index, same);
  return {first, first, c.min(limit, c.add(loop.getResult(0), same))};
}

Segment KeysOp::emitSegment(Emitter &e, Value key) {
  if (e.lanes >= 8)
    return scanVectors(e, key, getTensor());
  return scanStretch(e, key, [&](OpBuilder &b, Value k) -> std::pair<Value, Value> {
    Value set = IntCode{b, e.loc}.isSet(loadAlong(e, b, getTensor(), k));
    return {set, set};
  });
}
Hull KeysOp::emitHull(Emitter &) { return {}; }
Value KeysOp::emitContains(Emitter &e, Value, Value key) {
  IntCode c{e.step, e.loc};
  return c.spread(c.isSet(loadAlong(e, e.step, getTensor(), key)), key);
}

Segment QueriesOp::emitSegment(Emitter &e, Value) {
  if (!e.kept.count(*this)) {
    IntCode c{e.tile, e.loc};
    e.kept[*this] = overRows(e, {c.flag(false), c.flag(true)}, [&](OpBuilder &b, Value r, ValueRange carried) -> SmallVector<Value> {
      IntCode s{b, e.loc};
      Value set = s.isSet(loadAlong(e, b, getTensor(), r));
      return {s.either(carried[0], set), s.both(carried[1], set)};
    });
  }
  return everywhere(e, e.kept[*this][0], e.kept[*this][1]);
}
Hull QueriesOp::emitHull(Emitter &) { return {}; }
Value QueriesOp::emitContains(Emitter &e, Value row, Value key) {
  IntCode c{e.tile, e.loc};
  Value set = c.isSet(loadAlong(e, e.tile, getTensor(), rowIndex(e, e.tile, row)));
  return IntCode{e.step, e.loc}.spread(set, key);
}

//===-- documents --------------------------------------------------------------===//

/// Ids between the rows' least and greatest may meet; one id on both sides surely does.
Segment DocumentOp::emitSegment(Emitter &e, Value key) {
  auto [least, greatest] = rowRange(e, *this, getQueryIds());
  bool real = isa<FloatType>(least.getType());
  auto atMost = [&](OpBuilder &b, Value x, Value y) -> Value {
    if (real)
      return arith::CmpFOp::create(b, e.loc, arith::CmpFPredicate::OLE, x, y);
    return arith::CmpIOp::create(b, e.loc, Compare::sle, x, y);
  };
  if (real) { // a NaN among the rows decides nothing: it meets no id, the others may
    IntCode c{e.tile, e.loc};
    return everywhere(e, c.flag(true), c.flag(false));
  }
  return scanStretch(e, key, [&](OpBuilder &b, Value k) -> std::pair<Value, Value> {
    IntCode c{b, e.loc};
    Value id = loadAlong(e, b, getKeyIds(), k);
    if (id.getType().isInteger(1))
      id = arith::ExtUIOp::create(b, e.loc, b.getI64Type(), id);
    Value any = c.both(atMost(b, least, id), atMost(b, id, greatest));
    return {any, c.both(any, c.compare(Compare::eq, least, greatest))};
  });
}
Hull DocumentOp::emitHull(Emitter &) { return {}; }
Value DocumentOp::emitContains(Emitter &e, Value row, Value key) {
  Value own = loadAlong(e, e.tile, getQueryIds(), rowIndex(e, e.tile, row));
  Value other = loadAlong(e, e.step, getKeyIds(), key);
  IntCode c{e.step, e.loc};
  return c.spread(c.equal(other, own), key);
}

//===-- block lists ------------------------------------------------------------===//

/// How often lists[(h,) row block] holds key block `c` (i64; index row block inside the table
/// or not: then never).
static Value listed(BlocksOp op, OpBuilder &b, Emitter &e, Value rowBlock, Value keyBlock) {
  IntCode c{b, e.loc};
  auto type = cast<ModelTensorType>(op.getLists().getType());
  int64_t rank = type.getRank();
  Value rows = e.lengthOf(type.getSize(rank - 2)), entries = e.lengthOf(type.getSize(rank - 1));
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

Segment BlocksOp::emitSegment(Emitter &e, Value key) {
  OpBuilder &b = e.step;
  IntCode c{b, e.loc};
  int64_t size = getSize();
  Value keyBlock = c.div(key, size), first = c.div(e.first, size), last = c.div(e.last, size), one = c.constant(1);
  auto loop = scf::ForOp::create(b, e.loc, first, c.add(last, one), one, ValueRange{c.flag(false), c.flag(true)});
  OpBuilder inner = OpBuilder::atBlockEnd(loop.getBody());
  IntCode s{inner, e.loc};
  Value seen = s.isSet(listed(*this, inner, e, loop.getInductionVar(), keyBlock));
  scf::YieldOp::create(inner, e.loc, ValueRange{s.either(loop.getRegionIterArgs()[0], seen), s.both(loop.getRegionIterArgs()[1], seen)});
  return {loop.getResult(0), loop.getResult(1), c.mul(c.add(keyBlock, one), c.constant(size))};
}
Hull BlocksOp::emitHull(Emitter &) { return {}; }

/// The blocks of a key that is an index or a vector.
Value heddle::mask::emitMultiplicity(BlocksOp op, Emitter &e, Value row, Value key) {
  IntCode c{e.step, e.loc};
  int64_t size = op.getSize();
  Value rowBlock = IntCode{e.tile, e.loc}.div(row, size), keyBlock;
  if (isa<VectorType>(key.getType())) {
    Value n = c.spread(arith::ConstantIntOp::create(e.step, e.loc, std::min<int64_t>(size, kUnbounded), 32).getResult(), key);
    keyBlock = arith::DivUIOp::create(e.step, e.loc, key, n);
  } else {
    keyBlock = c.div(key, size);
  }
  return listed(op, e.step, e, rowBlock, keyBlock);
}
Value BlocksOp::emitContains(Emitter &e, Value row, Value key) {
  return IntCode{e.step, e.loc}.isSet(emitMultiplicity(*this, e, row, key));
}

//===-- dense ------------------------------------------------------------------===//

Segment DenseOp::emitSegment(Emitter &e, Value) {
  IntCode c{e.tile, e.loc};
  return everywhere(e, c.flag(true), c.flag(false));
}
Hull DenseOp::emitHull(Emitter &) { return {}; }
Value DenseOp::emitContains(Emitter &e, Value row, Value key) {
  int64_t rank = cast<ModelTensorType>(getTensor().getType()).getRank();
  SmallVector<Value> at;
  if (rank > 2)
    at.push_back(e.batch);
  if (rank > 3)
    at.push_back(e.head);
  at.push_back(rowIndex(e, e.step, row));
  at.push_back(key);
  IntCode c{e.step, e.loc};
  return c.spread(c.isSet(e.load(e.step, getTensor(), at)), key);
}
