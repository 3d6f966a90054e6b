//===- EmitLabels.cpp - documents, and windows on labels ------------------===//
//
// Code of documents and of windows on labels: -left <= label(k) - label(q) <= right. With a table: if the
// keys of every row are one run that never moves back (labels that are sorted or contiguous, which is
// found at run time), it is a band whose bounds are looked up; otherwise signatures of 16 keys (least,
// greatest, set modulo 64) decide where labels can meet. Without a table keys are compared one by one.
//
//===----------------------------------------------------------------------===//

#include "dialects/Mask/Emission/MaskCode.h"
#include "dialects/Mask/IR/MaskTables.h"

using namespace mlir;
using namespace heddle::mask;
using Compare = arith::CmpIPredicate;

std::optional<int64_t> heddle::mask::labelSide(std::optional<uint64_t> side) {
  return side ? std::optional(std::max(int64_t(*side), -INT64_MAX)) : std::nullopt;
}

Labels heddle::mask::labelsOf(WindowOp op) {
  return {op,
          op.getLabels(),
          op.getKeyLabels() ? op.getKeyLabels() : op.getLabels(),
          op.getTable(),
          labelSide(op.getLeft()),
          labelSide(op.getRight())};
}
Labels heddle::mask::labelsOf(DocumentOp op) { return {op, op.getQueryIds(), op.getKeyIds(), op.getTable(), 0, 0}; }

static bool areReal(const Labels &l) {
  return isa<FloatType>(cast<heddle::model::ModelTensorType>(l.rows.getType()).getElementType()) ||
         isa<FloatType>(cast<heddle::model::ModelTensorType>(l.keys.getType()).getElementType());
}

static Value word(IntCode c, int64_t v) { return arith::ConstantIntOp::create(c.b, c.loc, v, 64); }

static Value labelAt(Emitter &e, OpBuilder &b, Value tensor, Value at) {
  Value v = loadAlong(e, b, tensor, at);
  return v.getType().isInteger(1) ? arith::ExtUIOp::create(b, e.loc, b.getI64Type(), v).getResult() : v;
}

//===-- the rows of a tile ---------------------------------------------------------===//

namespace {
/// The labels of a tile's rows: least, greatest, and the set of label mod 64.
struct RowSet {
  Value least, greatest, bits;
};
/// What is computed once for a tile: its labels and, with a table, the bounds if it is a band.
struct TileLabels {
  RowSet rows;
  Value isBand, firstBegin, lastBegin, firstEnd, lastEnd;
};
} // namespace

static Value bitOf(IntCode c, Value label) {
  return arith::ShLIOp::create(c.b, c.loc, word(c, 1), c.both(label, word(c, 63)));
}

static SmallVector<Value> gatherRows(const Labels &l, Emitter &e) {
  IntCode c{e.tile, e.loc};
  Value start = labelAt(e, e.tile, l.rows, rowIndex(e, e.tile, e.first));
  return overRows(e, {start, start, word(c, 0)}, [&](OpBuilder &b, Value r, ValueRange carried) -> SmallVector<Value> {
    IntCode s{b, e.loc};
    Value v = labelAt(e, b, l.rows, r);
    return {s.min(carried[0], v), s.max(carried[1], v), s.either(carried[2], bitOf(s, v))};
  });
}

/// Computed once for a tile; rows are read one by one only if the table is not a band.
static TileLabels tileLabels(const Labels &l, Emitter &e) {
  auto unpack = [](ArrayRef<Value> v) -> TileLabels {
    TileLabels t{{v[0], v[1], v[2]}, {}, {}, {}, {}, {}};
    if (v.size() > 3)
      t.isBand = v[3], t.firstBegin = v[4], t.lastBegin = v[5], t.firstEnd = v[6], t.lastEnd = v[7];
    return t;
  };
  if (auto it = e.kept.find(l.op); it != e.kept.end())
    return unpack(it->second);
  OpBuilder &b = e.tile;
  IntCode c{b, e.loc};
  SmallVector<Value> values;
  if (!l.table) {
    values = gatherRows(l, e);
  } else {
    auto at = [&](Value index) { return e.load(b, l.table, {e.batch, index}); };
    Value isBand = c.compare(Compare::ne, at(c.constant(0)), word(c, 0));
    Type i64 = b.getI64Type();
    auto rows = scf::IfOp::create(b, e.loc, TypeRange{i64, i64, i64}, isBand, true);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(rows.thenBlock());
      Value zero = word(c, 0);
      scf::YieldOp::create(b, e.loc, ValueRange{zero, zero, zero});
      b.setInsertionPointToStart(rows.elseBlock());
      scf::YieldOp::create(b, e.loc, gatherRows(l, e));
    }
    values = llvm::to_vector_of<Value>(rows.getResults());
    Value length = lastLength(e, l.rows), one = c.constant(1);
    Value first = c.add(rowIndex(e, b, e.first), one), last = c.add(rowIndex(e, b, e.last), one);
    values.push_back(isBand);
    for (Value index : {first, last, c.add(first, length), c.add(last, length)})
      values.push_back(c.index(at(index)));
  }
  e.kept[l.op] = values;
  return unpack(values);
}

//===-- segments -----------------------------------------------------------------===//

/// (any, all) for keys whose labels are in [least, greatest], and in `bits` modulo 64.
static std::pair<Value, Value> meets(const Labels &l, IntCode c, const RowSet &rows, Value least, Value greatest,
                                     Value bits) {
  Value any = c.flag(true), all = c.flag(true);
  if (l.left) {
    any = c.both(any, c.atLeast(greatest, rows.least, -*l.left));
    all = c.both(all, c.atLeast(least, rows.greatest, -*l.left));
  }
  if (l.right) {
    any = c.both(any, c.atMost(least, rows.greatest, *l.right));
    all = c.both(all, c.atMost(greatest, rows.least, *l.right));
  }
  if (l.equal() && bits)
    any = c.both(any, c.compare(Compare::ne, c.both(rows.bits, bits), word(c, 0)));
  return {any, all};
}

static Segment byKeys(const Labels &l, Emitter &e, Value key) {
  RowSet rows = tileLabels(l, e).rows;
  return scanStretch(e, key, [&](OpBuilder &b, Value k) {
    Value label = labelAt(e, b, l.keys, k);
    return meets(l, {b, e.loc}, rows, label, label, {});
  });
}

/// The segment of granules whose signatures give the same answer, at most sixteen.
static Segment bySignatures(const Labels &l, Emitter &e, const RowSet &rows, Value key) {
  OpBuilder &b = e.step;
  IntCode c{b, e.loc};
  Value first = c.add(c.mul(lastLength(e, l.rows), c.constant(2)), c.constant(1));
  auto state = [&](OpBuilder &at, Value granule) {
    IntCode s{at, e.loc};
    Value entry = s.add(first, s.mul(granule, s.constant(3)));
    auto part = [&](int64_t n) { return e.load(at, l.table, {e.batch, s.add(entry, s.constant(n))}); };
    Value least = part(0), greatest = part(1), bits = part(2);
    return meets(l, s, rows, least, greatest, bits);
  };
  Value granule = c.div(key, kGranule), one = c.constant(1);
  Value granules = c.div(c.add(lastLength(e, l.keys), c.constant(kGranule - 1)), kGranule);
  Value limit = c.min(c.add(granule, c.constant(16)), granules);
  auto [any, all] = state(b, granule);
  Type index = b.getIndexType();
  auto loop = scf::WhileOp::create(b, e.loc, TypeRange{index}, ValueRange{c.add(granule, one)});
  {
    OpBuilder::InsertionGuard guard(b);
    Block *before = b.createBlock(&loop.getBefore(), {}, {index}, {e.loc});
    Value g = before->getArgument(0), inside = c.less(g, limit);
    auto [any2, all2] = state(b, c.choose(inside, g, granule)); // never reads after the table
    Value sameAny = c.compare(Compare::eq, any, any2), sameAll = c.compare(Compare::eq, all, all2),
          same = c.both(sameAny, sameAll);
    scf::ConditionOp::create(b, e.loc, c.both(inside, same), before->getArguments());
    Block *after = b.createBlock(&loop.getAfter(), {}, {index}, {e.loc});
    scf::YieldOp::create(b, e.loc, ValueRange{c.add(after->getArgument(0), one)});
  }
  return {any, all, c.mul(loop.getResult(0), c.constant(kGranule))};
}

Segment heddle::mask::labelSegment(const Labels &l, Emitter &e, Value key) {
  if (areReal(l)) { // a row with NaN meets no key, so bounds over rows decide nothing
    IntCode c{e.tile, e.loc};
    return everywhere(e, c.flag(true), c.flag(false));
  }
  if (!l.table)
    return byKeys(l, e, key);
  TileLabels t = tileLabels(l, e);
  OpBuilder &b = e.step;
  Type bit = b.getI1Type();
  auto either = scf::IfOp::create(b, e.loc, TypeRange{bit, bit, b.getIndexType()}, t.isBand, true);
  OpBuilder::InsertionGuard guard(b);
  auto yield = [&](Block *block, llvm::function_ref<Segment()> make) {
    b.setInsertionPointToStart(block);
    Segment s = make();
    scf::YieldOp::create(b, e.loc, ValueRange{s.any, s.all, s.end});
  };
  yield(either.thenBlock(), [&] {
    Segment from = halfLine(e, t.firstBegin, t.lastBegin, key, Sides::Lower);
    return join({b, e.loc}, from, halfLine(e, t.firstEnd, t.lastEnd, key, Sides::Upper), true);
  });
  yield(either.elseBlock(), [&] { return bySignatures(l, e, t.rows, key); });
  return {either.getResult(0), either.getResult(1), either.getResult(2)};
}

Hull heddle::mask::labelHull(const Labels &l, Emitter &e) {
  if (!l.table)
    return {};
  TileLabels t = tileLabels(l, e);
  IntCode c{e.tile, e.loc};
  return {c.choose(t.isBand, t.firstBegin, c.constant(-kUnbounded)),
          c.choose(t.isBand, t.lastEnd, c.constant(kUnbounded))};
}

//===-- predicates ---------------------------------------------------------------===//

/// label(k) >= label(q) - left and label(k) <= label(q) + right, for a key or a vector of keys.
Value heddle::mask::labelContains(const Labels &l, Emitter &e, Value row, Value key) {
  IntCode c{e.step, e.loc};
  Value own = loadAlong(e, e.tile, l.rows, rowIndex(e, e.tile, row)), other = loadAlong(e, e.step, l.keys, key);
  if (l.equal())
    return c.spread(c.equal(other, own), key);
  Value result = c.spread(c.flag(true), key);
  if (l.left)
    result = c.both(result, c.spread(c.atLeast(other, own, -*l.left), key));
  if (l.right)
    result = c.both(result, c.spread(c.atMost(other, own, *l.right), key));
  return result;
}

static Segment segmentOf(DocumentOp op, Emitter &e, Value key) { return labelSegment(labelsOf(op), e, key); }
static Hull hullOf(DocumentOp op, Emitter &e) { return labelHull(labelsOf(op), e); }
static Value contains(DocumentOp op, Emitter &e, Value row, Value key) {
  return labelContains(labelsOf(op), e, row, key);
}

void heddle::mask::attachLabels(MLIRContext &context) {
  DocumentOp::attachInterface<CodeOf<DocumentOp, segmentOf, hullOf, contains>>(context);
}
