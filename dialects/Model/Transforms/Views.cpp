//===- Views.cpp - ops that only look at memory otherwise -----------------===//

#include "dialects/Model/Transforms/Views.h"

using namespace mlir;
using namespace heddle::model;

Rearrangement heddle::model::rearrangement(RearrangeOp op) {
  std::optional<AxesPattern> pattern = parsePattern(op.getPattern());
  std::string why;
  Rearrangement r;
  r.sizes = *patternSizes(*pattern, op.getOperand().getType(), op.getSizes(), why);
  auto flatten = [&](const std::vector<PatternGroup> &side, std::vector<std::string> &out) {
    for (const PatternGroup &group : side)
      for (const std::string &name : group)
        if (name != "1" && !r.sizes[name].is(1))
          out.push_back(name);
  };
  flatten(pattern->left, r.from);
  flatten(pattern->right, r.to);
  return r;
}

bool heddle::model::overlaps(WindowsOp op) {
  if (op.getSize().size() != 1 || op.getDilation()[0] != 1)
    return false;
  return llvm::all_of(op->getUses(),
                      [](OpOperand &use) { return isa<LinearOp>(use.getOwner()) && use.getOperandNumber() == 0; });
}

std::optional<Size> heddle::model::viewOffset(Operation *op) {
  if (auto windows = dyn_cast<WindowsOp>(op))
    return overlaps(windows) ? std::optional(Size(0)) : std::nullopt;
  if (isa<SqueezeOp, UnsqueezeOp>(op))
    return Size(0);
  if (auto r = dyn_cast<RearrangeOp>(op)) {
    Rearrangement names = rearrangement(r);
    return names.from == names.to ? std::optional(Size(0)) : std::nullopt;
  }
  if (isa<BroadcastOp, CastOp>(op)) {
    auto from = cast<ModelTensorType>(op->getOperand(0).getType());
    auto to = cast<ModelTensorType>(op->getResult(0).getType());
    return from.getElementType() == to.getElementType() && from.getCount() == to.getCount() ? std::optional(Size(0))
                                                                                            : std::nullopt;
  }
  if (auto s = dyn_cast<SliceOp>(op)) {
    ModelTensorType t = s.getOperand().getType();
    int64_t axis = s.getAxis();
    Size inner = 1;
    for (int64_t i = 0; i < t.getRank(); ++i)
      if (i < axis && !t.getSize(i).is(1))
        return s.getType().getSize(axis) == t.getSize(axis) ? std::optional(Size(0)) : std::nullopt;
      else if (i > axis)
        inner = inner * t.getSize(i);
    return *Size::parse(s.getFrom()) * inner;
  }
  return std::nullopt;
}
