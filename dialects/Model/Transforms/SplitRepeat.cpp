//===- SplitRepeat.cpp - a repeat in several -------------------------------===//

#include "dialects/Model/Transforms/SplitRepeat.h"

using namespace mlir;
using namespace heddle::model;

bool heddle::model::canSplit(RepeatOp op) {
  return llvm::all_of(op.getIndex().getUsers(), [](Operation *user) { return isa<ParamOp>(user); });
}

void heddle::model::splitRepeat(RepeatOp op, ArrayRef<int64_t> lengths) {
  OpBuilder b(op);
  unsigned many = op.getNumCarried();
  SmallVector<Value> carried(op.getCarried());
  SmallVector<SmallVector<Value>> collected(op.getNumResults() - many);
  int64_t first = op.getFirst();
  for (int64_t length : lengths) {
    auto part = cast<RepeatOp>(b.clone(*op));
    part.setCount(length);
    part.setFirst(first);
    part->setOperands(carried);
    carried.assign(part->result_begin(), part->result_begin() + many);
    for (auto [rows, result] : llvm::zip_equal(collected, part->getResults().drop_front(many))) {
      auto type = cast<ModelTensorType>(result.getType());
      SmallVector<Size> sizes = type.getSizes();
      sizes.front() = Size(length);
      result.setType(type.withSizes(sizes));
      rows.push_back(result);
    }
    first += length;
  }
  SmallVector<Value> results = carried;
  for (auto [rows, all] : llvm::zip_equal(collected, op->getResults().drop_front(many)))
    results.push_back(ConcatOp::create(b, all.getLoc(), rows, /*axis=*/int64_t(0)).getResult());
  op->replaceAllUsesWith(results);
  op->erase();
}
