//===- MaskWalk.cpp - segments become runs of key tiles; counts -----------===//
//
//   k = begin of the hull
//   while k < end of the hull:
//     segment(k); if it reaches the end of k's tile, all tiles inside it are one run,
//     else the tile is cut: its segments are joined up to the tile's end
//     if any: visit(k, last visible, full)
//
//===----------------------------------------------------------------------===//

#include "dialects/Mask/IR/MaskCode.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace heddle::mask;
using Compare = arith::CmpIPredicate;

namespace {
struct Walker {
  Emitter &e;
  Value mask, anchor, stop;
  int64_t tile;

  Segment segment(OpBuilder &b, Value key) {
    IntCode c{b, e.loc};
    if (!mask)
      return {c.flag(true), c.flag(true), stop};
    e.step = b;
    Segment s = ask(mask).emitSegment(e, key);
    b.restoreInsertionPoint(e.step.saveInsertionPoint());
    s.end = c.min(s.end, stop);
    return s;
  }
  /// The start of the tile that holds `key` >= anchor.
  Value tileOf(IntCode c, Value key) {
    return c.add(anchor, c.mul(c.div(c.sub(key, anchor), tile), c.constant(tile)));
  }
};
} // namespace

/// Joins the segments of a cut tile: from `end` on to `tileEnd`. Returns (hi, full).
static std::pair<Value, Value> joinCut(OpBuilder &b, Walker &w, Segment head, Value tileEnd) {
  Location loc = w.e.loc;
  Type index = b.getIndexType(), bit = b.getI1Type();
  SmallVector<Type> types = {index, index, bit};
  auto loop = scf::WhileOp::create(b, loc, types, ValueRange{head.end, head.end, head.all});
  OpBuilder::InsertionGuard guard(b);
  Block *before = b.createBlock(&loop.getBefore(), {}, types, {loc, loc, loc});
  scf::ConditionOp::create(b, loc, IntCode{b, loc}.less(before->getArgument(0), tileEnd), before->getArguments());
  Block *after = b.createBlock(&loop.getAfter(), {}, types, {loc, loc, loc});
  Value key = after->getArgument(0), hi = after->getArgument(1), full = after->getArgument(2);
  Segment s = w.segment(b, key);
  IntCode c{b, loc};
  Value end = c.min(s.end, tileEnd);
  // A gap between visible segments makes the tile partial, one at the rim is trimmed away.
  Value gapless = c.compare(Compare::eq, hi, key);
  Value next = c.both(full, c.both(s.all, gapless));
  scf::YieldOp::create(b, loc, ValueRange{end, c.choose(s.any, end, hi), c.choose(s.any, next, full)});
  return {loop.getResult(1), loop.getResult(2)};
}

void heddle::mask::emitWalk(OpBuilder &b, Emitter &e, Value mask, Value anchor, int64_t tile, RunVisitor visit) {
  Location loc = e.loc;
  IntCode c{b, loc};
  e.tile = b;
  e.kept.clear();
  Hull hull = mask ? ask(mask).emitHull(e) : Hull{};
  b.restoreInsertionPoint(e.tile.saveInsertionPoint());
  Value begin = hull.begin ? c.max(hull.begin, anchor) : anchor;
  Walker w{e, mask, anchor, hull.end ? c.min(hull.end, e.keys) : e.keys, tile};

  Type index = b.getIndexType();
  auto loop = scf::WhileOp::create(b, loc, TypeRange{index}, ValueRange{begin});
  e.tile.setInsertionPoint(loop); // what is computed once a tile of rows goes before the cursor
  OpBuilder::InsertionGuard guard(b);
  Block *before = b.createBlock(&loop.getBefore(), {}, {index}, {loc});
  scf::ConditionOp::create(b, loc, c.less(before->getArgument(0), w.stop), before->getArguments());
  Block *after = b.createBlock(&loop.getAfter(), {}, {index}, {loc});
  Value key = after->getArgument(0);
  Segment s = w.segment(b, key);
  auto seen = scf::IfOp::create(b, loc, TypeRange{index}, s.any, /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard inThen(b);
    b.setInsertionPointToStart(seen.thenBlock());
    Value tileEnd = c.min(c.add(w.tileOf(c, key), c.constant(tile)), w.stop);
    auto whole = scf::IfOp::create(b, loc, TypeRange{index, index, b.getI1Type()},
                                   c.compare(Compare::sge, s.end, tileEnd), true);
    b.setInsertionPointToStart(whole.thenBlock());
    Value until = c.choose(c.compare(Compare::eq, s.end, w.stop), w.stop, w.tileOf(c, s.end));
    scf::YieldOp::create(b, loc, ValueRange{until, until, s.all});
    b.setInsertionPointToStart(whole.elseBlock());
    auto [hi, full] = joinCut(b, w, s, tileEnd);
    scf::YieldOp::create(b, loc, ValueRange{tileEnd, hi, full});
    b.setInsertionPointAfter(whole);
    visit(b, key, whole.getResult(1), whole.getResult(2));
    scf::YieldOp::create(b, loc, ValueRange{whole.getResult(0)});
    b.setInsertionPointToStart(seen.elseBlock());
    scf::YieldOp::create(b, loc, ValueRange{s.end});
  }
  b.setInsertionPointAfter(seen);
  scf::YieldOp::create(b, loc, ValueRange{seen.getResult(0)});
}

//===-- predicates and counts of a mask value ----------------------------------===//

Value heddle::mask::emitContains(Emitter &e, Value mask, Value row, Value key) {
  return ask(mask).emitContains(e, row, key);
}

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
  IntCode c{e.step, e.loc};
  return llvm::TypeSwitch<Operation *, Value>(mask.getDefiningOp())
      .Case([&](AddOp op) { return c.add(count(op.getLhs()), count(op.getRhs())); })
      .Case([&](AndOp op) { return c.mul(count(op.getLhs()), count(op.getRhs())); })
      .Case([&](OrOp op) { return c.max(count(op.getLhs()), count(op.getRhs())); })
      .Case([&](NotOp op) { return asWord(e, op.emitContains(e, row, key)); })
      .Case([&](BlocksOp op) { return asWord(e, emitMultiplicity(op, e, row, key)); })
      .Case([&](SelectOp op) {
        Value yes = c.isSet(e.load(e.step, op.getCondition(), {}));
        return c.choose(yes, count(op.getYes()), count(op.getNo()));
      })
      .Default([&](Operation *op) { return asWord(e, cast<MaskOpInterface>(op).emitContains(e, row, key)); });
}

bool heddle::mask::isCounted(Value mask) {
  Operation *op = mask.getDefiningOp();
  if (isa<AddOp>(op))
    return true;
  return llvm::any_of(op->getOperands(), [](Value v) { return isa<MaskType>(v.getType()) && isCounted(v); });
}

void heddle::mask::collectLeaves(Value mask, SmallVectorImpl<Operation *> &leaves) {
  Operation *op = mask.getDefiningOp();
  bool leaf = true;
  for (Value v : op->getOperands())
    if (isa<MaskType>(v.getType())) {
      collectLeaves(v, leaves);
      leaf = false;
    }
  if ((leaf || isa<SelectOp>(op)) && !llvm::is_contained(leaves, op))
    leaves.push_back(op);
}

SmallVector<Operation *> heddle::mask::leadingKeys(Value mask) {
  Operation *op = mask ? mask.getDefiningOp() : nullptr;
  if (isa_and_nonnull<KeysOp>(op))
    return {op};
  auto both = dyn_cast_or_null<AndOp>(op);
  if (!both)
    return {};
  SmallVector<Operation *> found = leadingKeys(both.getLhs());
  found.append(leadingKeys(both.getRhs()));
  return found;
}
