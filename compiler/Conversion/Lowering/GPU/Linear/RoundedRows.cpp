//===- RoundedRows.cpp - rows that linears read, rounded once -------------===//

#include "compiler/Conversion/Lowering/GPU/Linear/RoundedRows.h"
#include "compiler/Conversion/Lowering/GPU/Linear/Groups.h"
#include "compiler/Conversion/Lowering/GPU/WarpLanes.h"
#include "compiler/Conversion/Lowering/Language/Halves.h"
#include "compiler/Conversion/Lowering/Ops/LinearCode.h"
#include "dialects/Model/IR/ModelPlanAttrs.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using namespace heddle::model;

/// The norm that makes the rows of `op`, the first of their linears, and can round them: lanes write whole groups of
/// eight.
static Operation *normOf(LinearOp op) {
  Operation *norm = op.getInput().getDefiningOp();
  ModelTensorType x = op.getInput().getType();
  bool rounds = isa_and_nonnull<LayerNormOp, RmsNormOp>(norm) && norm->getBlock() == op->getBlock();
  return rounds && *x.getSize(x.getRank() - 1).constant() % 8 == 0 ? norm : nullptr;
}

/// The first linear that asks `norm` for rounded rows, or null.
static LinearOp askerOf(Operation *norm) {
  for (Operation *user : norm->getResult(0).getUsers())
    if (auto linear = dyn_cast<LinearOp>(user)) {
      SmallVector<LinearOp> readers = readersOfRows(linear);
      if (!readers.empty() && normOf(readers.front()) == norm)
        return readers.front();
    }
  return nullptr;
}

Operation *heddle::loops::roundsRowsOf(LinearOp op) {
  SmallVector<LinearOp> readers = readersOfRows(op);
  if (readers.empty())
    return nullptr;
  Operation *norm = normOf(readers.front());
  return norm ? norm : readers.front() == op ? nullptr : readers.front().getOperation();
}

Size heddle::loops::roundedBytes(Operation *norm) {
  LinearOp asker = askerOf(norm);
  return asker ? LinearScratch(asker).bytes() : Size(0);
}

ExtraStore heddle::loops::storeRoundedToo(Lowering &l, Operation *norm) {
  LinearOp asker = askerOf(norm);
  if (!asker)
    return {};
  Value rows = l.size(LeftSide(asker).rows), to = l.scratchPointer(norm);
  bool grouped = isGrouped(asker);
  ExtraStore extra;
  extra.alone = llvm::all_of(norm->getResult(0).getUses(), [&](OpOperand &use) {
    auto reader = dyn_cast<LinearOp>(use.getOwner());
    return reader && use.getOperandNumber() == reader.getInputMutable().getOperandNumber() &&
           roundsRowsOf(reader) == norm && isGrouped(reader) == grouped;
  });
  int64_t width = *asker.getInput().getType().getSize(asker.getInput().getType().getRank() - 1).constant();
  l.noteCost([&] {
    Size written = LinearScratch(asker).rows;
    return Cost{costOf(norm).op, 0, false, 0, extra.alone ? written - bytesWhereItLies(norm->getResult(0)) : written};
  });
  extra.store = [=, &l](Value row, Value column, Value mask, Value elements) {
    Value mine = l.add(column, WarpLanes::lane(l)), at = l.add(l.mul(row, width), mine);
    if (grouped) {
      Value eight = l.constant(8), group = l.add(l.mul(l.div(mine, eight), rows), row);
      at = l.add(l.mul(group, eight), l.rem(mine, eight));
    }
    auto store = [&] { l.store({toBf16(l, elements), l.at(to, at, l.b.getI16Type())}); };
    if (mask)
      l.when(mask, store);
    else
      store();
  };
  return extra;
}

Value heddle::loops::roundedRows(Lowering &l, LinearOp op, const SumStep &step) {
  SmallVector<LinearOp> readers = readersOfRows(op);
  auto *at = llvm::find(readers, op);
  // One that reads rows in groups leaves them so, one that does not leaves them one after the other.
  if (at != readers.end() && (at == readers.begin() ? normOf(op) != nullptr : isGrouped(at[-1]) == isGrouped(op)))
    return l.scratchPointer(op);
  return isGrouped(op) ? packGroups(l, op, step) : packRows(l, op, step);
}
