//===- KeptRows.cpp - results that lie as linears read them ---------------===//

#include "compiler/Conversion/Lowering/Facts/KeptRows.h"
#include "compiler/Conversion/Lowering/Facts/LinearPack.h"
#include "compiler/Conversion/Lowering/Language/Halves.h"
#include "dialects/Model/IR/ModelPlanAttrs.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using namespace heddle::model;

static std::optional<int64_t> featuresOf(Value rows) {
  return cast<ModelTensorType>(rows.getType()).getSizes().back().constant();
}

/// Whether the code that makes the rows of `op` can round them: one row after the other, of one batch element. (The
/// plan asks before it is known whether there is code for `op` at all.)
static bool rounds(Operation *op) {
  if (auto linear = dyn_cast_if_present<LinearOp>(op))
    return linear->getNumResults() == 1 && featuresOf(linear.getInput()) && LeftSide(linear).batch.is(1);
  return isa_and_nonnull<LayerNormOp, RmsNormOp, attn::SdpaOp>(op);
}

std::optional<KeptRows> heddle::loops::keptRows(Value value) {
  Operation *maker = value.getDefiningOp();
  TargetAttr target = rounds(maker) ? targetOf(maker) : TargetAttr();
  if (!target || target.getName() != "cpu" || value.use_empty())
    return std::nullopt;
  auto reader = dyn_cast<LinearOp>(*value.user_begin());
  if (!reader || reader->getBlock() != maker->getBlock())
    return std::nullopt;
  Arithmetic arithmetic = arithmeticOf(reader);
  std::optional<int64_t> k = featuresOf(value);
  if (!arithmetic.dots || arithmetic.coding || !k || *k % 2)
    return std::nullopt;
  SmallVector<LinearOp> readers = readersOfRows(reader);
  for (OpOperand &use : value.getUses()) {
    auto other = dyn_cast<LinearOp>(use.getOwner());
    if (!other || use.getOperandNumber() != other.getInputMutable().getOperandNumber() ||
        !llvm::is_contained(readers, other))
      return std::nullopt;
  }
  return KeptRows{LeftSide(reader).pitch, roundedBytes(reader)};
}

Value heddle::loops::keptAt(Code &c, Value rows, const KeptRows &kept, Value row, Value column) {
  return c.at(rows, c.add(c.mul(row, 2 * kept.pitch), column), c.b.getI16Type());
}

void heddle::loops::storeKept(Code &c, Value elements, Value address, Value mask) {
  c.storeLanes({toBf16(c, elements), address}, mask);
}

ExtraStore heddle::loops::keepRows(Lowering &l, Operation *norm) {
  std::optional<KeptRows> kept = keptRows(norm->getResult(0));
  if (!kept)
    return {};
  Value rows = l.pointer(norm->getResult(0));
  auto store = [=, &l](Value row, Value column, Value mask, Value elements) {
    storeKept(l, elements, keptAt(l, rows, *kept, row, column), mask);
  };
  return {store, /*alone=*/true};
}
