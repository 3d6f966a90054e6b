//===- LinearShape.cpp - operands and scratch of a linear -----------------===//
//
// Weights that are packed parameters are ready in the blob; any other weight is packed into scratch first. Dots need
// the left side as pairs of bf16 or as codes: every row is prepared once, before the panels pass over it.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/Facts/LinearShape.h"
#include "dialects/Model/IR/ModelPlanAttrs.h"
#include "dialects/Model/IR/ReservedDims.h"
#include "dialects/Model/Transforms/Views.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using namespace heddle::model;

Extra heddle::loops::kindOf(LinearOp op, Value extra) {
  auto y = cast<ModelTensorType>(op->getResult(0).getType()), t = cast<ModelTensorType>(extra.getType());
  int64_t shift = y.getRank() - t.getRank(), last = y.getRank() - 1;
  bool column = t.getRank() && !t.getSize(t.getRank() - 1).is(1), all = true, none = true;
  for (int64_t i = 0; i < last; ++i) {
    bool has = i >= shift && !t.getSize(i - shift).is(1);
    if (!y.getSize(i).is(1))
      (has ? none : all) = false;
  }
  if (none)
    return column ? Extra::Column : Extra::Scalar;
  if (all)
    return column || y.getSize(last).is(1) ? Extra::Element : Extra::Row;
  return Extra::General;
}

std::optional<unsigned> heddle::loops::gateOf(LinearOp op) {
  if (op.getEpilogue().empty())
    return std::nullopt;
  Block &body = op.getEpilogue().front();
  auto kept = body.getArgument(0).hasOneUse() ? dyn_cast<arith::SelectOp>(*body.getArgument(0).user_begin())
                                              : arith::SelectOp();
  if (!kept || kept.getTrueValue() != body.getArgument(0) || !matchPattern(kept.getFalseValue(), m_AnyZeroFloat()))
    return std::nullopt;
  auto open = kept.getCondition().getDefiningOp<arith::CmpFOp>();
  auto gate = open ? dyn_cast<BlockArgument>(open.getLhs()) : BlockArgument();
  if (!gate || gate.getOwner() != &body || gate.getArgNumber() == 0 ||
      open.getPredicate() != arith::CmpFPredicate::UNE || !matchPattern(open.getRhs(), m_AnyZeroFloat()))
    return std::nullopt;
  unsigned extra = gate.getArgNumber() - 1;
  return kindOf(op, op.getExtras()[extra]) == Extra::Row ? std::optional(extra) : std::nullopt;
}

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

int64_t heddle::loops::featuresOf(LinearOp op) {
  ModelTensorType x = op.getInput().getType();
  return x.getSize(x.getRank() - 1).constant().value_or(0);
}

plan::Preparation heddle::loops::preparationOf(LinearOp op) {
  const plan::Target *target = plan::targetOf(op);
  return target ? target->preparationOf(op) : plan::Preparation();
}

/// Whether all of a linear's working memory is its rounded rows, and what a panel is unpacked into.
static bool onlyRows(LinearOp op) {
  Arithmetic arithmetic = arithmeticOf(op);
  return arithmetic.dots && !arithmetic.coding.ordered && op->getNumResults() == 1 && isPackedWeight(op) &&
         (!op.getBias() || isPackedBias(op));
}

/// Whether rows of both are the same bytes, and of equal working memory.
static bool preparedAlike(LinearOp a, LinearOp b) {
  Coding x = arithmeticOf(a).coding, y = arithmeticOf(b).coding;
  x.scale = y.scale;
  return x == y && preparationOf(a).threadBytes == preparationOf(b).threadBytes;
}

SmallVector<LinearOp> heddle::loops::readersOfRows(LinearOp op) {
  SmallVector<LinearOp> readers;
  if (!onlyRows(op))
    return readers;
  for (Operation *user : op.getInput().getUsers()) {
    auto other = dyn_cast<LinearOp>(user);
    if (other && other.getInput() == op.getInput() && other->getBlock() == op->getBlock() && onlyRows(other) &&
        preparedAlike(op, other) && !llvm::is_contained(readers, other))
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
    int64_t prepared = preparationOf(op).pitch;
    pitch = prepared ? prepared : step.pitch;
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
  if (int64_t ofThread = preparationOf(op).threadBytes)
    own = Size::dim(kThreadsDim) * Size(ofThread);
  auto input = dyn_cast<OpResult>(op.getInput());
  if (arithmetic.dots && !(input && plan::targetOf(op)->bytesOf(input)))
    rows = preparedBytes(op);
}

Size heddle::loops::preparedBytes(LinearOp op) {
  ModelTensorType x = op.getInput().getType();
  Size rows = 1;
  for (int64_t i = 0; i + 1 < x.getRank(); ++i)
    rows = rows * x.getSize(i);
  int64_t whole = preparationOf(op).rowsTogether;
  return (rows + Size(whole - 1)).floorDiv(Size(whole)) * Size(whole * 4 * LeftSide(op).pitch);
}
