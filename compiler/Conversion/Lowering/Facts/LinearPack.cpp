//===- LinearPack.cpp - what a linear rearranges at run time --------------===//
//
// Weights that are packed parameters lie ready in the blob; any other weight is packed into
// scratch first. Dots need the left side as pairs of bf16: every row is rounded once, before the
// panels pass over it.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/Facts/LinearPack.h"
#include "compiler/Conversion/Lowering/CPU/Linear/IntegerRows.h"
#include "compiler/Conversion/Lowering/CPU/Linear/MatrixSums.h"
#include "compiler/Conversion/Lowering/Facts/KeptRows.h"
#include "compiler/Conversion/Lowering/Facts/LinearCode.h"
#include "dialects/Model/IR/ReservedDims.h"
#include "dialects/Model/Transforms/Views.h"
#include <numeric>

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using namespace heddle::model;
using Lower = heddle::loops::Lowering;

static LayoutAttr layoutOf(Value v) {
  auto param = v.getDefiningOp<ParamOp>();
  return param ? param.getLayoutAttr() : LayoutAttr();
}
bool heddle::loops::isPackedWeight(LinearOp op) {
  LayoutAttr layout = layoutOf(op.getWeight());
  return layout && layout.getPanel();
}
bool heddle::loops::isPackedBias(LinearOp op) {
  auto parts = op.getParts();
  if (!op.getPart() || !parts || parts->size() < 2)
    return true;
  LayoutAttr layout = layoutOf(op.getBias());
  return layout && !layout.getParts().empty();
}

WeightLayout heddle::loops::weightLayoutOf(LinearOp op) {
  if (isPackedWeight(op))
    return layoutOf(op.getWeight()).getLayout();
  WeightLayout layout; // of the rows that are taken
  layout.type = packedTypeOf(arithmeticOf(op).stored);
  layout.panel = scheduleOf(op).getPanel();
  return layout;
}

/// 0 where their number is no constant, which no kernel takes (Support.cpp).
static int64_t featuresOf(LinearOp op) {
  ModelTensorType x = op.getInput().getType();
  return x.getSize(x.getRank() - 1).constant().value_or(0);
}

bool heddle::loops::multipliesMatrices(LinearOp op) {
  Arithmetic arithmetic = arithmeticOf(op);
  int64_t k = featuresOf(op);
  if (!k)
    return false;
  if (arithmetic.integers()) {
    int64_t unit = arithmetic.unit(k);
    return unit % MatrixTiles::bytes == 0 && MatrixTiles::has(op, "amx-int8");
  }
  return arithmetic.dots && !arithmetic.coding && k % (2 * MatrixTiles::words) == 0 && MatrixTiles::has(op, "amx-bf16");
}

/// Whether all of a linear's working memory is its rounded rows, and what a panel is unpacked into.
static bool onlyRows(LinearOp op) {
  Arithmetic arithmetic = arithmeticOf(op);
  return arithmetic.dots && !arithmetic.coding.ordered && op->getNumResults() == 1 && isPackedWeight(op) &&
         (!op.getBias() || isPackedBias(op));
}

/// Whether rows of both are the same bytes, and of equal working memory.
static bool roundAlike(LinearOp a, LinearOp b) {
  Coding x = arithmeticOf(a).coding, y = arithmeticOf(b).coding;
  return x.bits == y.bits && x.group == y.group && x.zeros == y.zeros && decodedBytes(a) == decodedBytes(b);
}

SmallVector<LinearOp> heddle::loops::readersOfRows(LinearOp op) {
  SmallVector<LinearOp> readers;
  if (!onlyRows(op))
    return readers;
  for (Operation *user : op.getInput().getUsers()) {
    auto other = dyn_cast<LinearOp>(user);
    if (other && other.getInput() == op.getInput() && other->getBlock() == op->getBlock() && onlyRows(other) &&
        roundAlike(op, other) && !llvm::is_contained(readers, other))
      readers.push_back(other);
  }
  llvm::sort(readers, [](LinearOp a, LinearOp c) { return a->isBeforeInBlock(c); });
  return readers;
}

LeftSide::LeftSide(LinearOp op) : windows(op.getInput().getDefiningOp<WindowsOp>()) {
  ModelTensorType x = op.getInput().getType();
  int64_t last = x.getRank() - 1;
  SumStep step(arithmeticOf(op), *x.getSize(last).constant());
  if (windows && !overlaps(windows))
    windows = {};
  if (!windows || step.arithmetic.dots) {
    for (int64_t i = 0; i < last; ++i)
      rows = rows * x.getSize(i);
    pitch = step.pitch;
    if (step.arithmetic.integers())
      pitch = IntegerRow(step.arithmetic, step.k, productsOf(op)).bytes / 4;
    else if (multipliesMatrices(op)) // an odd number of lines: rows of a register lie in different sets of a cache
      pitch += pitch / MatrixTiles::words % 2 ? 0 : MatrixTiles::words;
    between = rows * Size(pitch);
    return;
  }
  ModelTensorType source = windows.getOperand().getType();
  batch = x.getSize(0);
  rows = x.getSize(1);
  pitch = windows.getStride()[0] * *source.getSize(2).constant();
  between = source.getSize(1) * source.getSize(2);
}

SumStep heddle::loops::stepOf(LinearOp op) {
  ModelTensorType x = op.getInput().getType();
  SumStep step(arithmeticOf(op), *x.getSize(x.getRank() - 1).constant());
  step.pitch = LeftSide(op).pitch;
  return step;
}

/// Parts begin at cache lines.
static Size lines(Size bytes) { return (bytes + Size(63)).floorDiv(Size(64)) * Size(64); }

/// Whether the tiles of many rows multiply by panels of 16 bits that a thread has widened: not where a row may need
/// none of them, nor on a device, whose threads are too many.
static bool widensPanels(LinearOp op, Arithmetic arithmetic, int64_t k) {
  TargetAttr target = targetOf(op);
  auto y = cast<ModelTensorType>(op->getResult(0).getType());
  int64_t n = y.getSize(y.getRank() - 1).constant().value_or(0);
  return arithmetic.halves() && !arithmetic.dots && k * n >= scheduleOf(op).getSmall() && !gateOf(op) &&
         !(target && target.getName() != "cpu");
}

int64_t heddle::loops::decodedBytes(LinearOp op) {
  int64_t k = featuresOf(op), panel = weightLayoutOf(op).panel;
  Arithmetic arithmetic = arithmeticOf(op);
  if (!arithmetic.coding)
    return widensPanels(op, arithmetic, k) ? LinearScratch::linesOf(4 * k * panel) : 0;
  int64_t bytes = MatrixSums::unpackedBytes(arithmetic.coding, k, panel);
  if (!arithmetic.dots)
    return LinearScratch::linesOf(4 * bytes);
  return arithmetic.coding.bits == 4 && multipliesMatrices(op) ? LinearScratch::linesOf(bytes) : 0;
}

LinearScratch::LinearScratch(LinearOp op) {
  ModelTensorType x = op.getInput().getType(), y = cast<ModelTensorType>(op->getResult(0).getType());
  Size k = x.getSize(x.getRank() - 1), n = y.getSize(y.getRank() - 1);
  if (!isPackedWeight(op) && n.constant() && k.constant())
    weight = Size(int64_t(weightLayoutOf(op).bytes(*n.constant(), *k.constant())));
  if (op.getBias() && !isPackedBias(op))
    bias = lines(n * Size(4));
  Arithmetic arithmetic = arithmeticOf(op);
  if (!k.constant())
    return;
  int64_t ofThread = decodedBytes(op);
  if (arithmetic.integers() && arithmetic.coding.ordered)
    ofThread = std::max(ofThread, linesOf(4 * *k.constant()));
  if (ofThread)
    own = Size::dim(kThreadsDim) * Size(ofThread);
  if (arithmetic.dots && !keptRows(op.getInput()))
    rows = roundedBytes(op);
}

Size heddle::loops::roundedBytes(LinearOp op) {
  ModelTensorType x = op.getInput().getType();
  Size rows = 1;
  for (int64_t i = 0; i + 1 < x.getRank(); ++i)
    rows = rows * x.getSize(i);
  int64_t whole = multipliesMatrices(op) ? MatrixTiles::rows : 1; // rows of a register
  return (rows + Size(whole - 1)).floorDiv(Size(whole)) * Size(whole * 4 * LeftSide(op).pitch);
}

/// Which feature of the whole is feature `i` of the part of `n` that the linear is.
static Value wholeFeature(Lower &l, LinearOp op, Value i, int64_t n) {
  WeightLayout taken = rowsTakenBy(op);
  if (taken.parts.empty())
    return i;
  int64_t total = std::accumulate(taken.parts.begin(), taken.parts.end(), int64_t(0));
  return taken.take(n / taken.parts[taken.part] * total).row(LayoutCode{l}, i);
}

Value heddle::loops::packWeight(Lower &l, LinearOp op, const SumStep &step, int64_t n) {
  Value from = l.pointer(op.getWeight()), to = l.scratchPointer(op), k = l.constant(step.k);
  Value all = l.size(op.getWeight().getType().getSize(op.getInOut() ? 1 : 0));
  Value depth = l.constant(step.depth());
  int64_t width = weightLayoutOf(op).panel;
  l.forEach(op.getLoc(), l.mul(l.constant((n + width - 1) / width), depth), [&](Value item) {
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

Value heddle::loops::packBias(Lower &l, LinearOp op, int64_t n) {
  Value from = l.pointer(op.getBias());
  Value to = l.at({l.scratchPointer(op), l.size(LinearScratch(op).weight)}, l.b.getI8Type());
  l.forEach(op.getLoc(), l.constant(n),
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

Value heddle::loops::sharedRows(Lower &l, LinearOp op, const SumStep &step) {
  if (keptRows(op.getInput()))
    return l.pointer(op.getInput());
  SmallVector<LinearOp> readers = readersOfRows(op);
  return readers.empty() || readers.front() == op ? packRows(l, op, step) : l.scratchPointer(op);
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
