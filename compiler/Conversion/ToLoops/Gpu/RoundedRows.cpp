//===- RoundedRows.cpp - rows that several linears read, rounded once -----===//

#include "compiler/Conversion/ToLoops/Gpu/RoundedRows.h"
#include "compiler/Conversion/ToLoops/Gpu/Groups.h"
#include "compiler/Conversion/ToLoops/LinearPack.h"
#include "dialects/Model/IR/Plan.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using namespace heddle::model;

/// Whether all of a linear's working memory is its rounded rows.
static bool onlyRounds(LinearOp op) {
  return arithmeticOf(op).dots && op->getNumResults() == 1 && isPackedWeight(op) && (!op.getBias() || isPackedBias(op));
}

SmallVector<LinearOp> heddle::loops::readersOfRows(LinearOp op) {
  SmallVector<LinearOp> readers;
  if (!onlyRounds(op))
    return readers;
  for (Operation *user : op.getInput().getUsers()) {
    auto other = dyn_cast<LinearOp>(user);
    if (other && other.getInput() == op.getInput() && other->getBlock() == op->getBlock() && onlyRounds(other) &&
        !llvm::is_contained(readers, other))
      readers.push_back(other);
  }
  llvm::sort(readers, [](LinearOp a, LinearOp c) { return a->isBeforeInBlock(c); });
  return readers;
}

Value heddle::loops::roundedRows(Lowering &l, LinearOp op, const SumStep &step) {
  SmallVector<LinearOp> readers = readersOfRows(op);
  auto *at = llvm::find(readers, op);
  // One that reads rows in groups leaves them so, one that does not leaves them one behind the other.
  if (at != readers.end() && at != readers.begin() && isGrouped(at[-1]) == isGrouped(op))
    return l.scratchPointer(op);
  return isGrouped(op) ? packGroups(l, op, step) : packRows(l, op, step);
}
