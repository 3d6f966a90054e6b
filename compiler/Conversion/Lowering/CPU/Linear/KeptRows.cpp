//===- KeptRows.cpp - results laid out as linears read them ------------===//

#include "compiler/Conversion/Lowering/CPU/Linear/KeptRows.h"
#include "compiler/Conversion/Lowering/Facts/LinearShape.h"
#include "compiler/Conversion/Lowering/Language/Halves.h"
#include "dialects/Model/IR/ModelPlanAttrs.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using namespace heddle::model;

/// Whether the code that makes the rows of `op` can round them: one row after the other, of one batch element. (The
/// plan asks before it is known whether there is code for `op` at all.)
static bool rounds(Operation *op) {
  if (auto linear = dyn_cast_if_present<LinearOp>(op))
    return linear->getNumResults() == 1 && featuresOf(linear) && LeftSide(linear).batch.is(1);
  return isa_and_nonnull<LayerNormOp, RmsNormOp, attn::SdpaOp>(op);
}

std::optional<Size> heddle::loops::keptBytes(Value value) {
  Operation *maker = value.getDefiningOp();
  if (!rounds(maker) || !targetOf(maker) || value.use_empty())
    return std::nullopt;
  auto reader = dyn_cast<LinearOp>(*value.user_begin());
  if (!reader || reader->getBlock() != maker->getBlock())
    return std::nullopt;
  Arithmetic arithmetic = arithmeticOf(reader);
  int64_t k = featuresOf(reader);
  if (!arithmetic.dots || arithmetic.coding || !k || k % 2)
    return std::nullopt;
  SmallVector<LinearOp> readers = readersOfRows(reader);
  for (OpOperand &use : value.getUses()) {
    auto other = dyn_cast<LinearOp>(use.getOwner());
    if (!other || use.getOperandNumber() != other.getInputMutable().getOperandNumber() ||
        !llvm::is_contained(readers, other))
      return std::nullopt;
  }
  return preparedBytes(reader);
}

StringRef heddle::loops::whyNotKept(Value value) {
  auto roundsThem = [&](OpOperand &use) {
    auto linear = dyn_cast<LinearOp>(use.getOwner());
    return linear && linear.getInput() == value && arithmeticOf(linear).dots && !arithmeticOf(linear).coding;
  };
  if (keptBytes(value) || llvm::none_of(value.getUses(), roundsThem))
    return "";
  Operation *maker = value.getDefiningOp();
  if (!maker)
    return "they come into a repeat or the entry as f32";
  if (!rounds(maker))
    return "what makes them writes f32 only";
  if (!llvm::all_of(value.getUses(), roundsThem))
    return "an op reads them that is no linear of rounded rows";
  if (llvm::any_of(value.getUsers(), [&](Operation *user) { return user->getBlock() != maker->getBlock(); }))
    return "a linear in another block reads them";
  return "the linears that read them want them laid out in different ways";
}

std::optional<KeptRows> heddle::loops::keptRows(Value value) {
  auto result = dyn_cast<OpResult>(value);
  const plan::Target *target = result ? plan::targetOf(result.getOwner()) : nullptr;
  std::optional<Size> bytes = target ? target->bytesOf(result) : std::nullopt;
  if (!bytes)
    return std::nullopt;
  return KeptRows{LeftSide(cast<LinearOp>(*value.user_begin())).pitch, *bytes};
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
