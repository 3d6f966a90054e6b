//===- AttentionPack.cpp - keys into panels, and where sequences begin ----===//

#include "compiler/Conversion/ToLoops/AttentionKernel.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "dialects/Mask/Emission/MaskCode.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using model::ModelTensorType;
using model::Size;

void AttentionKernel::emitPack(Block *block) {
  bind(block);
  Value rows = length(plan.keys), blocks = length(plan.keyBlocks());
  int64_t classes = plan.classes;
  loop(from, to, 1, [&](Value item) {
    // Heads in turn: their parts of a row lie side by side in memory.
    Value head = rem(item, constant(plan.kvHeads)), rest = div(item, constant(plan.kvHeads));
    Value first = mul(rem(rest, blocks), kKeyTile), number = rem(div(rest, blocks), constant(classes));
    Value element = div(div(rest, blocks), constant(classes));
    Value outer = add(mul(add(mul(element, plan.kvHeads), head), classes), number); // which class of which head
    Value keys = div(sub(add(rows, classes - 1), number), constant(classes)), last = min(keys, add(first, kKeyTile));
    Value row = add(mul(element, rows), number); // of its key 0
    if (plan.keySource == Source::Rows) {
      int64_t w = plan.width, stride = classes * plan.kvHeads * w;
      Value source = at(key, add(mul(row, plan.kvHeads * w), mul(head, w)), f32());
      int64_t words = plan.keyWords();
      Value target = at(scratch, add(length(plan.atKeys()), mul(outer, mul(length(plan.keyRoom), words))), f32());
      loop(first, last, kPanel, [&](Value k) {
        packPanel(*this, plan.arithmetic.stored, at(source, mul(k, stride), f32()), stride, w, at(target, mul(k, words), f32()), sub(keys, k));
      });
    }
    if (plan.valueSource == Source::Rows) {
      int64_t u = plan.valueWidth, stride = classes * plan.kvHeads * u;
      Value source = at(value, add(mul(row, plan.kvHeads * u), mul(head, u)), f32());
      int64_t words = plan.valueWords();
      Value target = at(scratch, add(length(plan.atValues()), mul(outer, mul(length(plan.valueRoom), words))), f32());
      loop(first, last, plan.paired ? 2 : 1, [&](Value k) {
        if (plan.paired) { // a last key without a partner is its own
          Value partner = min(add(k, 1), sub(keys, constant(1)));
          return packPair(*this, at(source, mul(k, stride), f32()), at(source, mul(partner, stride), f32()), u, at(target, mul(k, words), f32()));
        }
        packValue(*this, plan.arithmetic.stored, at(source, mul(k, stride), f32()), u, at(target, mul(k, words), f32()));
      });
    }
  });
}

/// The first key that every leading `keys` leaf sees: where the tiles of a batch
/// element stand, so that padding on the left moves nothing.
void AttentionKernel::emitAnchors(Block *block) {
  bind(block);
  loop(from, to, 1, [&](Value element) {
    auto scan = scf::WhileOp::create(b, TypeRange{b.getIndexType()}, ValueRange{constant(0)});
    {
      OpBuilder::InsertionGuard guard(b);
      Block *before = b.createBlock(&scan.getBefore(), {}, {b.getIndexType()}, {b.getLoc()});
      Value k = before->getArgument(0), keys = length(plan.keys), inside = less(k, keys);
      auto look = scf::IfOp::create(b, TypeRange{b.getI1Type()}, inside, true);
      {
        OpBuilder::InsertionGuard inner(b);
        b.setInsertionPointToStart(look.thenBlock());
        Value hidden;
        mask::Emitter e = emitter();
        auto load = [&](OpBuilder &at, Value operand, ArrayRef<Value> index) { return this->element(at, operand, index); };
        auto lengthOf = [&](const Size &n) { return length(n); };
        e.batch = element;
        e.load = load;
        e.lengthOf = lengthOf;
        mask::IntCode code{b, b.getLoc()};
        for (Operation *leaf : plan.leading) {
          e.tile = e.step = b;
          Value clear = code.invert(mask::emitContains(e, leaf->getResult(0), e.past, k));
          hidden = hidden ? code.either(hidden, clear) : clear;
        }
        scf::YieldOp::create(b, ValueRange{hidden});
        b.setInsertionPointToStart(look.elseBlock());
        scf::YieldOp::create(b, ValueRange{arith::ConstantOp::create(b, b.getBoolAttr(false))});
      }
      scf::ConditionOp::create(b, look.getResult(0), before->getArguments());
      Block *after = b.createBlock(&scan.getAfter(), {}, {b.getIndexType()}, {b.getLoc()});
      scf::YieldOp::create(b, ValueRange{add(after->getArgument(0), 1)});
    }
    Value anchors = at(scratch, length(plan.atAnchors()), f32());
    store(toI64(scan.getResult(0)), at(anchors, element, b.getI64Type()));
  });
}
