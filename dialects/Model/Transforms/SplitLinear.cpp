//===- SplitLinear.cpp - one linear a used part ---------------------------===//
//
// q, k, v = linear(x) becomes three linears over the same weight, each reading only its own rows of it.
// The products are the same, and unused parts disappear.
//
//===----------------------------------------------------------------------===//

#include "dialects/Model/IR/Names.h"
#include "dialects/Model/Transforms/Passes.h"
#include "dialects/Remarks/Remark.h"

namespace heddle::model {
#define GEN_PASS_DEF_SPLITLINEARPASS
#include "dialects/Model/Transforms/Passes.h.inc"
} // namespace heddle::model

using namespace mlir;
using namespace heddle;
using namespace heddle::model;

static void split(LinearOp op) {
  OpBuilder b(op);
  int64_t unused = llvm::count_if(op.getResults(), [](Value result) { return result.use_empty(); });
  remarks::passed(op, remarks::LinearSplit)
      << "one linear for each of " << remarks::number("parts", op.getNumResults() - unused)
      << " results that are read, " << remarks::number("unused", unused) << " dropped";
  for (unsigned j = 0, n = op.getNumResults(); j < n; ++j) {
    Value result = op.getResult(j);
    if (result.use_empty())
      continue;
    auto one = LinearOp::create(b, locationOf(result), result.getType(), op.getInput(), op.getWeight(), op.getBias(),
                                op.getExtras(), op.getInOutAttr(), op.getPartsAttr(), op.getGroupsAttr(),
                                b.getI64IntegerAttr(j), op.getFilterAttr());
    result.replaceAllUsesWith(one.getResult(0));
  }
  op.erase();
}

namespace {
struct SplitLinear final : heddle::model::impl::SplitLinearPassBase<SplitLinear> {
  void runOnOperation() override {
    SmallVector<LinearOp> wide;
    getOperation().walk([&](LinearOp op) {
      if (op.getNumResults() > 1)
        wide.push_back(op);
    });
    for (LinearOp op : wide)
      split(op);
  }
};
} // namespace
