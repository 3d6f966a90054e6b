//===- EmitPositions.cpp - constants, residues, pictures ---------------------------===//
//
// Every pair, no pair; keys a multiple of a step away, which are undecided everywhere but in a
// strided view; neighbours and windows in a picture.
//
//===----------------------------------------------------------------------===//

#include "dialects/Mask/Emission/MaskCode.h"

using namespace mlir;
using namespace heddle::mask;
using Compare = arith::CmpIPredicate;

//===-- constants --------------------------------------------------------------===//

static Value always(Emitter &e, Value key, bool v) {
  IntCode c{e.step, e.loc};
  return c.spread(c.flag(v), key);
}

static Segment segmentOf(AllOp op, Emitter &e, Value) {
  IntCode c{e.tile, e.loc};
  return everywhere(e, c.flag(true), c.flag(true));
}
static Hull hullOf(AllOp op, Emitter &) { return {}; }
static Value contains(AllOp op, Emitter &e, Value, Value key) { return always(e, key, true); }

static Segment segmentOf(NoneOp op, Emitter &e, Value) {
  IntCode c{e.tile, e.loc};
  return everywhere(e, c.flag(false), c.flag(false));
}
static Hull hullOf(NoneOp op, Emitter &e) { return {Value(), IntCode{e.tile, e.loc}.constant(-kUnbounded)}; }
static Value contains(NoneOp op, Emitter &e, Value, Value key) { return always(e, key, false); }

//===-- residues: undecided everywhere -----------------------------------------===//

/// In a strided view that this step divides nothing is left of the residue.
static bool settled(DilatedOp op, Emitter &e) { return e.stride % int64_t(op.getStep()) == 0; }

static Segment segmentOf(DilatedOp op, Emitter &e, Value) {
  IntCode c{e.tile, e.loc};
  return everywhere(e, c.flag(true), c.flag(settled(op, e)));
}
static Hull hullOf(DilatedOp op, Emitter &) { return {}; }
static Value contains(DilatedOp op, Emitter &e, Value row, Value key) {
  // (key + key_start - row) mod step == 0 <=> key mod step == (row - key_start) mod step
  IntCode c{e.tile, e.loc}, s{e.step, e.loc};
  if (settled(op, e))
    return always(e, key, true);
  int64_t step = std::min<int64_t>(op.getStep(), kUnbounded);
  Value n = c.constant(step), r = arith::RemSIOp::create(e.tile, e.loc, c.sub(row, e.keyStart), n);
  r = c.choose(c.less(r, c.constant(0)), c.add(r, n), r);
  Value modulus = isa<VectorType>(key.getType())
                      ? s.spread(arith::ConstantIntOp::create(e.step, e.loc, step, 32).getResult(), key)
                      : s.constant(step);
  return s.keyAgainst(Compare::eq, arith::RemSIOp::create(e.step, e.loc, key, modulus), r);
}

//===-- tokens of a picture ------------------------------------------------------===//
//
// What a row of the picture sees is rows [from, to) of it, and likewise with columns; both ends
// never decrease. A tile of queries is the end of a row of the picture, whole rows, and the begin
// of a row: so in each row of keys what some query sees is three stretches, and what all see one.
// Every answer is exact.

namespace {
/// Along one axis: x sees [from(x), to(x)).
struct Span {
  int64_t size;            ///< neighbours: so far to either side; windows: their length
  int64_t shift = 0;       ///< windows begin at shift + n * size
  bool isWindow = false;

  Value from(IntCode c, Value x) const {
    if (!isWindow)
      return c.sub(x, c.constant(size));
    // shift is taken below size, so that nothing that is divided is negative
    Value up = c.add(x, c.constant(size - shift % size));
    return c.sub(c.mul(c.div(up, size), c.constant(size)), c.constant(size - shift % size));
  }
  Value to(IntCode c, Value x) const { return c.add(isWindow ? from(c, x) : x, c.constant(isWindow ? size : size + 1)); }
};
struct Picture {
  int64_t width;
  Span rows, columns;
};
/// A range [begin, end) of rows or columns.
struct Stretch {
  Value begin, end;
  Value holds(IntCode c, Value x) const { return c.both(c.compare(Compare::sge, x, begin), c.less(x, end)); }
};
} // namespace

static Picture pictureOf(GridOp op) {
  return {int64_t(op.getWidth()), {int64_t(op.getRows())}, {int64_t(op.getColumns())}};
}
static Picture pictureOf(GridWindowOp op) {
  int64_t shift = op.getShift();
  return {int64_t(op.getWidth()), {int64_t(op.getRows()), shift, true}, {int64_t(op.getColumns()), shift, true}};
}

namespace {
/// Once a tile: the picture's rows and columns of its first and last query.
struct PictureTile {
  PictureTile(const Picture &p, Emitter &e) : p(p), c{e.tile, e.loc} {
    firstRow = c.div(e.first, p.width), firstColumn = c.rem(e.first, p.width);
    lastRow = c.div(e.last, p.width), lastColumn = c.rem(e.last, p.width);
    single = c.compare(Compare::eq, firstRow, lastRow);
  }
  const Picture &p;
  IntCode c;
  Value firstRow, firstColumn, lastRow, lastColumn;
  Value single; ///< all queries stand in one row

  Value width() { return c.constant(p.width); }
  Value one() { return c.constant(1); }
  Stretch rowsSeen(Value x) { return {p.rows.from(c, x), p.rows.to(c, x)}; }
  /// By the rows between the first and the last.
  Stretch rowsSeenBetween() {
    Value some = c.less(c.add(firstRow, one()), lastRow), begin = p.rows.from(c, c.add(firstRow, one()));
    return {begin, c.choose(some, p.rows.to(c, c.sub(lastRow, one())), begin)};
  }
  /// By every row and by every query.
  Stretch rowsOfAll() { return {p.rows.from(c, lastRow), p.rows.to(c, firstRow)}; }
  Stretch columnsOfAll() {
    Value least = c.choose(single, firstColumn, c.constant(0)), most = c.choose(single, lastColumn, c.constant(p.width - 1));
    return {p.columns.from(c, most), p.columns.to(c, least)};
  }
  /// By the queries of the first row, and by those of the last.
  Stretch columnsOfFirst() {
    Value end = c.choose(single, p.columns.to(c, lastColumn), width());
    return {p.columns.from(c, firstColumn), end};
  }
  Stretch columnsOfLast() { return {c.constant(0), p.columns.to(c, lastColumn)}; }
};
} // namespace

/// x // n and x - x // n * n of any x, an index or a vector of i32.
static std::pair<Value, Value> divided(IntCode c, Value x, int64_t n) {
  auto like = [&](int64_t v) -> Value {
    if (!isa<VectorType>(x.getType()))
      return c.constant(v);
    return c.spread(arith::ConstantIntOp::create(c.b, c.loc, v, 32).getResult(), x);
  };
  Value zero = like(0), size = like(n), down = arith::DivSIOp::create(c.b, c.loc, x, size); // towards 0
  Value rest = c.sub(x, c.mul(down, size)), before = c.less(rest, zero);
  return {c.choose(before, c.sub(down, like(1)), down), c.choose(before, c.add(rest, size), rest)};
}

static Segment pictureSegment(const Picture &p, Emitter &e, Value key) {
  PictureTile t(p, e);
  Stretch first = t.rowsSeen(t.firstRow), between = t.rowsSeenBetween(), last = t.rowsSeen(t.lastRow), rows = t.rowsOfAll();
  Stretch firstColumns = t.columnsOfFirst(), lastColumns = t.columnsOfLast(), columns = t.columnsOfAll();
  Value many = t.c.invert(t.single), width = t.width();
  IntCode c{e.step, e.loc};
  auto [row, column] = divided(c, c.add(key, e.keyStart), p.width);
  Value byFirst = c.both(first.holds(c, row), firstColumns.holds(c, column));
  Value byLast = c.both(many, c.both(last.holds(c, row), lastColumns.holds(c, column)));
  Value any = c.either(c.either(byFirst, between.holds(c, row)), byLast);
  Value all = c.both(rows.holds(c, row), columns.holds(c, column));
  Value end = width; // the next column at which one of these may change; the first row's end is the last one's, or the width
  for (Value at : {firstColumns.begin, lastColumns.end, columns.begin, columns.end})
    end = c.min(end, c.choose(c.less(column, at), at, width));
  return {any, all, c.add(key, c.sub(end, column))};
}

static Hull pictureHull(const Picture &p, Emitter &e) {
  PictureTile t(p, e);
  IntCode c = t.c;
  auto at = [&](Value row, Value column) { return c.add(c.mul(row, t.width()), column); };
  // The first query sees first what it sees, unless one in the next row, which begins at column 0, sees as high up.
  Value begin = at(p.rows.from(c, t.firstRow), c.max(p.columns.from(c, t.firstColumn), c.constant(0)));
  Value next = at(p.rows.from(c, c.add(t.firstRow, t.one())), c.constant(0));
  Value end = at(c.sub(p.rows.to(c, t.lastRow), t.one()), c.min(p.columns.to(c, t.lastColumn), t.width()));
  Value before = at(p.rows.to(c, c.sub(t.lastRow, t.one())), c.constant(0));
  auto bound = [&](Value position) {
    Value key = c.sub(position, e.keyStart);
    return c.max(c.min(key, c.constant(kUnbounded)), c.constant(-kUnbounded));
  };
  return {bound(c.choose(t.single, begin, c.min(begin, next))), bound(c.choose(t.single, end, c.max(end, before)))};
}

static Value pictureContains(const Picture &p, Emitter &e, Value row, Value key) {
  IntCode t{e.tile, e.loc}, c{e.step, e.loc};
  Value width = t.constant(p.width), r = t.div(row, p.width), column = t.rem(row, p.width);
  // Rows of keys are a range of positions; only columns are divided.
  auto bound = [&](Value pictureRow) {
    Value at = t.sub(t.mul(pictureRow, width), e.keyStart);
    return t.max(t.min(at, t.constant(kUnbounded)), t.constant(-kUnbounded));
  };
  Value inRows = c.both(c.keyAgainst(Compare::sge, key, bound(p.rows.from(t, r))), c.keyAgainst(Compare::slt, key, bound(p.rows.to(t, r))));
  Value start = e.keyStart;
  if (isa<VectorType>(key.getType()))
    start = c.spread(arith::IndexCastOp::create(e.step, e.loc, e.step.getI32Type(), start).getResult(), key);
  Value at = divided(c, c.add(key, start), p.width).second;
  Value inColumns = c.both(c.keyAgainst(Compare::sge, at, p.columns.from(t, column)), c.keyAgainst(Compare::slt, at, p.columns.to(t, column)));
  return c.both(inRows, inColumns);
}

template <typename Op> static Segment segmentOf(Op op, Emitter &e, Value key) { return pictureSegment(pictureOf(op), e, key); }
template <typename Op> static Hull hullOf(Op op, Emitter &e) { return pictureHull(pictureOf(op), e); }
template <typename Op> static Value contains(Op op, Emitter &e, Value row, Value key) { return pictureContains(pictureOf(op), e, row, key); }

void heddle::mask::attachPositions(MLIRContext &context) {
  AllOp::attachInterface<CodeOf<AllOp, segmentOf, hullOf, contains>>(context);
  NoneOp::attachInterface<CodeOf<NoneOp, segmentOf, hullOf, contains>>(context);
  GridOp::attachInterface<CodeOf<GridOp, segmentOf, hullOf, contains>>(context);
  GridWindowOp::attachInterface<CodeOf<GridWindowOp, segmentOf, hullOf, contains>>(context);
  DilatedOp::attachInterface<CodeOf<DilatedOp, segmentOf, hullOf, contains>>(context);
}
