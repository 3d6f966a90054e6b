//===- AttentionPack.cpp - keys into panels, and where sequences begin ----===//

#include "compiler/Conversion/ToLoops/AttentionKernel.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "dialects/Mask/IR/MaskCode.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using model::ModelTensorType;
using model::Size;

/// Halves of ever smaller blocks change places: log2(lanes) steps of two-operand shuffles.
Values heddle::loops::transpose(Code &c, Values rows) {
  int64_t n = c.lanes;
  for (int64_t d = 1; d < n; d *= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t lane = 0; lane < n; ++lane) {
      low.push_back(lane & d ? n + lane - d : lane);
      high.push_back(lane & d ? n + lane : lane + d);
    }
    for (int64_t i = 0; i < n; ++i) {
      if (i & d)
        continue;
      Value x = rows[i], y = rows[i + d];
      rows[i] = vector::ShuffleOp::create(c.b, x, y, low);
      rows[i + d] = vector::ShuffleOp::create(c.b, x, y, high);
    }
  }
  return rows;
}

void heddle::loops::packPanel(Code &c, llvm::function_ref<Value(int64_t)> rowAt, int64_t w, Value target) {
  for (int64_t half = 0; half < kPanel; half += c.lanes) {
    Values rows;
    for (int64_t i = 0; i < c.lanes; ++i)
      rows.push_back(rowAt(half + i));
    c.vectors(c.constant(w), [&](Value d, Value mask) {
      Values block;
      for (Value row : rows)
        block.push_back(c.loadVec(row, d, mask));
      block = transpose(c, block);
      int64_t valid = mask ? w % c.lanes : c.lanes;
      for (int64_t i = 0; i < valid; ++i)
        c.store(block[i], c.at(target, c.add(c.mul(c.add(d, i), kPanel), half), c.f32()));
    });
  }
}

void heddle::loops::packPanel(Code &c, Value source, int64_t stride, int64_t w, Value target, Value rows) {
  // Rows behind the last repeat it: finite, and never looked at.
  Value last = c.sub(rows, c.constant(1));
  packPanel(c, [&](int64_t i) { return c.at(source, c.mul(c.min(c.constant(i), last), stride), c.f32()); }, w, target);
}

void AttentionKernel::emitPack(Block *block) {
  bind(block);
  Value keys = length(plan.keys), blocks = div(add(keys, kKeyTile - 1), constant(kKeyTile));
  loop(from, to, 1, [&](Value item) {
    // Heads in turn: their parts of a row lie side by side in memory.
    Value head = rem(item, constant(plan.kvHeads)), rest = div(item, constant(plan.kvHeads));
    Value first = mul(rem(rest, blocks), kKeyTile), element = div(rest, blocks);
    Value outer = add(mul(element, plan.kvHeads), head);
    Value last = min(keys, add(first, kKeyTile));
    if (plan.keySource == Source::Rows) {
      int64_t w = plan.width, stride = plan.kvHeads * w;
      Value source = at(key, add(mul(mul(element, keys), stride), mul(head, w)), f32());
      Value target = at(scratch, add(length(plan.atKeys()), mul(outer, mul(length(plan.keyRoom), w))), f32());
      loop(first, last, kPanel, [&](Value k) {
        packPanel(*this, at(source, mul(k, stride), f32()), stride, w, at(target, mul(k, w), f32()), sub(keys, k));
      });
    }
    if (plan.valueSource == Source::Rows) {
      int64_t u = plan.valueWidth, stride = plan.kvHeads * u;
      Value source = at(value, add(mul(mul(element, keys), stride), mul(head, u)), f32());
      Value target = at(scratch, add(length(plan.atValues()), mul(outer, mul(length(plan.valueRoom), u))), f32());
      loop(first, last, 1, [&](Value k) {
        Value x = at(source, mul(k, stride), f32()), y = at(target, mul(k, u), f32());
        vectors(constant(u), [&](Value d, Value mask) { store(loadVec(x, d, mask), at(y, d, f32()), mask); });
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
