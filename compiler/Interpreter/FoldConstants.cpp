//===- FoldConstants.cpp - model-fold-constants ---------------------------===//
//
// Constants are folded by the reference interpreter, so a folded value is what the op
// means: computed in f64 and rounded once, to the type of computation.
//
//===----------------------------------------------------------------------===//

#include "compiler/Interpreter/Evaluator.h"
#include "compiler/Interpreter/Passes.h"
#include "dialects/Remarks/Remark.h"
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

/// Whether `op` has only constant operands and results of known lengths, which it computes without effects.
static bool isConstant(Operation *op) {
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
    if (!type || llvm::any_of(type.getSizes(), [](model::Size s) { return !s.constant(); }))
      return false;
  }
  return true;
}

/// The elements of the largest result.
static int64_t elementsOf(Operation *op) {
  int64_t most = 0;
  for (Type result : op->getResultTypes())
    most = std::max(most, cast<ModelTensorType>(result).getCount().constant().value_or(INT64_MAX));
  return most;
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

namespace {
/// What the interpreter says of why it cannot evaluate an op.
struct Unevaluated {
  Location where;
  std::string why;
};
} // namespace

/// Evaluates `op`, whose operands are constants.
static std::optional<Unevaluated> evaluate(Operation *op, evaluation::Evaluator &e) {
  std::optional<Unevaluated> said;
  ScopedDiagnosticHandler quiet(op->getContext(), [&](Diagnostic &diagnostic) {
    if (!said)
      said = Unevaluated{diagnostic.getLocation(), diagnostic.str()};
    return success();
  });
  bool good = true;
  for (Value operand : op->getOperands())
    good = good && (e.has(operand) || succeeded(e.run(operand.getDefiningOp())));
  if (good && succeeded(e.run(op)))
    return std::nullopt;
  return said ? said : Unevaluated{op->getLoc(), "the interpreter cannot evaluate it"};
}

/// Replaces `op` by constants; without a change if it cannot be evaluated.
static std::optional<Unevaluated> fold(Operation *op) {
  auto noParameters = [](StringRef) -> FailureOr<Tensor> { return failure(); };
  States states;
  evaluation::Evaluator e({}, &states, noParameters, {});
  if (std::optional<Unevaluated> why = evaluate(op, e))
    return why;
  OpBuilder b(op);
  if (remarks::InFlight remark = remarks::passed(op, remarks::FoldConstant)) {
    int64_t bytes = 0;
    for (Type result : op->getResultTypes()) {
      auto type = cast<ModelTensorType>(result);
      bytes +=
          *type.getCount().constant() * int64_t(llvm::divideCeil(type.getElementType().getIntOrFloatBitWidth(), 8u));
    }
    remark << op->getName().stripDialect() << " of constants: " << remarks::number("elements", elementsOf(op))
           << " elements, " << remarks::number("bytes", bytes) << " bytes, are computed by the compiler";
  }
  for (Value result : op->getResults())
    result.replaceAllUsesWith(
        model::ConstantOp::create(b, op->getLoc(), result.getType(), attributeOf(op->getContext(), e.tensor(result))));
  op->erase();
  return std::nullopt;
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
    for (Operation *op : ops) {
      if (!isConstant(op))
        continue;
      if (int64_t elements = elementsOf(op); elements > mostElements)
        remarks::missed(op, remarks::FoldConstant, "more than 2^20 elements are computed sooner than they are read")
            .add("elements", elements);
      else if (std::optional<Unevaluated> no = fold(op); no && op->getNumOperands()) // else of a length of the call
        remarks::missed(op, remarks::FoldConstant, no->why).note(no->where, "the interpreter stopped here");
    }
    getOperation().walk([&](model::ConstantOp op) {
      if (op->use_empty())
        spent.push_back(op);
    });
    for (Operation *op : spent)
      op->erase();
  }
};
} // namespace
