//===- EmitSets.cpp - sets of keys and of rows ----------------------------===//
//
// Code of sets of keys and rows. With a table a run of keys takes one load and a tile of rows two
// (MaskTables.h). Without one the data is scanned: keys from `key` on while the state stays the same, at
// most to the end of a granule; the rows of a tile one by one, once for the tile.
//===----------------------------------------------------------------------===//

#include "dialects/Mask/Emission/MaskCode.h"
#include "dialects/Mask/IR/MaskTables.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace heddle::mask;
using heddle::model::ModelTensorType;
using Compare = arith::CmpIPredicate;

//===-- helpers shared with the other leaves ------------------------------===//

Value heddle::mask::rowIndex(Emitter &e, OpBuilder &b, Value row) { return IntCode{b, e.loc}.sub(row, e.past); }

Value heddle::mask::keyRow(Emitter &e, OpBuilder &b, Value key) {
  if (e.stride == 1)
    return key;
  IntCode c{b, e.loc};
  if (!isa<VectorType>(key.getType()))
    return c.add(e.offset, c.mul(key, c.constant(e.stride)));
  Value offset = arith::IndexCastOp::create(b, e.loc, b.getI32Type(), e.offset);
  Value stride = arith::ConstantIntOp::create(b, e.loc, e.stride, 32);
  Value start = c.spread(offset, key), steps = c.mul(key, c.spread(stride, key));
  return c.add(start, steps);
}

Value heddle::mask::keyFrom(Emitter &e, OpBuilder &b, Value keyRow) {
  if (e.stride == 1)
    return keyRow;
  IntCode c{b, e.loc};
  return c.ceilDiv(c.sub(keyRow, e.offset), e.stride);
}

Value heddle::mask::lastLength(Emitter &e, Value tensor) {
  return e.lengthOf(tensor, cast<ModelTensorType>(tensor.getType()).getRank() - 1);
}

Value heddle::mask::loadAlong(Emitter &e, OpBuilder &b, Value tensor, Value last) {
  SmallVector<Value> at;
  if (cast<ModelTensorType>(tensor.getType()).getRank() == 2)
    at.push_back(e.batch);
  at.push_back(last);
  return e.load(b, tensor, at);
}

SmallVector<Value> heddle::mask::overRows(Emitter &e, ValueRange inits,
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
  // Keys after the limit must not be read: the last one is read again instead.
  auto [any2, all2] = state(b, c.choose(inside, k, key));
  Value sameAny = c.compare(Compare::eq, any, any2), sameAll = c.compare(Compare::eq, all, all2),
        same = c.both(sameAny, sameAll);
  scf::ConditionOp::create(b, e.loc, c.both(inside, same), before->getArguments());
  Block *after = b.createBlock(&loop.getAfter(), {}, {index}, {e.loc});
  scf::YieldOp::create(b, e.loc, ValueRange{c.add(after->getArgument(0), one)});
  return {any, all, loop.getResult(0)};
}

//===-- keys and queries -------------------------------------------------------===//

/// As scanStretch, for a predicate of the key alone, with vectors of keys.
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
    Value more = c.less(k, limit), alike = c.compare(Compare::eq, differ, none), go = c.both(more, alike);
    scf::ConditionOp::create(b, e.loc, go, ValueRange{k, differ});
    Block *after = b.createBlock(&loop.getAfter(), {}, {index, bits}, {e.loc, e.loc});
    scf::YieldOp::create(b, e.loc, ValueRange{c.add(after->getArgument(0), c.constant(e.lanes))});
  }
  Value same = math::CountTrailingZerosOp::create(b, e.loc, loop.getResult(1));
  same = arith::IndexCastUIOp::create(b, e.loc, index, same);
  return {first, first, c.min(limit, c.add(loop.getResult(0), same))};
}

namespace {
/// The first key that is set and the end of the last one; computed once for a tile.
struct KeyEnds {
  Value first, stop;
};
} // namespace

static KeyEnds keyEnds(KeysOp op, Emitter &e) {
  auto &kept = e.kept[op];
  if (kept.empty()) {
    IntCode c{e.tile, e.loc};
    auto at = [&](int64_t n) { return c.index(e.load(e.tile, op.getTable(), {e.batch, c.constant(n)})); };
    kept = {keyFrom(e, e.tile, at(0)), keyFrom(e, e.tile, at(1))};
  }
  return {kept[0], kept[1]};
}

/// Between these two the entry of the granule has the state; outside nothing is set.
static Segment lookUpKeys(KeysOp op, Emitter &e, Value key) {
  auto [first, stop] = keyEnds(op, e);
  IntCode c{e.step, e.loc};
  Value at = c.add(c.div(keyRow(e, e.step, key), kGranule), c.constant(2));
  Value entry = c.index(e.load(e.step, op.getTable(), {e.batch, at}));
  Value state = c.both(entry, c.constant(3)), end = arith::ShRUIOp::create(e.step, e.loc, entry, c.constant(2));
  end = keyFrom(e, e.step, end);
  Value before = c.less(key, first), notBefore = c.invert(before), inside = c.both(notBefore, c.less(key, stop));
  Value later = c.choose(inside, end, c.constant(kUnbounded));
  return {c.both(inside, c.compare(Compare::ne, state, c.constant(0))),
          c.both(inside, c.compare(Compare::eq, state, c.constant(2))), c.choose(before, first, later)};
}

static Segment segmentOf(KeysOp op, Emitter &e, Value key) {
  if (op.getTable())
    return lookUpKeys(op, e, key);
  if (lastSize(op.getTensor()).is(1)) {
    IntCode c{e.tile, e.loc};
    Value set = c.isSet(loadAlong(e, e.tile, op.getTensor(), c.constant(0)));
    return everywhere(e, set, set);
  }
  if (e.lanes >= 8 && e.stride == 1)
    return scanVectors(e, key, op.getTensor());
  return scanStretch(e, key, [&](OpBuilder &b, Value k) -> std::pair<Value, Value> {
    Value set = IntCode{b, e.loc}.isSet(loadAlong(e, b, op.getTensor(), keyRow(e, b, k)));
    return {set, set};
  });
}
static Hull hullOf(KeysOp op, Emitter &e) {
  if (!op.getTable())
    return {};
  auto [first, stop] = keyEnds(op, e);
  return {first, stop};
}
static Value contains(KeysOp op, Emitter &e, Value, Value key) {
  IntCode c{e.step, e.loc};
  return c.spread(c.isSet(loadAlong(e, e.step, op.getTensor(), keyRow(e, e.step, key))), key);
}

/// (any, all) of the tile's rows.
static std::pair<Value, Value> rowsOf(QueriesOp op, Emitter &e) {
  auto &kept = e.kept[op];
  if (kept.empty()) {
    IntCode c{e.tile, e.loc};
    Value first = rowIndex(e, e.tile, e.first), stop = c.add(rowIndex(e, e.tile, e.last), c.constant(1));
    SmallVector<Value> bits;
    if (op.getTable()) {
      auto before = [&](Value row) { return c.index(e.load(e.tile, op.getTable(), {e.batch, row})); };
      Value setToStop = before(stop), set = c.sub(setToStop, before(first));
      bits = {c.compare(Compare::ne, set, c.constant(0)), c.compare(Compare::eq, set, c.sub(stop, first))};
    } else {
      bits = overRows(e, {c.flag(false), c.flag(true)},
                      [&](OpBuilder &b, Value r, ValueRange carried) -> SmallVector<Value> {
                        IntCode s{b, e.loc};
                        Value set = s.isSet(loadAlong(e, b, op.getTensor(), r));
                        return {s.either(carried[0], set), s.both(carried[1], set)};
                      });
    }
    e.kept[op] = bits;
    return {bits[0], bits[1]};
  }
  return {kept[0], kept[1]};
}

static Segment segmentOf(QueriesOp op, Emitter &e, Value) {
  auto [any, all] = rowsOf(op, e);
  return everywhere(e, any, all);
}
static Hull hullOf(QueriesOp op, Emitter &e) {
  if (!op.getTable())
    return {};
  IntCode c{e.tile, e.loc};
  return {Value(), c.choose(rowsOf(op, e).first, c.constant(kUnbounded), c.constant(-kUnbounded))};
}
static Value contains(QueriesOp op, Emitter &e, Value row, Value key) {
  IntCode c{e.tile, e.loc};
  Value set = c.isSet(loadAlong(e, e.tile, op.getTensor(), rowIndex(e, e.tile, row)));
  return IntCode{e.step, e.loc}.spread(set, key);
}

void heddle::mask::attachSets(MLIRContext &context) {
  KeysOp::attachInterface<CodeOf<KeysOp, segmentOf, hullOf, contains>>(context);
  QueriesOp::attachInterface<CodeOf<QueriesOp, segmentOf, hullOf, contains>>(context);
}
