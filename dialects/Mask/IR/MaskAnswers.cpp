//===- MaskAnswers.cpp - the interface's defaults ---------------------------===//
//
// The defaults of MaskOpInterface: from the axes along which a mask's tensors are follow the axes that
// it depends on, whether a tensor is read by query or key, and whether it fits the scores. And how a
// mask is written.
//
//===----------------------------------------------------------------------===//

#include "dialects/Mask/IR/Mask.h"
#include "dialects/Model/IR/TensorType.h"

using namespace mlir;
using namespace heddle::mask;
using heddle::model::ModelTensorType;
using heddle::model::Size;
using heddle::model::StepSide;
using heddle::model::typeOf;

/// An axis of length 1 does not make the mask depend on it.
Axes heddle::mask::axesRead(Operation *op) {
  Axes all = None;
  for (const Reading &r : cast<MaskOpInterface>(op).axesOf()) {
    ModelTensorType t = typeOf(op->getOperand(r.operand));
    int64_t n = std::min<int64_t>(t.getRank(), int64_t(r.axes.size()));
    for (int64_t i = 1; i <= n; ++i)
      if (!t.getSize(t.getRank() - i).is(1))
        all = all | r.axes[r.axes.size() - i];
  }
  return all;
}

StepSide heddle::mask::sideRead(Operation *op, unsigned operand) {
  StepSide side = StepSide::None;
  for (const Reading &r : cast<MaskOpInterface>(op).axesOf()) {
    bool queries = llvm::is_contained(r.axes, Query), keys = llvm::is_contained(r.axes, Key);
    if (r.operand != operand || (!queries && !keys))
      continue;
    StepSide here = queries && keys ? StepSide::QueriesAndKeys : queries ? StepSide::Queries : StepSide::Keys;
    side = side == StepSide::None ? here : StepSide::Both;
  }
  return side;
}

//===-- fit --------------------------------------------------------------------------===//

/// The shapes that would fit, for messages: "[T] or [B, T]".
static std::string showForms(ArrayRef<std::optional<Size>> want) {
  std::string text;
  size_t least = want.size() > 2 ? 2 : 1;
  for (size_t n = least; n <= want.size(); ++n) {
    text += n == least ? "[" : " or [";
    for (size_t i = want.size() - n; i < want.size(); ++i) {
      // In [B, H, T, S] the axis of heads can be left out alone: [B, T, S].
      const std::optional<Size> &size = want[n == 3 && want.size() == 4 && i == 1 ? 0 : i];
      text += (i > want.size() - n ? ", " : "") + (size ? size->str() : std::string("n"));
    }
    text += "]";
  }
  return text;
}

std::optional<std::string> heddle::mask::misfitOfTensor(StringRef what, Value tensor,
                                                        ArrayRef<std::optional<Size>> want, const Scores &scores) {
  ModelTensorType type = typeOf(tensor);
  for (int64_t i = 1; i <= type.getRank() && i <= int64_t(want.size()); ++i) {
    const std::optional<Size> &w = want[want.size() - i];
    Size have = type.getSize(type.getRank() - i);
    if (w && have != *w && !have.is(1))
      return what.str() + " of " + scores.show(tensor) + " has an axis of " + have.str() +
             " where the scores have one of " + w->str() + "; expected " + showForms(want);
  }
  return std::nullopt;
}

std::optional<std::string> heddle::mask::misfitOfAxes(Operation *op, const Scores &scores) {
  StringRef mnemonic = op->getName().stripDialect();
  for (const Reading &r : cast<MaskOpInterface>(op).axesOf()) {
    SmallVector<std::optional<Size>> want;
    for (Axes a : r.axes)
      want.push_back(a == Batch   ? std::optional(scores.batch)
                     : a == Head  ? std::optional(Size(scores.heads))
                     : a == Query ? std::optional(scores.rows)
                     : a == Key   ? std::optional(scores.keys)
                                  : std::nullopt);
    std::string what = r.name.empty() ? mnemonic.str() : ("the " + r.name + " of " + mnemonic).str();
    if (std::optional<std::string> no = misfitOfTensor(what, op->getOperand(r.operand), want, scores))
      return no;
  }
  return std::nullopt;
}

//===-- words ------------------------------------------------------------------------===//

std::string heddle::mask::call(Operation *op, TensorName tensor) {
  std::string text = op->getName().stripDialect().str();
  for (auto [i, v] : llvm::enumerate(op->getOperands()))
    text += (i ? ", " : "(") + tensor(v);
  return op->getNumOperands() ? text + ")" : text;
}
