//===- SliceParameters.cpp - experts of one tensor as parameters ----------===//
//
// A checkpoint may hold the matrices of all experts in one tensor [experts, N, K]. A linear that reads one of them
// reads a parameter of its own, `NAME[e]`, so that it is packed, rounded and read like any other.
//
//===----------------------------------------------------------------------===//

#include "dialects/Model/Transforms/SliceParameters.h"
#include "dialects/Model/Transforms/Passes.h"
#include "dialects/Remarks/Remark.h"

namespace heddle::model {
#define GEN_PASS_DEF_SLICEPARAMETERSPASS
#include "dialects/Model/Transforms/Passes.h.inc"
} // namespace heddle::model

using namespace mlir;
using namespace heddle;
using namespace heddle::model;

/// The one element along axis 0 that `op` takes; none if it takes another number, or one that is not known.
static std::optional<int64_t> elementOf(SliceOp op) {
  std::optional<Size> from = Size::parse(op.getFrom()), to = Size::parse(op.getTo());
  if (op.getAxis() != 0 || !from || !to || !from->constant() || !to->is(*from->constant() + 1))
    return std::nullopt;
  return from->constant();
}

/// Whether linears alone read `value`, as their weight or their bias.
static bool onlyLinearsRead(Value value) {
  return llvm::all_of(value.getUses(), [](OpOperand &use) {
    auto linear = dyn_cast<LinearOp>(use.getOwner());
    return linear && (use.get() == linear.getWeight() || use.get() == linear.getBias()) &&
           use.get() != linear.getInput();
  });
}

/// Gives the readers of `param[e]` a parameter of their own.
static void slice(ParamOp param, SliceOp op) {
  std::optional<int64_t> element = elementOf(op);
  if (!element || param.getCoded())
    return;
  for (Operation *user : llvm::make_early_inc_range(op->getUsers())) {
    auto matrix = dyn_cast<SqueezeOp>(user);
    if (!matrix || matrix.getAxis() != 0 || !onlyLinearsRead(matrix.getResult()))
      continue;
    OpBuilder b(matrix);
    std::string name = (param.getName() + "[" + llvm::Twine(*element) + "]").str();
    auto own = ParamOp::create(b, param.getLoc(), matrix.getResult().getType(), b.getStringAttr(name),
                               param.getIndices(), LayoutAttr(), IntegerAttr(), DenseI64ArrayAttr(), CodedAttr());
    remarks::passed(matrix, remarks::SliceParameter)
        << "element " << remarks::number("index", *element) << " of " << param.getName() << " is a separate parameter";
    matrix.getResult().replaceAllUsesWith(own.getResult());
    matrix.erase();
  }
  if (op.use_empty())
    op.erase();
}

void heddle::model::sliceParameters(ModuleOp module) {
  SmallVector<ParamOp> params;
  module.walk([&](ParamOp op) { params.push_back(op); });
  for (ParamOp param : params) {
    for (Operation *user : llvm::make_early_inc_range(param->getUsers()))
      if (auto op = dyn_cast<SliceOp>(user))
        slice(param, op);
    if (param.use_empty())
      param.erase();
  }
}

namespace {
struct SliceParameters final : heddle::model::impl::SliceParametersPassBase<SliceParameters> {
  void runOnOperation() override { sliceParameters(getOperation()); }
};
} // namespace
