//===- EmitWalk.cpp - segments become runs of key tiles; counts -----------===//
//
//   k = begin of the hull
//   while k < end of the hull:
//     segment(k), unless the last one reaches past k
//     if it reaches the end of k's tile, all tiles inside it are one run,
//     else the tile is cut: its segments are joined up to the tile's end
//     if any: visit(k, last visible, need)
//
// `need` joins the open operands of all segments of a cut tile, including full ones: under OR, the
// operand that makes the first half full must still be tested in the second. An empty segment makes a
// tile partial only if a visible one follows; empty segments at its end are trimmed off.
//
//===----------------------------------------------------------------------===//

#include "dialects/Mask/Emission/MaskCode.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace heddle::mask;
using Compare = arith::CmpIPredicate;

//===-- the walk -----------------------------------------------------------------===//

namespace {
/// A segment of the whole mask, and the operands that are undecided there (i32).
struct Open {
  Segment segment;
  Value bits;
};

struct Walker {
  Emitter &e;
  Residuals root;
  Value anchor, stop;
  int64_t tile;

  Value word(OpBuilder &b, int64_t v) { return arith::ConstantIntOp::create(b, e.loc, v, 32); }

  Open segment(OpBuilder &b, Value key) {
    if (root.operands.empty()) {
      IntCode c{b, e.loc};
      return {{c.flag(true), c.flag(true), stop}, word(b, 0)};
    }
    e.step = b;
    Segment s;
    Value bits;
    for (auto [n, operand] : llvm::enumerate(root.operands)) {
      Segment one = emitSegment(e, operand, key);
      IntCode c{e.step, e.loc};
      Value open = root.conjunction ? c.invert(one.all) : one.any;
      Value bit = c.choose(open, word(e.step, int64_t(1) << n), word(e.step, 0));
      s = n ? join(c, s, one, root.conjunction) : one;
      bits = n ? c.either(bits, bit) : bit;
    }
    b.restoreInsertionPoint(e.step.saveInsertionPoint());
    s.end = IntCode{b, e.loc}.min(s.end, stop);
    return {s, bits};
  }
  /// The first key of the tile that contains `key` >= anchor.
  Value tileOf(IntCode c, Value key) { return c.add(anchor, c.mul(c.div(c.sub(key, anchor), tile), c.constant(tile))); }
  Value need(IntCode c, Value full, Value bits) { return c.choose(full, word(c.b, 0), bits); }
};
} // namespace

namespace {
/// The result of a cut tile: the end of its visible keys, the open operands, its last segment.
struct Cut {
  Value hi, need;
  Open last;
};
} // namespace

/// Joins the segments of a cut tile from `end` to `tileEnd`.
static Cut joinCut(OpBuilder &b, Walker &w, Open head, Value tileEnd) {
  Location loc = w.e.loc;
  Type index = b.getIndexType(), bit = b.getI1Type(), word = b.getI32Type();
  // The next key; the end of what is visible; full so far; open operands so far; open operands of the
  // gap since; the last segment
  SmallVector<Type> types = {index, index, bit, word, word, bit, bit, index, word};
  SmallVector<Location> locs(types.size(), loc);
  Segment first = head.segment;
  auto loop = scf::WhileOp::create(
      b, loc, types,
      ValueRange{first.end, first.end, first.all, head.bits, w.word(b, 0), first.any, first.all, first.end, head.bits});
  OpBuilder::InsertionGuard guard(b);
  Block *before = b.createBlock(&loop.getBefore(), {}, types, locs);
  scf::ConditionOp::create(b, loc, IntCode{b, loc}.less(before->getArgument(0), tileEnd), before->getArguments());
  Block *after = b.createBlock(&loop.getAfter(), {}, types, locs);
  Value key = after->getArgument(0), hi = after->getArgument(1), full = after->getArgument(2);
  Value open = after->getArgument(3), gap = after->getArgument(4);
  auto [s, bits] = w.segment(b, key);
  IntCode c{b, loc};
  Value end = c.min(s.end, tileEnd), gapless = c.compare(Compare::eq, hi, key);
  Value since = c.either(gap, bits), stillFull = c.both(full, c.both(s.all, gapless));
  scf::YieldOp::create(b, loc,
                       ValueRange{end, c.choose(s.any, end, hi), c.choose(s.any, stillFull, full),
                                  c.choose(s.any, c.either(open, since), open), c.choose(s.any, w.word(b, 0), since),
                                  s.any, s.all, s.end, bits});
  b.setInsertionPointAfter(loop);
  auto at = [&](unsigned n) { return loop.getResult(n); };
  return {at(1), w.need({b, loc}, at(2), at(3)), {{at(5), at(6), at(7)}, at(8)}};
}

/// The loop of the opening comment. Code that runs once for a tile of rows goes in front of it (e.tile),
/// code of segments into it (e.step).
void heddle::mask::emitWalk(OpBuilder &b, Emitter &e, Value mask, Value anchor, int64_t tile, RunVisitor visit) {
  Location loc = e.loc;
  IntCode c{b, loc};
  e.tile = b;
  e.kept.clear();
  Hull hull = mask ? emitHull(e, mask) : Hull{};
  b.restoreInsertionPoint(e.tile.saveInsertionPoint());
  Value begin = hull.begin ? c.max(hull.begin, anchor) : anchor, end = hull.end ? c.min(hull.end, e.keys) : e.keys;
  if (e.within.begin)
    begin = c.max(begin, e.within.begin);
  if (e.within.end)
    end = c.min(end, e.within.end);
  Walker w{e, mask ? residuals(mask) : Residuals{true, {}}, anchor, end, tile};

  // the key, and the last segment: (any, all, end, bits)
  Type index = b.getIndexType(), bit = b.getI1Type(), word = b.getI32Type();
  SmallVector<Type> segment = {bit, bit, index, word}, types = {index};
  types.append(segment);
  auto unpack = [](ValueRange v) -> Open { return {{v[0], v[1], v[2]}, v[3]}; };
  auto loop = scf::WhileOp::create(b, loc, types, ValueRange{begin, c.flag(false), c.flag(false), begin, w.word(b, 0)});
  e.tile.setInsertionPoint(loop); // what is computed once a tile of rows goes before the cursor
  OpBuilder::InsertionGuard guard(b);
  SmallVector<Location> locs(types.size(), loc);
  Block *before = b.createBlock(&loop.getBefore(), {}, types, locs);
  scf::ConditionOp::create(b, loc, c.less(before->getArgument(0), w.stop), before->getArguments());
  Block *after = b.createBlock(&loop.getAfter(), {}, types, locs);
  Value key = after->getArgument(0), known = c.less(key, after->getArgument(3));
  auto look = scf::IfOp::create(b, loc, segment, known, /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard inLook(b);
    b.setInsertionPointToStart(look.thenBlock());
    scf::YieldOp::create(b, loc, after->getArguments().drop_front());
    b.setInsertionPointToStart(look.elseBlock());
    auto [s, bits] = w.segment(b, key);
    scf::YieldOp::create(b, loc, ValueRange{s.any, s.all, s.end, bits});
  }
  b.setInsertionPointAfter(look);
  Open head = unpack(look.getResults());
  Segment s = head.segment;
  auto seen = scf::IfOp::create(b, loc, types, s.any, /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard inThen(b);
    b.setInsertionPointToStart(seen.thenBlock());
    Value tileEnd = c.min(c.add(w.tileOf(c, key), c.constant(tile)), w.stop);
    SmallVector<Type> run = {index, index, word};
    run.append(segment);
    auto whole = scf::IfOp::create(b, loc, run, c.compare(Compare::sge, s.end, tileEnd), true);
    b.setInsertionPointToStart(whole.thenBlock());
    Value isStop = c.compare(Compare::eq, s.end, w.stop), until = c.choose(isStop, w.stop, w.tileOf(c, s.end));
    scf::YieldOp::create(b, loc, ValueRange{until, until, w.need(c, s.all, head.bits), s.any, s.all, s.end, head.bits});
    b.setInsertionPointToStart(whole.elseBlock());
    auto [hi, need, last] = joinCut(b, w, head, tileEnd);
    Segment l = last.segment;
    // An empty segment at the end of the tile may reach beyond it.
    scf::YieldOp::create(b, loc, ValueRange{c.choose(l.any, tileEnd, l.end), hi, need, l.any, l.all, l.end, last.bits});
    b.setInsertionPointAfter(whole);
    visit(b, key, whole.getResult(1), whole.getResult(2));
    SmallVector<Value> next = {whole.getResult(0)};
    llvm::append_range(next, whole.getResults().drop_front(3));
    scf::YieldOp::create(b, loc, next);
    b.setInsertionPointToStart(seen.elseBlock());
    scf::YieldOp::create(b, loc, ValueRange{s.end, s.any, s.all, s.end, head.bits});
  }
  b.setInsertionPointAfter(seen);
  scf::YieldOp::create(b, loc, seen.getResults());
}

//===-- predicates and counts of a mask value ----------------------------------===//

static Value asWord(Emitter &e, Value bits) {
  Type i32 = e.step.getI32Type();
  auto v = dyn_cast<VectorType>(bits.getType());
  Type type = v ? Type(VectorType::get(v.getShape(), i32)) : i32;
  bool wide = getElementTypeOrSelf(bits.getType()).isInteger(64);
  return wide ? arith::TruncIOp::create(e.step, e.loc, type, bits).getResult()
              : arith::ExtUIOp::create(e.step, e.loc, type, bits).getResult();
}

Value heddle::mask::emitCount(Emitter &e, Value mask, Value row, Value key) {
  auto count = [&](Value m) { return emitCount(e, m, row, key); };
  auto counts = [&](auto op) {
    Value left = count(op.getLhs());
    return std::pair(left, count(op.getRhs()));
  };
  IntCode c{e.step, e.loc};
  return llvm::TypeSwitch<Operation *, Value>(mask.getDefiningOp())
      .Case([&](AddOp op) {
        auto [left, right] = counts(op);
        return c.add(left, right);
      })
      .Case([&](AndOp op) {
        auto [left, right] = counts(op);
        return c.mul(left, right);
      })
      .Case([&](OrOp op) {
        auto [left, right] = counts(op);
        return c.max(left, right);
      })
      .Case([&](NotOp op) { return asWord(e, emitContains(e, op.getResult(), row, key)); })
      .Case([&](BlocksOp op) { return asWord(e, emitMultiplicity(op, e, row, key)); })
      .Case([&](SelectOp op) {
        Value yes = c.isSet(e.load(e.step, op.getCondition(), {})), ofYes = count(op.getYes()),
              ofNo = count(op.getNo());
        return c.choose(yes, ofYes, ofNo);
      })
      .Default([&](Operation *) { return asWord(e, emitContains(e, mask, row, key)); });
}
