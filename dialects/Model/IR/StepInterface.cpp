//===- StepInterface.cpp - how rows depend on rows, op by op ----------------===//
//
// The table of step.md section 2, without what happens along the rows.
//
//===----------------------------------------------------------------------===//

#include "dialects/Model/IR/Model.h"

using namespace mlir;
using namespace heddle::model;

#include "dialects/Model/IR/StepInterface.cpp.inc"

static unsigned rankOf(Value v) { return cast<ModelTensorType>(v.getType()).getRank(); }
static std::string nameOf(Operation *op) { return op->getName().stripDialect().str(); }

StepRelation heddle::model::relateRowWise(Operation *op, unsigned operand, unsigned axis) {
  return StepRelation::same(axis + rankOf(op->getResult(0)) - rankOf(op->getOperand(operand)));
}

/// Ops that mix the last axis of their first operand; the others are weights.
static StepRelation relateFeatures(Operation *op, unsigned operand, unsigned axis) {
  if (operand != 0)
    return StepRelation::mixed(nameOf(op) + ": a weight has the step axis");
  if (axis + 1 == rankOf(op->getOperand(0)))
    return StepRelation::mixed(nameOf(op) + " mixes along the last axis, which here is the step axis");
  return StepRelation::same(axis);
}

StepRelation LinearOp::relateStep(unsigned operand, unsigned axis) { return relateFeatures(*this, operand, axis); }
StepRelation LayerNormOp::relateStep(unsigned operand, unsigned axis) { return relateFeatures(*this, operand, axis); }
StepRelation RmsNormOp::relateStep(unsigned operand, unsigned axis) { return relateFeatures(*this, operand, axis); }
StepRelation BatchNormOp::relateStep(unsigned operand, unsigned axis) { return relateFeatures(*this, operand, axis); }
StepRelation L2NormOp::relateStep(unsigned operand, unsigned axis) { return relateFeatures(*this, operand, axis); }
StepRelation TopKOp::relateStep(unsigned operand, unsigned axis) { return relateFeatures(*this, operand, axis); }

StepRelation GroupNormOp::relateStep(unsigned operand, unsigned axis) {
  if (operand == 0 && axis == 0)
    return StepRelation::same(0);
  return StepRelation::mixed("group_norm takes its statistics over all positions");
}

StepRelation EmbeddingOp::relateStep(unsigned operand, unsigned axis) {
  return operand == 0 ? StepRelation::same(axis) : StepRelation::mixed("embedding: the table has the step axis");
}
StepRelation SinusoidalOp::relateStep(unsigned, unsigned axis) { return StepRelation::same(axis); }

StepRelation RotaryOp::relateStep(unsigned operand, unsigned axis) {
  unsigned r = rankOf(getResult()), q = rankOf((*this)->getOperand(operand));
  switch (operand) {
  case 0: return relateFeatures(*this, 0, axis);
  case 1: // positions: as the input without its features
    return StepRelation::same(axis + r - 1 - q);
  case 2: // frequencies [.., n] against positions[.., null]
    if (axis + 1 == q)
      return StepRelation::mixed("rotary: the frequencies lie along the step axis");
    return StepRelation::same(axis + r - q);
  default: return StepRelation::mixed("rotary: the amplitude has the step axis");
  }
}

StepRelation SoftmaxOp::relateStep(unsigned, unsigned axis) {
  return axis == uint64_t(getAxis()) ? StepRelation::mixed("softmax along the step axis") : StepRelation::same(axis);
}
StepRelation CumsumOp::relateStep(unsigned operand, unsigned axis) {
  if (operand != 0)
    return StepRelation::mixed("cumsum: the first sum has the step axis");
  return axis == uint64_t(getAxis()) ? StepRelation::along() : StepRelation::same(axis);
}
StepRelation ReduceOp::relateStep(unsigned, unsigned axis) {
  unsigned dropped = 0;
  for (int64_t a : getAxes()) {
    if (a == int64_t(axis))
      return StepRelation::along();
    dropped += !getKeep() && a < int64_t(axis);
  }
  return StepRelation::same(axis - dropped);
}

//===-- moving -----------------------------------------------------------------===//

StepRelation SliceOp::relateStep(unsigned, unsigned axis) {
  return axis == uint64_t(getAxis()) ? StepRelation::along() : StepRelation::same(axis);
}
StepRelation PadOp::relateStep(unsigned, unsigned axis) {
  return axis == uint64_t(getAxis()) ? StepRelation::along() : StepRelation::same(axis);
}
StepRelation ConcatOp::relateStep(unsigned operand, unsigned axis) {
  unsigned at = axis + rankOf(getResult()) - rankOf((*this)->getOperand(operand));
  return at == uint64_t(getAxis()) ? StepRelation::along() : StepRelation::same(at);
}
StepRelation SqueezeOp::relateStep(unsigned, unsigned axis) {
  return StepRelation::same(axis - (axis > uint64_t(getAxis())));
}
StepRelation UnsqueezeOp::relateStep(unsigned, unsigned axis) {
  return StepRelation::same(axis + (axis >= uint64_t(getAxis())));
}
StepRelation GatherOp::relateStep(unsigned operand, unsigned axis) {
  if (axis == 0 || operand == 1)
    return StepRelation::same(axis);
  if (axis > 1) // axes after the rows
    return StepRelation::same(axis + rankOf(getResult()) - rankOf((*this)->getOperand(0)));
  return StepRelation::along();
}

StepRelation RearrangeOp::relateStep(unsigned, unsigned axis) {
  std::optional<AxesPattern> pattern = parsePattern(getPattern());
  auto names = [](const PatternGroup &g) {
    PatternGroup out;
    for (const std::string &n : g)
      if (n != "1")
        out.push_back(n);
    return out;
  };
  PatternGroup mine = names(pattern->left[axis]);
  std::string quoted = "rearrange '" + getPattern().str() + "' ";
  if (mine.size() != 1)
    return StepRelation::mixed(quoted + "splits the step axis");
  for (auto [i, group] : llvm::enumerate(pattern->right))
    if (llvm::is_contained(group, mine[0])) {
      if (names(group).size() == 1)
        return StepRelation::same(i);
      break;
    }
  return StepRelation::mixed(quoted + "merges the step axis with another");
}

StepRelation MatmulOp::relateStep(unsigned operand, unsigned axis) {
  unsigned q = rankOf((*this)->getOperand(operand));
  if (axis + (operand == 0 ? 1 : 2) == q)
    return StepRelation::mixed(
        "matmul sums over the step axis; say it with `attention`, which can have a mask that is proved causal");
  return relateRowWise(*this, operand, axis);
}

StepRelation ConvOp::relateStep(unsigned operand, unsigned axis) {
  if (operand != 0)
    return StepRelation::mixed("conv: a weight has the step axis");
  if (axis == 0)
    return StepRelation::same(0);
  if (axis + 1 == rankOf(getInput()))
    return StepRelation::mixed("conv mixes channels along the step axis");
  return StepRelation::along();
}
StepRelation InterpolateOp::relateStep(unsigned operand, unsigned axis) {
  if (operand == 0 && (axis == 0 || axis > getSizes().size()))
    return StepRelation::same(axis);
  return StepRelation::mixed("interpolate resamples the step axis");
}
