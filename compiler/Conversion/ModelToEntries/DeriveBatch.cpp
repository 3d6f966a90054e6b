//===- DeriveBatch.cpp - the pass model-derive-batch -----------------------===//
//
// @batch is @step for texts that know nothing of each other: row b of a call continues the text in row slot[b] of the
// states, of which start[b] positions are there, and past is the largest start. It is a copy of @step in which every
// append and every attention reads these two; what else a step does keeps rows of the batch apart anyway. There is no
// padding, so no mask is passed (ForgetPadding), and only the logits that a call asks for are made (WantedLogits).
// Where a step does more than that, the reason why there is no @batch is noted.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ModelToEntries/ForgetPadding.h"
#include "compiler/Conversion/ModelToEntries/Objection.h"
#include "compiler/Conversion/ModelToEntries/Passes.h"
#include "compiler/Conversion/ModelToEntries/Report.h"
#include "compiler/Conversion/ModelToEntries/StepAnalysis.h"
#include "compiler/Conversion/ModelToEntries/WantedLogits.h"
#include "compiler/Plan/Target.h"
#include "dialects/Model/IR/InputDefaults.h"
#include "dialects/Model/IR/ModelPlanAttrs.h"
#include "dialects/Model/IR/Names.h"
#include "dialects/Model/IR/ReservedDims.h"
#include "dialects/Remarks/Remark.h"

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

/// @batch as it is made: a copy of the step, its batch axis, and the inputs that each row has of its own.
struct Batch {
  func::FuncOp function;
  Size batch;
  Value slot, start;
  llvm::DenseSet<Operation *> everywhere; ///< rows of all positions that are the same for every text
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
    return "attention with keys that do not begin with the text";
  return "";
}

/// Whether the op has no relation of its own to ask for: the walk visits its body, or what reads it asks about masks.
bool isAskedElsewhere(Operation *op) {
  return op->getNumRegions() || op->hasTrait<OpTrait::IsTerminator>() || isa<model::SidesInterface>(op);
}

/// Why the op lets rows of the batch reach each other, or may do so; empty: it does not.
std::string objectionToMixing(Operation *op, const Size &batch) {
  auto rows = dyn_cast<model::StepInterface>(op);
  if (!rows && isAskedElsewhere(op))
    return "";
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<ModelTensorType>(operand.get().getType());
    for (int64_t axis = 0; type && axis < type.getRank(); ++axis) {
      if (type.getSize(axis) != batch)
        continue;
      if (!rows)
        return op->getName().stripDialect().str() + " has no rule for the rows of the batch";
      if (rows.relateStep(operand.getOperandNumber(), axis).kind != model::StepRelation::Same)
        return op->getName().stripDialect().str() + " lets rows of the batch reach each other";
    }
  }
  return "";
}

std::string objectionTo(Operation *op, const Batch &made) {
  if (isa<model::LoadOp, model::StoreOp>(op))
    return "a state is kept that is no rows of positions";
  if (auto append = dyn_cast<model::AppendOp>(op))
    return objectionTo(append);
  if (auto sdpa = dyn_cast<attn::SdpaOp>(op))
    return objectionTo(sdpa);
  if (!made.everywhere.contains(op) && countsPast(op))
    return "the number of past positions is read, which differs between rows";
  return objectionToMixing(op, made.batch);
}

/// What the step does that no @batch can, whatever is in its body; none: nothing.
std::optional<Objection> objectionTo(func::FuncOp step) {
  if (step.getNumResults() != 1)
    return Objection{step.getLoc(), "a step may order the text to be computed again"};
  if (const plan::Target *target = model::targetOf(step) ? plan::targetOf(step) : nullptr;
      target && !target->hasBatchEntry())
    return Objection{step.getLoc(), "the target " + target->name().str() + " has none"};
  return {};
}

/// What in the body can be in no @batch; none: nothing.
std::optional<Objection> objectionTo(const Batch &made) {
  std::optional<Objection> first;
  func::FuncOp function = made.function;
  function.getBody().walk([&](Operation *op) {
    std::string why = objectionTo(op, made);
    if (why.empty())
      return WalkResult::advance();
    first = Objection{op->getLoc(), why};
    return WalkResult::interrupt();
  });
  return first;
}

/// Adds the inputs `slot` and `start` after the others.
LogicalResult addPlaces(Batch &made) {
  func::FuncOp f = made.function;
  mlir::Builder b(f.getContext());
  auto place = ModelTensorType::get(f.getContext(), {made.batch}, b.getI64Type());
  unsigned at = llvm::count_if(f.getArgumentTypes(), llvm::IsaPred<ModelTensorType>);
  for (StringRef name : {"start", "slot"}) // the second one ends up in front
    if (failed(f.insertArgument(at, place, b.getDictionaryAttr(b.getNamedAttr("model.name", b.getStringAttr(name))),
                                model::withName(name, f.getLoc()))))
      return failure();
  made.slot = f.getArgument(at), made.start = f.getArgument(at + 1);
  return success();
}

/// Gives every state rows for slots in place of the batch, and makes the ops read slot and start.
void nameSlots(Batch &made) {
  func::FuncOp f = made.function;
  mlir::Builder b(f.getContext());
  for (BlockArgument arg : f.getArguments()) {
    auto type = dyn_cast<model::StateType>(arg.getType());
    if (!type)
      continue;
    SmallVector<Size> sizes;
    for (const Size &n : type.getSizes())
      sizes.push_back(n == made.batch ? Size::dim(model::kSlotsDim) : n);
    arg.setType(model::StateType::get(f.getContext(), sizes, type.getElementType()));
    auto name = f.getArgAttrOfType<StringAttr>(arg.getArgNumber(), "model.state");
    f.setArgAttr(arg.getArgNumber(), "model.state", b.getStringAttr("slots_" + name.getValue()));
  }
  f.setFunctionType(b.getFunctionType(f.getBody().getArgumentTypes(), f.getResultTypes()));
  f.walk([&](Operation *op) {
    if (auto append = dyn_cast<model::AppendOp>(op)) {
      append.getSlotsMutable().assign(made.slot);
      append.getStartsMutable().assign(made.start);
    } else if (auto sdpa = dyn_cast<attn::SdpaOp>(op)) {
      sdpa.getStartsMutable().assign(made.start);
    }
  });
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
    if (slots == "require" && !roles) {
      module.emitError("no slots: the model generates no texts");
      return signalPassFailure();
    }
    if (slots == "none" || !roles || module.lookupSymbol("batch"))
      return;
    std::optional<Objection> no;
    if (failed(derive(module, roles, no)))
      return signalPassFailure();
    if (!no) {
      if (auto batch = module.lookupSymbol<func::FuncOp>("batch"))
        remarks::passed(batch, remarks::SlotsDerived) << "@batch continues several texts in one call, each in its slot";
      return;
    }
    remarks::missed(remarks::Where(no->where, StringAttr::get(&getContext(), "step")), remarks::SlotsDerived, no->why);
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
    if (module.lookupSymbol(model::kDefaultsEntry))
      no = Objection{step.getLoc(), "an input that `extend` continues has another default"};
    else if (batch.constant())
      no = Objection{step.getLoc(), "the number of texts of a batch is fixed"};
    else
      no = objectionTo(step);
    if (no)
      return success();
    OpBuilder b(&getContext());
    b.setInsertionPointAfter(step);
    auto copy = cast<func::FuncOp>(b.clone(*step));
    copy.setName("batch");
    Batch made{copy, batch, {}, {}, {}};
    if (failed(addPlaces(made)))
      return failure();
    if (BlockArgument mask = argumentCalled(copy, roles.getAs<StringAttr>("mask"))) {
      FailureOr<llvm::DenseSet<Operation *>> everywhere = entries::forgetPadding(copy, mask, made.start);
      if (failed(everywhere))
        return failure();
      made.everywhere = std::move(*everywhere);
    }
    no = objectionTo(made);
    if (no) {
      copy.erase();
      return success();
    }
    nameSlots(made);
    return entries::askRows(copy, batch);
  }
};

} // namespace
