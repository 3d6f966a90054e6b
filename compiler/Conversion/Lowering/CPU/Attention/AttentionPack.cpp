//===- AttentionPack.cpp - keys into panels, and where sequences begin ----===//

#include "compiler/Conversion/Lowering/CPU/Attention/AttentionKernel.h"
#include "compiler/Conversion/Lowering/CPU/Attention/AttentionStored.h"
#include "dialects/Mask/Emission/MaskCode.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using model::Size;

namespace {
/// Packs the rows of one work item: keys [first, last) of one class of one head of one batch element.
class Packer : AttentionCode {
public:
  Packer(const AttentionCode &code, Value item);
  void emit();

private:
  Value head, first, last, count; ///< count: keys of the class
  Value outer;                    ///< which class of which head of which batch element
  Value row;                      ///< of the class's key 0

  Value target(Value start, Role room, int64_t words);
  void packKeys();
  void packValues();
};
} // namespace

Packer::Packer(const AttentionCode &code, Value item) : AttentionCode(code) {
  Value rows = length(Role::Keys), blocks = length(Role::KeyBlocks), classes = constant(plan.classes);
  // Heads in turn: their parts of a row are side by side in memory.
  head = rem(item, constant(plan.kvHeads));
  Value rest = div(item, constant(plan.kvHeads));
  first = mul(rem(rest, blocks), plan.keyTile);
  Value residue = rem(div(rest, blocks), classes), element = div(div(rest, blocks), classes);
  outer = add(mul(add(mul(element, plan.kvHeads), head), plan.classes), residue);
  count = div(sub(add(rows, plan.classes - 1), residue), classes);
  last = min(count, add(first, plan.keyTile));
  row = add(mul(element, rows), residue);
}

Value Packer::target(Value start, Role room, int64_t words) {
  return at(args.scratch, add({start, mul(outer, mul(length(room), words))}), f32());
}

void Packer::emit() {
  if (plan.keySource == Source::Rows)
    packKeys();
  if (plan.valueSource == Source::Rows)
    packValues();
}

void Packer::packKeys() {
  int64_t w = plan.width, stride = plan.classes * plan.kvHeads * w, words = plan.keyWords();
  Value source = at(args.key, add({mul(row, plan.kvHeads * w), mul(head, w)}), f32());
  Value panels = target(constant(0), Role::KeyRoom, words);
  loop(first, last, kPanel, [&](Value k) {
    Value from = at(source, mul(k, stride), f32()), to = at(panels, mul(k, words), f32());
    packPanel(*this, plan.arithmetic.stored, from, stride, w, to, sub(count, k));
  });
}

void Packer::packValues() {
  int64_t u = plan.valueWidth, stride = plan.classes * plan.kvHeads * u, words = plan.valueWords();
  Value source = at(args.value, add({mul(row, plan.kvHeads * u), mul(head, u)}), f32());
  Value rows = target(length(Role::Values), Role::ValueRoom, words);
  loop(first, last, plan.paired ? 2 : 1, [&](Value k) {
    Value from, partner;
    if (plan.paired) { // a last key without a partner is its own
      Value next = min({add(k, 1), sub(count, constant(1))});
      from = at(source, mul(k, stride), f32());
      partner = at(source, mul(next, stride), f32());
    } else {
      from = at(source, mul(k, stride), f32());
    }
    Value to = at(rows, mul(k, words), f32());
    if (plan.paired)
      packPair(*this, from, partner, u, to);
    else
      packValue(*this, plan.arithmetic.stored, from, u, to);
  });
  if (!plan.paired || !plan.matrix)
    return;
  // Matrix registers take in 32 keys at a time.
  Value behind = tripFloor(add(last, 31), 32);
  loop(tripFloor(add(last, 1), 2), behind, 2, [&](Value k) {
    Value to = at(rows, mul(k, words), f32());
    for (int64_t d = 0; d < plan.pairStride(); d += lanes)
      store({real(vec(f32()), 0.0), at(to, constant(d), f32())});
  });
}

void heddle::loops::emitPack(AttentionCode c) {
  c.loop(c.args.from, c.args.to, 1, [&](Value item) { Packer(c, item).emit(); });
}

/// i1: some leading leaf hides key `k` of the batch element.
static Value isHidden(KeyCode &c, Value k) {
  Value hidden;
  c.ask([&](mask::Emitter &e) {
    mask::IntCode code{c.b, c.b.getLoc()};
    for (Operation *leaf : c.plan.leading) {
      e.tile = e.step = c.b;
      Value clear = code.invert(mask::emitContains(e, leaf->getResult(0), e.past, k));
      hidden = hidden ? code.either(hidden, clear) : clear;
    }
  });
  return hidden;
}

/// The first key that every leading `keys` leaf sees: where the tiles of a batch
/// element are, so that padding on the left moves nothing.
static void emitAnchor(KeyCode c) {
  OpBuilder &b = c.b;
  Location loc = c.b.getLoc();
  auto scan = scf::WhileOp::create(c.b, TypeRange{b.getIndexType()}, ValueRange{c.constant(0)});
  {
    OpBuilder::InsertionGuard guard(b);
    Block *before = b.createBlock(&scan.getBefore(), {}, {b.getIndexType()}, {loc});
    Value k = before->getArgument(0), inside = c.less(k, c.keys.all);
    auto look = scf::IfOp::create(c.b, TypeRange{b.getI1Type()}, inside, true);
    b.setInsertionPointToStart(look.thenBlock());
    scf::YieldOp::create(c.b, ValueRange{isHidden(c, k)});
    b.setInsertionPointToStart(look.elseBlock());
    scf::YieldOp::create(c.b, ValueRange{arith::ConstantOp::create(c.b, b.getBoolAttr(false))});
    b.setInsertionPointToEnd(before);
    scf::ConditionOp::create(c.b, look.getResult(0), before->getArguments());
    Block *after = b.createBlock(&scan.getAfter(), {}, {b.getIndexType()}, {loc});
    scf::YieldOp::create(c.b, ValueRange{c.add(after->getArgument(0), 1)});
  }
  Value anchors = c.at(c.args.scratch, c.length(Role::Anchors), c.f32());
  c.store({c.toI64(scan.getResult(0)), c.at(anchors, c.keys.batch, b.getI64Type())});
}

void heddle::loops::emitAnchors(AttentionCode c) {
  c.loop(c.args.from, c.args.to, 1, [&](Value element) { emitAnchor(KeyCode(c, keysOfElement(c, element))); });
}
