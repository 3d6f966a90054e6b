//===- LinearCode.cpp - a linear's operands made ready --------------------===//

#include "compiler/Conversion/Lowering/Ops/LinearCode.h"
#include "compiler/Conversion/Lowering/Language/Halves.h"
#include "compiler/Conversion/Lowering/Language/LayoutCode.h"
#include "dialects/Model/IR/ModelPlanAttrs.h"
#include "dialects/Model/Transforms/Views.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include <numeric>

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using namespace heddle::model;
using Lower = heddle::loops::Lowering;

static int64_t resultsOf(LinearOp op) {
  auto y = cast<ModelTensorType>(op->getResult(0).getType());
  return *y.getSize(y.getRank() - 1).constant();
}

/// Which feature of the whole is feature `i` of the part of `n` that the linear is.
static Value wholeFeature(Lower &l, LinearOp op, Value i, int64_t n) {
  WeightLayout taken = rowsTakenBy(op);
  if (taken.parts.empty())
    return i;
  int64_t total = std::accumulate(taken.parts.begin(), taken.parts.end(), int64_t(0));
  return taken.take(n / taken.parts[taken.part] * total).row(LayoutCode{l}, i);
}

static Value packWeight(Lower &l, LinearOp op, const SumStep &step, int64_t n) {
  Value from = l.pointer(op.getWeight()), to = l.scratchPointer(op), k = l.constant(step.k);
  Value all = l.size(op.getWeight().getType().getSize(op.getInOut() ? 1 : 0));
  Length depth = l.number(step.depth());
  int64_t width = weightLayoutOf(op).panel;
  l.forEach(op.getLoc(), l.mul(l.number((n + width - 1) / width), depth), [&](Value item) {
    Value panel = l.div(item, depth), at = l.rem(item, depth);
    l.loop(op.getLoc(), l.constant(0), l.constant(width), 1, [&](Value lane) {
      Value i = l.add(l.mul(panel, width), lane), inside = l.less(i, l.constant(n));
      Value row = wholeFeature(l, op, l.select(inside, i, l.constant(0)), n);
      auto element = [&](Value kk, Value there) {
        Value index = op.getInOut() ? l.add(l.mul(kk, all), row) : l.add(l.mul(row, k), kk);
        return l.select(there, l.loadF32(from, index), l.real(0.0));
      };
      Value word;
      if (step.arithmetic.halves()) {
        Value even = l.mul(at, 2), odd = l.add(even, 1), both = l.less(odd, k);
        Value second = arith::AndIOp::create(l.b, inside, both);
        Value low = element(even, inside), high = element(l.select(both, odd, even), second);
        word = pairWord(l, step.arithmetic.stored, low, high);
      } else {
        word = element(at, inside);
      }
      l.store(word, l.at(to, l.add(l.mul(item, width), lane), l.f32()));
    });
  });
  l.noteCost([&] { return Cost{"linear", 0, false, bytesWhereItLies(op.getWeight()), LinearScratch(op).weight}; });
  l.barrier(op.getLoc());
  return to;
}

static Value packBias(Lower &l, LinearOp op, int64_t n) {
  Value from = l.pointer(op.getBias());
  Value to = l.at({l.scratchPointer(op), l.size(LinearScratch(op).weight)}, l.b.getI8Type());
  l.forEach(op.getLoc(), l.number(n),
            [&](Value i) { l.store({l.loadF32(from, wholeFeature(l, op, i, n)), l.at(to, i, l.f32())}); });
  l.noteCost([&] { return Cost{"linear", 0, false, LinearScratch(op).bias, LinearScratch(op).bias}; });
  l.barrier(op.getLoc());
  return to;
}

Value heddle::loops::rowBegin(Lower &l, LinearOp op, const LeftSide &left, Value row) {
  ModelTensorType x = op.getInput().getType();
  WindowsOp windows = left.windows;
  if (!windows)
    return l.mul(row, *x.getSize(x.getRank() - 1).constant());
  ModelTensorType source = windows.getOperand().getType();
  Value rows = l.size(x.getSize(1)), channels = l.size(source.getSize(2));
  Value batch = l.div(row, rows), element = l.mul(batch, l.size(source.getSize(1)));
  Value place = l.add(element, l.mul(l.rem(row, rows), windows.getStride()[0]));
  return l.mul(place, channels);
}

Value heddle::loops::packRows(Lower &l, LinearOp op, const SumStep &step) {
  LinearScratch scratch(op);
  LeftSide left(op);
  Value from = l.pointer(op.getInput()),
        to = l.at({l.scratchPointer(op), l.size(scratch.weight + scratch.bias)}, l.b.getI8Type());
  Type half = l.b.getI16Type();
  l.parallelFor(op.getLoc(), l.size(left.rows), [&](Value row) {
    Value source = l.at(from, rowBegin(l, op, left, row), l.f32()), target = l.at(to, l.mul(row, 2 * step.pitch), half);
    l.vectors(l.constant(step.k), [&](Value j, Value mask) {
      l.storeLanes({toBf16(l, l.loadVec(source, j, mask)), l.at(target, j, half)}, mask);
    });
    if (step.k % 2)
      l.store(l.integer(half, 0), l.at(target, l.constant(step.k), half));
  });
  l.noteCost([&] { return Cost{"linear", 0, false, bytesWhereItLies(op.getInput()), scratch.rows}; });
  l.barrier(op.getLoc());
  return to;
}

FailureOr<ReadyLinear> heddle::loops::readyLinear(Lower &l, LinearOp op,
                                                  Value (*prepare)(Lower &, LinearOp, const SumStep &)) {
  if (op->getNumResults() != 1)
    return op.emitOpError("internal error: model-split-linear leaves one result");
  for (Value extra : op.getExtras())
    if (kindOf(op, extra) == Extra::General)
      return op.emitOpError("internal error: an epilogue reads a value along some of the leading axes only");
  l.b.setLoc(op.getLoc());
  int64_t width = weightLayoutOf(op).panel, n = resultsOf(op);
  if (width % l.lanes)
    return op.emitOpError("has panels of ") << width << " results, but vectors of " << l.lanes;
  SumStep step = stepOf(op);
  ReadyLinear ready;
  ready.weight = isPackedWeight(op) ? l.pointer(op.getWeight()) : packWeight(l, op, step, n);
  ready.bias = LLVM::ZeroOp::create(l.b, l.Code::pointer());
  if (op.getBias())
    ready.bias = isPackedBias(op) ? l.pointer(op.getBias()) : packBias(l, op, n);
  ready.input = step.arithmetic.dots ? prepare(l, op, step) : l.pointer(op.getInput());
  if (int64_t bytes = preparationOf(op).panelBytes) {
    LinearScratch scratch(op);
    Value areas = l.at({l.scratchPointer(op), l.size(scratch.weight + scratch.bias + scratch.rows)}, l.b.getI8Type());
    ready.decoded = l.at(areas, l.mul(l.tid, bytes), l.b.getI8Type());
  }
  ready.result = l.allocatePointer(op->getResult(0));
  for (Value extra : op.getExtras())
    ready.extras.push_back(l.pointer(extra));
  return ready;
}
