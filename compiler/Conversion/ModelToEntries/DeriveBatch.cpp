//===- DeriveBatch.cpp - the pass model-derive-batch -----------------------===//
//
// @batch is @step for texts that know nothing of each other: row b of a call continues the text in row slot[b] of the
// states, of which start[b] positions are there, and past is the largest start. It is a copy of @step in which every
// append and every attention reads these two; what else a step does keeps rows of the batch apart anyway. There is no
// padding, so no mask is passed. Where a step does more than that, the reason why there is no @batch is noted.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ModelToEntries/Kinds.h"
#include "compiler/Conversion/ModelToEntries/Objection.h"
#include "compiler/Conversion/ModelToEntries/Passes.h"
#include "compiler/Conversion/ModelToEntries/Report.h"
#include "dialects/Model/IR/Names.h"
#include "dialects/Model/IR/Plan.h"
#include "dialects/Model/IR/ReservedDims.h"

namespace heddle {
#define GEN_PASS_DEF_DERIVEBATCHPASS
#include "compiler/Conversion/ModelToEntries/Passes.h.inc"
} // namespace heddle

using namespace mlir;
using namespace heddle;
using entries::Objection;
using model::ModelTensorType;
using model::Size;

namespace {

/// What @batch is made of: the step, its batch axis, and the mask of its tokens where it takes one.
struct Step {
  func::FuncOp function;
  Size batch;
  BlockArgument mask;

  /// Whether `op` keeps the rows of the mask, or is the set of keys made of them: there is none in @batch.
  bool isOfMask(Operation *op) const {
    if (auto append = dyn_cast<model::AppendOp>(op))
      return mask && append.getRows() == mask;
    auto keys = dyn_cast<mask::KeysOp>(op);
    auto append = keys ? keys->getOperand(0).getDefiningOp<model::AppendOp>() : model::AppendOp();
    return append && isOfMask(append);
  }
};

/// The argument of the function that is called so; null: none is.
BlockArgument argumentCalled(func::FuncOp function, StringAttr name) {
  for (BlockArgument arg : function.getArguments())
    if (name && function.getArgAttr(arg.getArgNumber(), "model.name") == name)
      return arg;
  return {};
}

bool usesPast(const Size &form) { return form.uses(model::kPastDim) || form.uses(model::kCapacityDim); }

/// Whether a length in the op's attributes or results counts the past, which in @batch each row has of its own.
bool countsPast(Operation *op) {
  for (NamedAttribute attr : op->getAttrs())
    if (auto text = dyn_cast<StringAttr>(attr.getValue()); text && attr.getName() != "name")
      if (std::optional<Size> form = Size::parse(text.getValue()); form && usesPast(*form))
        return true;
  return llvm::any_of(op->getResults(), [](Value v) {
    auto type = dyn_cast<ModelTensorType>(v.getType());
    return type && llvm::any_of(type.getSizes(), usesPast);
  });
}

/// Why an append cannot name its slots; empty: it can. A cache is what one attention reads as keys or as values.
std::string objectionTo(model::AppendOp op) {
  ModelTensorType rows = op.getRows().getType();
  if (op.getAxis() != 1 || rows.getRank() != 3 || !rows.getElementType().isF32())
    return "rows are kept that are no keys or values";
  auto reader = op->hasOneUse() ? dyn_cast<attn::SdpaOp>(*op->user_begin()) : attn::SdpaOp();
  if (!reader || (reader.getKey() != op.getResult() && reader.getValue() != op.getResult()))
    return "rows of all positions are read by something else than one attention";
  return "";
}

std::string objectionTo(attn::SdpaOp op) {
  Size past = Size::dim(model::kPastDim), last = past + Size::dim(model::kNewDim) - Size(1);
  std::optional<Size> first = Size::parse(op.getPast()), start = Size::parse(op.getKeyStart());
  if (!op.getKey().getDefiningOp<model::AppendOp>() || !op.getValue().getDefiningOp<model::AppendOp>())
    return "attention over other keys than those of the text";
  if (!start || !start->is(0) || !first || (*first != past && *first != last))
    return "attention whose keys do not begin with the text";
  return "";
}

/// Why the op lets rows of the batch reach each other; empty: it does not.
std::string objectionToMixing(Operation *op, const Size &batch) {
  auto rows = dyn_cast<model::StepInterface>(op);
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<ModelTensorType>(operand.get().getType());
    for (int64_t axis = 0; rows && type && axis < type.getRank(); ++axis)
      if (type.getSize(axis) == batch &&
          rows.relateStep(operand.getOperandNumber(), axis).kind != model::StepRelation::Same)
        return op->getName().stripDialect().str() + " lets rows of the batch reach each other";
  }
  return "";
}

std::string objectionTo(Operation *op, const Step &step) {
  if (step.isOfMask(op)) {
    bool keys =
        isa<mask::KeysOp>(op) || llvm::all_of(op->getUsers(), [&](Operation *user) { return step.isOfMask(user); });
    return keys ? "" : "the mask of the tokens is read by something else than a set of keys";
  }
  if (step.mask && llvm::is_contained(op->getOperands(), step.mask))
    return "the mask of the new tokens is read";
  if (isa<model::LoadOp, model::StoreOp>(op))
    return "a state is kept that is no rows of positions";
  if (auto append = dyn_cast<model::AppendOp>(op))
    return objectionTo(append);
  if (auto sdpa = dyn_cast<attn::SdpaOp>(op))
    return objectionTo(sdpa);
  if (countsPast(op))
    return "the number of past positions is read, which each row has of its own";
  return objectionToMixing(op, step.batch);
}

/// What the step does that no @batch can; none: there can be one.
std::optional<Objection> objectionTo(const Step &step) {
  func::FuncOp f = step.function;
  if (f.getNumResults() != 1)
    return Objection{f.getLoc(), "a step may order the text to be computed again"};
  if (model::TargetAttr target = model::targetOf(f); target && target.getName() != "cpu")
    return Objection{f.getLoc(), "the target " + target.getName().str() + " has none"};
  std::optional<Objection> first;
  f.getBody().walk([&](Operation *op) {
    std::string why = objectionTo(op, step);
    if (why.empty())
      return WalkResult::advance();
    first = Objection{op->getLoc(), why};
    return WalkResult::interrupt();
  });
  return first;
}

/// Takes the mask of the tokens out: every set of keys made of it is all keys.
LogicalResult dropMask(Step &batch) {
  if (!batch.mask)
    return success();
  llvm::BitVector gone(batch.function.getNumArguments());
  gone.set(batch.mask.getArgNumber());
  for (Operation *append : llvm::make_early_inc_range(batch.mask.getUsers())) {
    for (Operation *keys : llvm::make_early_inc_range(append->getUsers())) {
      OpBuilder b(keys);
      keys->getResult(0).replaceAllUsesWith(mask::AllOp::create(b, keys->getLoc()));
      keys->erase();
    }
    gone.set(cast<BlockArgument>(cast<model::AppendOp>(append).getState()).getArgNumber());
    append->erase();
  }
  return batch.function.eraseArguments(gone);
}

/// Adds the inputs `slot` and `start` behind the others, gives every state rows for slots in place of the batch, and
/// makes the ops read them.
LogicalResult nameSlots(Step &batch) {
  func::FuncOp f = batch.function;
  Builder b(f.getContext());
  auto place = ModelTensorType::get(f.getContext(), {batch.batch}, b.getI64Type());
  unsigned at = llvm::count_if(f.getArgumentTypes(), llvm::IsaPred<ModelTensorType>);
  for (StringRef name : {"start", "slot"}) // the second comes to stand in front
    if (failed(f.insertArgument(at, place, b.getDictionaryAttr(b.getNamedAttr("model.name", b.getStringAttr(name))),
                                model::withName(name, f.getLoc()))))
      return failure();
  Value slot = f.getArgument(at), start = f.getArgument(at + 1);
  for (BlockArgument arg : f.getArguments().drop_front(at + 2)) {
    auto type = cast<model::StateType>(arg.getType());
    SmallVector<Size> sizes;
    for (const Size &n : type.getSizes())
      sizes.push_back(n == batch.batch ? Size::dim(model::kSlotsDim) : n);
    arg.setType(model::StateType::get(f.getContext(), sizes, type.getElementType()));
    auto name = f.getArgAttrOfType<StringAttr>(arg.getArgNumber(), "model.state");
    f.setArgAttr(arg.getArgNumber(), "model.state", b.getStringAttr("slots_" + name.getValue()));
  }
  f.setFunctionType(b.getFunctionType(f.getBody().getArgumentTypes(), f.getResultTypes()));
  f.walk([&](Operation *op) {
    if (auto append = dyn_cast<model::AppendOp>(op)) {
      append.getSlotsMutable().assign(slot);
      append.getStartsMutable().assign(start);
    } else if (auto sdpa = dyn_cast<attn::SdpaOp>(op)) {
      sdpa.getStartsMutable().assign(start);
    }
  });
  return success();
}

struct DeriveBatchPass : heddle::impl::DeriveBatchPassBase<DeriveBatchPass> {
  using DeriveBatchPassBase::DeriveBatchPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (!llvm::is_contained({"served", "auto", "require", "none"}, slots)) {
      module.emitError("slots must be served, auto, require or none, found '") << slots.getValue() << "'";
      return signalPassFailure();
    }
    auto roles = module->getAttrOfType<DictionaryAttr>("model.generate");
    if (slots == "none" || !roles || module.lookupSymbol("batch"))
      return;
    std::optional<Objection> no;
    if (failed(derive(module, roles, no)))
      return signalPassFailure();
    if (!no)
      return;
    module->setAttr("model.slots_report", StringAttr::get(&getContext(), no->why));
    if (slots == "served")
      return;
    InFlightDiagnostic d = slots == "require" ? emitError(no->where) : emitRemark(no->where);
    d << "no slots, texts are served one after another: " << no->why;
    if (slots == "require")
      signalPassFailure();
  }

private:
  /// Adds @batch, or says in `no` why there is none.
  LogicalResult derive(ModuleOp module, DictionaryAttr roles, std::optional<Objection> &no) {
    auto step = module.lookupSymbol<func::FuncOp>("step");
    BlockArgument tokens = step ? argumentCalled(step, roles.getAs<StringAttr>("tokens")) : BlockArgument();
    if (!tokens) {
      no = Objection{module.getLoc(), "there is no cached step"};
      return success();
    }
    Size batch = cast<ModelTensorType>(tokens.getType()).getSize(0);
    StringAttr mask = roles.getAs<StringAttr>("mask");
    if (batch.constant())
      no = Objection{step.getLoc(), "the number of texts of a batch is fixed"};
    else
      no = objectionTo({step, batch, argumentCalled(step, mask)});
    if (no)
      return success();
    OpBuilder b(&getContext());
    b.setInsertionPointAfter(step);
    auto copy = cast<func::FuncOp>(b.clone(*step));
    copy.setName("batch");
    Step made{copy, batch, argumentCalled(copy, mask)};
    return success(succeeded(dropMask(made)) && succeeded(nameSlots(made)));
  }
};

} // namespace
