//===- KeyParts.cpp - keys of an attention, shared out --------------------===//

#include "compiler/Conversion/Lowering/GPU/Attention/KeyParts.h"
#include "compiler/Conversion/Lowering/GPU/WarpLanes.h"
#include "compiler/Conversion/Lowering/Language/Functions.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using model::Size;

static Size partsOf(const AttentionShape &plan) { return (plan.keys + Size(kPartKeys - 1)).floorDiv(Size(kPartKeys)); }
/// Rows of all parts.
static Size rowsOf(const AttentionShape &plan) {
  return plan.batch * Size(plan.groups()) * partsOf(plan) * Size(KeyParts::kLowRows);
}

Size KeyParts::bytes(const AttentionShape &plan) { return rowsOf(plan) * Size(4 * (plan.valueWidth + 2)); }
Size KeyParts::leftBytes(const AttentionShape &plan) {
  return plan.batch * plan.rows * Size(plan.heads) * partsOf(plan) * Size(4 * (plan.valueWidth + 2));
}

KeyParts::KeyParts(Lowering &l, const AttentionShape &plan) : l(l), plan(plan), count(l.size(partsOf(plan))) {
  base = l.at({l.scratchPointer(plan.op), l.size(plan.atAnchors())}, l.f32());
  outputs = l.size(rowsOf(plan) * Size(plan.valueWidth));
}

Value KeyParts::rowOf(Value batch, Value group, Value part, Value row) const {
  Value outer = l.add(l.mul(batch, plan.groups()), group), number = l.add(l.mul(outer, count), part);
  return l.add(l.mul(number, kLowRows), row);
}
Value KeyParts::output(Value row) const { return l.at({base, l.mul(row, plan.valueWidth)}, l.f32()); }
Value KeyParts::numbers(Value row) const {
  Value first = l.at({base, outputs}, l.f32());
  return l.at({first, l.mul(row, 2)}, l.f32());
}

Value heddle::loops::shrinkage(Lowering &l, Value most, Value now) { return Functions(l).exp(l.subf(most, now)); }

Value heddle::loops::shrunk(Lowering &l, Value x, Value factor) {
  Value size = math::AbsFOp::create(l.b, x), product = l.mulf(x, factor);
  return l.select({l.lessf(size, l.real(INFINITY)), product, x});
}

/// A row of a head is the work of a warp, a lane has some features. Parts are fetched several at a time, since joining
/// one waits for the one before.
void heddle::loops::emitJoin(Lowering &l, const KeyParts &parts, const Length &rows) {
  constexpr int64_t kTogether = 8;
  const AttentionShape &plan = parts.plan;
  attn::SdpaOp op = plan.op;
  Location loc = op->getLoc();
  Value heads = l.constant(plan.heads);
  l.parallelFor(loc, l.mul(l.mul(l.size(plan.batch), plan.heads), rows), [&](Value item) {
    Value row = l.rem(item, rows), head = l.rem(l.div(item, rows), heads), batch = l.div(l.div(item, rows), heads);
    Value group = l.div(head, l.constant(plan.packed)), member = l.rem(head, l.constant(plan.packed));
    Value packed = l.add(l.mul(row, plan.packed), member), end = l.sub(parts.count, l.constant(1));
    SmallVector<Value> masks;
    for (int64_t first = 0; first < plan.valueWidth; first += kWarp) {
      int64_t rest = plan.valueWidth - first;
      masks.push_back(rest < kWarp ? l.firstLanes(l.constant(rest)) : Value());
    }
    // The largest score, the sum of weights, this lane's features.
    Values start{l.real(kLowest), l.real(0.0)};
    if (Value sinks = op.getSinks()) {
      Value sink = l.loadF32(l.pointer(sinks), head);
      start[0] = larger(l, sink, start[0]);
      start[1] = shrinkage(l, sink, start[0]);
    }
    start.append(masks.size(), l.real(0.0));
    Values done = l.Code::loop(l.constant(0), parts.count, kTogether, start, [&](Value first, ValueRange before) {
      SmallVector<Values> fetched;
      for (int64_t i = 0; i < kTogether; ++i) {
        Value at = parts.rowOf(batch, group, l.min(l.add(first, i), end), packed);
        Value numbers = parts.numbers(at), output = parts.output(at);
        Values &part = fetched.emplace_back();
        part.push_back(l.loadF32(numbers, l.constant(0)));
        part.push_back(l.loadF32(numbers, l.constant(1)));
        for (auto [n, mask] : llvm::enumerate(masks))
          part.push_back(l.loadVec(output, l.constant(int64_t(n) * kWarp), mask));
      }
      Values now(before.begin(), before.end());
      for (auto [i, part] : llvm::enumerate(fetched)) {
        Value there = l.less(l.add(first, int64_t(i)), parts.count);
        Value most = larger(l, part[0], now[0]);
        Value old = shrinkage(l, now[0], most), own = shrinkage(l, part[0], most);
        Values next{most};
        Value before = l.mulf(now[1], old), added = l.mulf(part[1], own);
        next.push_back(l.addf(before, added));
        for (size_t n = 2; n < now.size(); ++n) {
          Value kept = shrunk(l, now[n], old), more = shrunk(l, part[n], own);
          next.push_back(l.addf(kept, more));
        }
        for (size_t n = 0; n < now.size(); ++n)
          now[n] = l.select({there, next[n], now[n]});
      }
      return now;
    });
    Value fill = l.real(op.getMaskedRows() == attn::MaskedRows::zero ? 0.0 : std::nan(""));
    Value empty = arith::CmpFOp::create(l.b, arith::CmpFPredicate::OEQ, done[1], l.real(0.0));
    Value place = l.add(l.mul(l.add(l.mul(batch, l.size(plan.rows)), row), plan.heads), head);
    Value out = l.at({l.pointer(op->getResult(0)), l.mul(place, plan.valueWidth)}, l.f32());
    for (auto [n, mask] : llvm::enumerate(masks)) {
      Value mean = l.divf(done[n + 2], done[1]);
      l.storeLanes(l.select({empty, fill, mean}), l.at(out, l.constant(int64_t(n) * kWarp), l.f32()), mask);
    }
  });
}
