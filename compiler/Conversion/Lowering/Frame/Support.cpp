//===- Support.cpp - what loops are not made of ---------------------------===//
//
// Checks for what the language allows and loops cannot do, each with what was found.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/Frame/Support.h"
#include "compiler/Conversion/Lowering/Facts/AttentionShape.h"
#include "compiler/Conversion/Lowering/Frame/Lowering.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using namespace heddle::model;

/// One table of frequencies must serve all rows.
static LogicalResult check(RotaryOp op) {
  ModelTensorType frequencies = op.getFrequencies().getType();
  for (int64_t i = 0; i + 1 < frequencies.getRank(); ++i)
    if (!frequencies.getSize(i).is(1))
      return op.emitError("unsupported: frequencies that differ from row to row; found ") << frequencies;
  if (op.getAmplitude().getType().getCount() != Size(1))
    return op.emitError("unsupported: an amplitude that differs from row to row");
  return success();
}

/// Both numbers of features must be constants: panels and sums have fixed lengths.
static LogicalResult check(LinearOp op) {
  ModelTensorType x = op.getInput().getType(), y = cast<ModelTensorType>(op->getResult(0).getType());
  Size k = x.getSize(x.getRank() - 1), n = y.getSize(y.getRank() - 1);
  if (!k.constant() || !n.constant())
    return op.emitError("unsupported: a linear with numbers of features that are no constants; it reads ")
           << k.str() << " and gives " << n.str();
  return success();
}

/// Widths of heads must be constants (tiles are unrolled over them), and a mask must be known as an op, not as a value.
static LogicalResult check(attn::SdpaOp op) {
  if (!headWidth(op.getQuery(), op.getHeads()) || !headWidth(op.getValue(), op.getKvHeads()))
    return op.emitError("unsupported: heads with widths that are no constants; query is ") << op.getQuery().getType();
  if (op.getMask() && !op.getMask().getDefiningOp<mask::MaskOpInterface>())
    return op.emitError("unsupported: a mask that is computed in another function");
  for (Operation *bias : op.getBias() ? biasLeaves(op.getBias()) : SmallVector<Operation *>()) {
    auto dot = dyn_cast<attn::RelativeDotOp>(bias);
    if (!dot)
      continue;
    auto x = cast<ModelTensorType>(dot.getX().getType());
    if (!x.getSize(2).exactDiv(Size(int64_t(dot.getHeads()))) || !x.getSize(2).constant())
      return dot.emitError("unsupported: features that do not divide into heads; x is ") << x;
  }
  return success();
}

LogicalResult heddle::loops::checkSupport(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<RotaryOp, LinearOp, attn::SdpaOp>([](auto o) { return check(o); })
      .Default([](Operation *) { return success(); });
}
