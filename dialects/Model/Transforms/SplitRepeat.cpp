//===- SplitRepeat.cpp - a repeat in several -------------------------------===//

#include "dialects/Model/Transforms/SplitRepeat.h"

using namespace mlir;
using namespace heddle::model;

bool heddle::model::canSplit(RepeatOp op) {
  return op.getNumResults() == op.getNumCarried() &&
         llvm::all_of(op.getIndex().getUsers(), [](Operation *user) { return isa<ParamOp>(user); });
}

void heddle::model::splitRepeat(RepeatOp op, ArrayRef<int64_t> lengths) {
  OpBuilder b(op);
  SmallVector<Value> carried(op.getCarried());
  int64_t first = op.getFirst();
  for (int64_t length : lengths) {
    auto part = cast<RepeatOp>(b.clone(*op));
    part.setCount(length);
    part.setFirst(first);
    part->setOperands(carried);
    carried.assign(part->result_begin(), part->result_end());
    first += length;
  }
  op->replaceAllUsesWith(carried);
  op->erase();
}
