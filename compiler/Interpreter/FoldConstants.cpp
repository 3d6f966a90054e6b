//===- FoldConstants.cpp - model-fold-constants ---------------------------===//
//
// Constants are folded by the reference interpreter, so a folded value is what the op
// means: computed in f64 and rounded once, to the type of computation.
//
//===----------------------------------------------------------------------===//

#include "compiler/Interpreter/Evaluator.h"
#include "compiler/Interpreter/Passes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace heddle {
#define GEN_PASS_DEF_FOLDCONSTANTSPASS
#include "compiler/Interpreter/Passes.h.inc"
} // namespace heddle

using namespace mlir;
using namespace heddle;
using heddle::model::ModelTensorType;

/// Larger results are cheaper to compute than to store.
static constexpr int64_t mostElements = int64_t(1) << 20;

static bool isFoldable(Operation *op) {
  if (isa<model::ConstantOp, model::ParamOp>(op) || op->hasTrait<OpTrait::IsTerminator>() || !isPure(op) ||
      op->getNumResults() == 0)
    return false;
  if (op->getNumRegions() && !isa<model::MapOp, model::LinearOp>(op)) // the bodies of these are scalar
    return false;
  for (Value operand : op->getOperands())
    if (!operand.getDefiningOp<model::ConstantOp>())
      return false;
  for (Type result : op->getResultTypes()) {
    auto type = dyn_cast<ModelTensorType>(result);
    std::optional<int64_t> count = type ? type.getCount().constant() : std::nullopt;
    if (!count || *count > mostElements || llvm::any_of(type.getSizes(), [](model::Size s) { return !s.constant(); }))
      return false;
  }
  return true;
}

static DenseElementsAttr attributeOf(MLIRContext *ctx, const Tensor &t) {
  if (t.kind == Tensor::Kind::Real)
    return DenseElementsAttr::get(RankedTensorType::get(t.shape, Float64Type::get(ctx)), ArrayRef(t.reals));
  auto type = RankedTensorType::get(t.shape, IntegerType::get(ctx, t.kind == Tensor::Kind::Bool ? 1 : 64));
  if (t.kind == Tensor::Kind::Int)
    return DenseElementsAttr::get(type, ArrayRef(t.ints));
  SmallVector<bool> bits(t.ints.begin(), t.ints.end());
  return DenseElementsAttr::get(type, ArrayRef<bool>(bits));
}

/// Replaces `op` by constants; false, and no change, if it cannot be evaluated.
static bool fold(Operation *op) {
  ScopedDiagnosticHandler quiet(op->getContext(), [](Diagnostic &) { return success(); });
  auto noParameters = [](StringRef) -> FailureOr<Tensor> { return failure(); };
  States states;
  evaluation::Evaluator e({}, &states, noParameters, {});
  for (Value operand : op->getOperands())
    if (!e.has(operand) && failed(e.run(operand.getDefiningOp())))
      return false;
  if (failed(e.run(op)))
    return false;
  OpBuilder b(op);
  for (Value result : op->getResults())
    result.replaceAllUsesWith(
        model::ConstantOp::create(b, op->getLoc(), result.getType(), attributeOf(op->getContext(), e.tensor(result))));
  op->erase();
  return true;
}

namespace {
struct FoldConstants final : heddle::impl::FoldConstantsPassBase<FoldConstants> {
  void runOnOperation() override {
    // Ops come after their operands, so one walk in order folds whatever becomes constant
    // on the way.
    SmallVector<Operation *> ops, spent;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      ops.push_back(op);
      return isa<model::MapOp, model::LinearOp>(op) ? WalkResult::skip() : WalkResult::advance();
    });
    for (Operation *op : ops)
      if (isFoldable(op))
        fold(op);
    getOperation().walk([&](model::ConstantOp op) {
      if (op->use_empty())
        spent.push_back(op);
    });
    for (Operation *op : spent)
      op->erase();
  }
};
} // namespace
