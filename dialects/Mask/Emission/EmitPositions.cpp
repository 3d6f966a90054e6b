//===- EmitPositions.cpp - constants, residues, pictures ---------------------------===//
//
// Code of leaves that read positions only: all and none; residues, which are undecided everywhere
// except in a strided view; neighbours and windows in a picture.
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

/// Whether the view's keys all have the row's residue, so that the leaf is true.
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
  Value negative = c.less(r, c.constant(0)), turned = c.add(r, n);
  r = c.choose(negative, turned, r);
  Value modulus = isa<VectorType>(key.getType())
                      ? s.spread(arith::ConstantIntOp::create(e.step, e.loc, step, 32).getResult(), key)
                      : s.constant(step);
  return s.keyAgainst(Compare::eq, arith::RemSIOp::create(e.step, e.loc, key, modulus), r);
}

//===-- tokens of a picture ------------------------------------------------------===//
//
// A token in row r of the picture sees the rows [from(r), to(r)) of it, and columns alike; both ends
// never decrease. The queries of a tile are the end of one row of the picture, whole rows, and the
// beginning of one. So in each row of keys the keys that any query sees are at most three runs, and
// those that all see are one. Every answer is exact.

namespace {
/// One axis: x sees [from(x), to(x)).
struct Span {
  int64_t size;      ///< neighbours: so far to either side; windows: their length
  int64_t shift = 0; ///< windows begin at shift + n * size
  bool isWindow = false;

  Value from(IntCode c, Value x) const {
    if (!isWindow)
      return c.sub(x, c.constant(size));
    // shift is reduced below size, so that no dividend is negative.
    Value up = c.add(x, c.constant(size - shift % size));
    return c.sub(c.mul(c.div(up, size), c.constant(size)), c.constant(size - shift % size));
  }
  Value to(IntCode c, Value x) const {
    return c.add(isWindow ? from(c, x) : x, c.constant(isWindow ? size : size + 1));
  }
};
struct Picture {
  int64_t width;
  Span rows, columns;
};
/// A range [begin, end) of rows or columns.
struct Stretch {
  Value begin, end;
  Value holds(IntCode c, Value x) const {
    Value notBefore = c.compare(Compare::sge, x, begin), before = c.less(x, end);
    return c.both(notBefore, before);
  }
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
/// Computed once for a tile: rows and columns, in the picture, of its first and last query.
struct PictureTile {
  PictureTile(const Picture &p, Emitter &e) : p(p), c{e.tile, e.loc} {
    firstRow = c.div(e.first, p.width), firstColumn = c.rem(e.first, p.width);
    lastRow = c.div(e.last, p.width), lastColumn = c.rem(e.last, p.width);
    single = c.compare(Compare::eq, firstRow, lastRow);
  }
  const Picture &p;
  IntCode c;
  Value firstRow, firstColumn, lastRow, lastColumn;
  Value single; ///< whether all queries are in one row of the picture

  Value width() { return c.constant(p.width); }
  Value one() { return c.constant(1); }
  Stretch rowsSeen(Value x) { return {p.rows.from(c, x), p.rows.to(c, x)}; }
  /// Seen by some query of the rows strictly between the first and the last.
  Stretch rowsSeenBetween() {
    Value some = c.less(c.add(firstRow, one()), lastRow), begin = p.rows.from(c, c.add(firstRow, one()));
    return {begin, c.choose(some, p.rows.to(c, c.sub(lastRow, one())), begin)};
  }
  /// Seen by all queries: rows, and columns.
  Stretch rowsOfAll() { return {p.rows.from(c, lastRow), p.rows.to(c, firstRow)}; }
  Stretch columnsOfAll() {
    Value least = c.choose(single, firstColumn, c.constant(0)),
          most = c.choose(single, lastColumn, c.constant(p.width - 1));
    return {p.columns.from(c, most), p.columns.to(c, least)};
  }
  /// Columns seen by some query of the first row, and of the last.
  Stretch columnsOfFirst() {
    Value end = c.choose(single, p.columns.to(c, lastColumn), width());
    return {p.columns.from(c, firstColumn), end};
  }
  Stretch columnsOfLast() { return {c.constant(0), p.columns.to(c, lastColumn)}; }
};
} // namespace

/// floor(x / n) and x - n * floor(x / n) for any x, an index or a vector of i32.
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
  Stretch first = t.rowsSeen(t.firstRow), between = t.rowsSeenBetween(), last = t.rowsSeen(t.lastRow),
          rows = t.rowsOfAll();
  Stretch firstColumns = t.columnsOfFirst(), lastColumns = t.columnsOfLast(), columns = t.columnsOfAll();
  Value many = t.c.invert(t.single), width = t.width();
  IntCode c{e.step, e.loc};
  auto [row, column] = divided(c, c.add(key, e.keyStart), p.width);
  auto inBoth = [&, row = row, column = column](Stretch ofRows, Stretch ofColumns) {
    Value inRows = ofRows.holds(c, row), inColumns = ofColumns.holds(c, column);
    return c.both(inRows, inColumns);
  };
  Value byFirst = inBoth(first, firstColumns), byLast = c.both(many, inBoth(last, lastColumns));
  Value any = c.either(c.either(byFirst, between.holds(c, row)), byLast);
  Value all = inBoth(rows, columns);
  Value end =
      width; // the next column at which one of these may change; the first row's end is the last one's, or the width
  for (Value at : {firstColumns.begin, lastColumns.end, columns.begin, columns.end})
    end = c.min(end, c.choose(c.less(column, at), at, width));
  return {any, all, c.add(key, c.sub(end, column))};
}

static Hull pictureHull(const Picture &p, Emitter &e) {
  PictureTile t(p, e);
  IntCode c = t.c;
  auto at = [&](Value row, Value column) { return c.add(c.mul(row, t.width()), column); };
  // The first visible key is the first query's, unless the next row of the picture, whose queries begin
  // at column 0, sees as high up.
  Value firstRow = p.rows.from(c, t.firstRow), firstColumn = c.max(p.columns.from(c, t.firstColumn), c.constant(0));
  Value begin = at(firstRow, firstColumn);
  Value next = at(p.rows.from(c, c.add(t.firstRow, t.one())), c.constant(0));
  Value lastRow = c.sub(p.rows.to(c, t.lastRow), t.one()), lastColumn = c.min(p.columns.to(c, t.lastColumn), t.width());
  Value end = at(lastRow, lastColumn);
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
  // A row of the picture is a range of key positions, so only columns need a division.
  auto bound = [&](Value pictureRow) {
    Value at = t.sub(t.mul(pictureRow, width), e.keyStart);
    return t.max(t.min(at, t.constant(kUnbounded)), t.constant(-kUnbounded));
  };
  Value fromRow = c.keyAgainst(Compare::sge, key, bound(p.rows.from(t, r)));
  Value toRow = c.keyAgainst(Compare::slt, key, bound(p.rows.to(t, r))), inRows = c.both(fromRow, toRow);
  Value start = e.keyStart;
  if (isa<VectorType>(key.getType()))
    start = c.spread(arith::IndexCastOp::create(e.step, e.loc, e.step.getI32Type(), start).getResult(), key);
  Value at = divided(c, c.add(key, start), p.width).second;
  Value fromColumn = c.keyAgainst(Compare::sge, at, p.columns.from(t, column));
  Value toColumn = c.keyAgainst(Compare::slt, at, p.columns.to(t, column)), inColumns = c.both(fromColumn, toColumn);
  return c.both(inRows, inColumns);
}

template <typename Op> static Segment segmentOf(Op op, Emitter &e, Value key) {
  return pictureSegment(pictureOf(op), e, key);
}
template <typename Op> static Hull hullOf(Op op, Emitter &e) { return pictureHull(pictureOf(op), e); }
template <typename Op> static Value contains(Op op, Emitter &e, Value row, Value key) {
  return pictureContains(pictureOf(op), e, row, key);
}

void heddle::mask::attachPositions(MLIRContext &context) {
  AllOp::attachInterface<CodeOf<AllOp, segmentOf, hullOf, contains>>(context);
  NoneOp::attachInterface<CodeOf<NoneOp, segmentOf, hullOf, contains>>(context);
  GridOp::attachInterface<CodeOf<GridOp, segmentOf, hullOf, contains>>(context);
  GridWindowOp::attachInterface<CodeOf<GridWindowOp, segmentOf, hullOf, contains>>(context);
  DilatedOp::attachInterface<CodeOf<DilatedOp, segmentOf, hullOf, contains>>(context);
}
