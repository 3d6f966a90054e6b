//===- WarpAttention.cpp - attention, a row of a head a warp --------------===//
//
// The general program: every mask, bias, count, sink, ring and class. A warp takes one query row of one head and
// walks the runs of keys that the mask leaves (dialects/Mask/Emission), 32 keys at a time:
//   1. a lane makes the score of one key, d ascending
//   2. the warp takes their maximum and the weights p = exp(s - m)
//   3. a lane sums some features of the output, keys ascending
// Tiles begin at the first key that the batch element sees, so padding on the left moves nothing, and a row's bits
// are its own whatever rows are next to it.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/GPU/Attention/WarpAttention.h"
#include "compiler/Conversion/Lowering/GPU/Attention/ScoreBias.h"
#include "compiler/Conversion/Lowering/GPU/Attention/TileAttention.h"
#include "compiler/Conversion/Lowering/GPU/Linear/PackedRows.h"
#include "compiler/Conversion/Lowering/GPU/WarpLanes.h"
#include "compiler/Conversion/Lowering/Language/Functions.h"
#include "compiler/Conversion/Lowering/Language/Halves.h"
#include "dialects/Mask/Emission/Emission.h"
#include "dialects/Mask/Emission/MaskCode.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <cmath>

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using model::ModelTensorType;
using model::Size;

static constexpr double kLowest = -3.4028234663852886e38;

namespace {
/// A number of this lane that lives across the walk, whose body has no results; LLVM makes a register of it.
class Variable {
public:
  Variable(Lowering &l, Value first) : l(l) {
    {
      OpBuilder::InsertionGuard guard(l.b);
      l.b.setInsertionPointToStart(&l.function.getBody().front());
      Value one = LLVM::ConstantOp::create(l.b, l.b.getI64Type(), l.b.getI64IntegerAttr(1));
      at = LLVM::AllocaOp::create(l.b, l.Code::pointer(), l.f32(), one, 4);
    }
    set(first);
  }
  Value get() { return l.load(l.f32(), at); }
  void set(Value v) { l.store(v, at); }

private:
  Lowering &l;
  Value at;
};

/// Where stored keys and values of one key head are (AttentionShape.h), or the rows of a tensor.
class StoredRows {
public:
  /// `base`: element 0 of the keys (`keys`) or values. `element`: the batch element, 0 where all share one.
  StoredRows(Lowering &l, const AttentionShape &plan, bool keys, Value base, Value element, Value head)
      : l(l), plan(plan), keys(keys), base(base), element(element), head(head) {}

  /// Component `d` of key row `k`, as f32; with a mask 0 where a lane has none.
  Value at(Value k, Value d) { return read(indexOf(k, d)); }
  /// Features [first, first + 32) of value row `k`, one a lane.
  Value lanesAt(Value k, int64_t first, Value mask);

private:
  Lowering &l;
  const AttentionShape &plan;
  bool keys;
  Value base, element, head;

  Source source() const { return keys ? plan.keySource : plan.valueSource; }
  int64_t width() const { return keys ? plan.width : plan.valueWidth; }
  model::Stored stored() const { return plan.arithmetic.stored; }
  bool halves() const { return plan.arithmetic.halves(); }
  Value indexOf(Value k, Value d);
  Value rowOf(Value k);
  Value read(Value index);
};
} // namespace

/// Of the row of key `k`: the index of its first element among rows of the tensor, or its row in the cache of its
/// class.
Value StoredRows::rowOf(Value k) {
  if (source() == Source::Rows) {
    Value row = l.add(l.mul(element, l.size(plan.keys)), k);
    return l.mul(l.add(l.mul(row, plan.kvHeads), head), width());
  }
  Value part = l.add(l.mul(element, plan.kvHeads), head), classes = l.constant(plan.classes), place = l.div(k, classes);
  if (plan.classes > 1)
    part = l.add(l.mul(part, plan.classes), l.rem(k, classes));
  if (int64_t ring = keys ? plan.keyRing : plan.valueRing)
    place = l.rem(place, l.constant(ring));
  return l.add(l.mul(part, l.size(keys ? plan.keyRoom : plan.valueRoom)), place);
}

/// In elements as they are stored: f32, or halves of which two neighbours along d share a word.
Value StoredRows::indexOf(Value k, Value d) {
  Value row = rowOf(k);
  if (source() == Source::Rows)
    return l.add(row, d);
  int64_t pair = halves() ? 2 : 1;
  if (!keys)
    return l.add(l.mul(row, pair * plan.valueWords()), d);
  // Rooms are whole blocks, so panels of one part never hold a key of another.
  Value p = l.constant(pair), word = wordOfKey(l, plan.keyWords(), row, l.div(d, p));
  return l.add(l.mul(word, pair), l.rem(d, p));
}

/// Rows of a tensor are f32 and are rounded as a cache would store them.
Value StoredRows::read(Value index) {
  if (source() == Source::Rows) {
    Value x = l.loadF32(base, index);
    return halves() ? widened(l, stored(), halfOf(l, stored(), x)) : x;
  }
  if (!halves())
    return l.loadF32(base, index);
  Type half = l.b.getI16Type();
  return widened(l, stored(), l.load(half, l.at(base, index, half)));
}

Value StoredRows::lanesAt(Value k, int64_t first, Value mask) {
  Value index = indexOf(k, l.constant(first));
  if (source() == Source::Cache && halves()) {
    Type half = l.b.getI16Type();
    return widened(l, stored(), l.loadLanes(half, l.at(base, index, half), mask));
  }
  Value x = l.loadVec(base, index, mask);
  return halves() ? widened(l, stored(), halfOf(l, stored(), x)) : x;
}

namespace {
/// One row of one head, while its code is written.
class RowProgram {
public:
  RowProgram(Lowering &l, const AttentionShape &plan, Value key, Value value)
      : l(l), plan(plan), key(key), value(value) {}
  void emit(Value item);

private:
  Lowering &l;
  const AttentionShape &plan;
  Value key, value; ///< element 0 of keys and values

  void finish(Value out, Variable &sum, llvm::MutableArrayRef<Variable> outputs, StoredRows &values);
};
} // namespace

void RowProgram::emit(Value item) {
  attn::SdpaOp op = plan.op;
  Value rows = l.size(plan.rows), heads = l.constant(plan.heads), keys = l.size(plan.keys);
  Value row = l.rem(item, rows), head = l.rem(l.div(item, rows), heads), batch = l.div(l.div(item, rows), heads);
  Value keyHead = l.div(head, l.constant(plan.heads / plan.kvHeads)), position = l.add(l.size(plan.past), row);
  Value place = l.add(l.mul(l.add(l.mul(batch, rows), row), plan.heads), head);
  Value query = l.at(l.pointer(op.getQuery()), l.mul(place, plan.width), l.f32());
  Value out = l.at(l.allocatePointer(op->getResult(0)), l.mul(place, plan.valueWidth), l.f32());
  Value element = plan.sharedKeys ? l.constant(0) : batch;
  StoredRows storedKeys(l, plan, true, key, element, keyHead), storedValues(l, plan, false, value, element, keyHead);
  ScoreBias score(l, plan, batch, head, row, position);
  Value anchor = score.firstKey();

  auto larger = [&](Value x, Value y) { return l.select(l.lessf(y, x), x, y); }; // a NaN shows in its weight
  Value greatest = l.real(kLowest), total = l.real(0.0);
  if (Value sinks = op.getSinks()) { // a score whose value is 0: it is there from the start
    Value sink = l.loadF32(l.pointer(sinks), head);
    greatest = larger(sink, greatest);
    total = Functions(l).exp(l.subf(sink, greatest));
  }
  Variable most(l, greatest), sum(l, total);
  SmallVector<Variable> outputs;
  for (int64_t first = 0; first < plan.valueWidth; first += kWarp)
    outputs.emplace_back(l, l.real(0.0));

  auto load = [&](OpBuilder &b, Value operand, ArrayRef<Value> at) { return score.element(b, operand, at); };
  auto lengthOf = [&](Value t, int64_t axis) { return score.length(t, axis); };
  mask::Emitter e{l.b,  l.b,  l.b.getLoc(),          position, position, batch, head, l.size(plan.past),
                  rows, keys, l.size(plan.keyStart), load,     lengthOf};
  Value mask = plan.mask;

  auto visit = [&](OpBuilder &, Value begin, Value end, Value) {
    Value first = l.add(anchor, l.mul(l.div(l.sub(begin, anchor), l.constant(kWarp)), kWarp));
    l.Code::loop(first, end, kWarp, [&](Value at) {
      Value k = l.add(at, WarpLanes::lane(l)), from = l.max(begin, at), to = l.min(end, l.add(at, kWarp));
      Value behind = l.less(k, from), seen = l.less(k, to);
      Value yes = arith::ConstantOp::create(l.b, l.b.getBoolAttr(true));
      seen = arith::AndIOp::create(l.b, seen, Value(arith::XOrIOp::create(l.b, behind, yes)));
      Value there = l.min(l.max(k, from), l.sub(to, l.constant(1))); // a lane without a key looks at one that exists
      Value s =
          l.Code::loop(l.constant(0), l.constant(plan.width), 1, ValueRange{l.real(0.0)}, [&](Value d, ValueRange acc) {
            Value x = l.loadF32(query, d), y = storedKeys.at(there, d);
            return Values{l.fma(x, y, acc[0])};
          })[0];
      s = score.finished(s, there);
      Value count;
      if (mask) {
        mask::Emitter here = e; // values made once a row come in front of the walk
        here.step = l.b;
        Value sees = mask::emitContains(here, mask, position, there);
        l.b.restoreInsertionPoint(here.step.saveInsertionPoint());
        seen = arith::AndIOp::create(l.b, seen, sees);
        if (plan.counted) {
          here.step = l.b;
          count = mask::emitCount(here, mask, position, there);
          l.b.restoreInsertionPoint(here.step.saveInsertionPoint());
          count = arith::SIToFPOp::create(l.b, l.f32(), count);
        }
      }
      s = l.select(seen, s, l.real(-INFINITY));
      Value before = most.get(), now = larger(l.foldLanes(s, larger), before);
      most.set(now);
      Value shrunk = Functions(l).exp(l.subf(before, now)),
            p = l.select(seen, Functions(l).exp(l.subf(s, now)), l.real(0.0));
      if (count)
        p = l.mulf(p, count);
      Value added = l.sum(p);
      sum.set(l.fma(sum.get(), shrunk, added));
      for (Variable &o : outputs)
        o.set(l.mulf(o.get(), shrunk));
      l.Code::loop(from, to, 1, [&](Value key) {
        Value w = WarpLanes::fromLane(l, p, l.sub(key, at));
        // A value with weight 0 may be anything, because no row sees it.
        Value none = arith::CmpFOp::create(l.b, arith::CmpFPredicate::OEQ, w, l.real(0.0));
        for (auto [i, o] : llvm::enumerate(outputs)) {
          int64_t rest = plan.valueWidth - int64_t(i) * kWarp;
          Value v = storedValues.lanesAt(key, i * kWarp, rest < kWarp ? l.firstLanes(l.constant(rest)) : Value());
          o.set(l.fma(w, l.select(none, l.real(0.0), v), o.get()));
        }
      });
    });
  };
  mask::emitWalk(l.b, e, mask, anchor, kWarp, visit);
  finish(out, sum, outputs, storedValues);
}

void RowProgram::finish(Value out, Variable &sum, llvm::MutableArrayRef<Variable> outputs, StoredRows &values) {
  attn::SdpaOp op = plan.op;
  Value total = sum.get(), empty = arith::CmpFOp::create(l.b, arith::CmpFPredicate::OEQ, total, l.real(0.0));
  Value keys = l.size(plan.keys);
  for (auto [i, o] : llvm::enumerate(outputs)) {
    int64_t first = i * kWarp, rest = plan.valueWidth - first;
    Value mask = rest < kWarp ? l.firstLanes(l.constant(rest)) : Value();
    Value fill = l.real(op.getMaskedRows() == attn::MaskedRows::zero ? 0.0 : std::nan(""));
    if (op.getMaskedRows() == attn::MaskedRows::mean) {
      // Only a row that saw nothing reads all values.
      Value reach = l.select(empty, keys, l.constant(0));
      Value all = l.Code::loop(l.constant(0), reach, 1, ValueRange{l.real(0.0)}, [&](Value k, ValueRange acc) {
        return Values{l.addf(acc[0], values.lanesAt(k, first, mask))};
      })[0];
      fill = l.divf(all, arith::SIToFPOp::create(l.b, l.f32(), l.toI64(keys)));
    }
    l.storeLanes(l.select(empty, fill, l.divf(o.get(), total)), l.at(out, l.constant(first), l.f32()), mask);
  }
}

void heddle::loops::emitWarpAttention(Lowering &l, const AttentionShape &plan, Value key, Value value) {
  Location loc = plan.op->getLoc();
  Length items = l.mul(l.mul(l.size(plan.batch), plan.heads), l.size(plan.rows));
  RowProgram program(l, plan, key, value);
  l.parallelFor(loc, items, [&](Value item) { program.emit(item); });
  l.noteCost([&] {
    Cost cost = costOf(plan.op);
    cost.untiled = untiledAttention(plan.op);
    return cost;
  });
  l.barrier(loc);
}
