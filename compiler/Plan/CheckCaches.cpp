//===- CheckCaches.cpp - states and their readers -------------------------===//
//
// A mark #attn.cache says how the bytes of a state are laid out. Whoever writes or reads the state goes by its own
// mark, so all marks of a state must be one, and one that fits how attention reads it. What is written or read is as
// large as its part.
//
//===----------------------------------------------------------------------===//

#include "compiler/Plan/CacheUse.h"
#include "compiler/Plan/PlanCheck.h"
#include "dialects/Attn/IR/AttnPlanAttrs.h"
#include "dialects/Model/IR/Arithmetic.h"
#include "dialects/Model/IR/ModelPlanAttrs.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::model;
using namespace heddle::plan;

static attn::CacheAttr markOf(BlockArgument state) {
  return attn::cacheOf(state.getOwner()->getParentOp(), state.getArgNumber());
}

static Type elementOf(Stored stored, MLIRContext *context) {
  Builder b(context);
  return stored == Stored::bf16  ? Type(b.getBF16Type())
         : stored == Stored::f16 ? Type(b.getF16Type())
                                 : Type(b.getF32Type());
}

/// Why a state cannot be laid out as its mark says; empty: it can.
static std::string unfit(ArrayRef<BlockArgument> state, attn::CacheAttr mark, ModuleOp module) {
  CacheUse use = useOf(state);
  if (!use.good())
    return "is stored as attention reads it, but is also read or written otherwise: " + use.objection.str();
  if (use.role && (*use.role != mark.getKind() || use.heads != mark.getHeads()))
    return "is stored as " + std::to_string(mark.getHeads()) + " heads of " +
           attn::stringifyCacheKind(mark.getKind()).str() + ", but attention reads " + std::to_string(use.heads) +
           " of " + attn::stringifyCacheKind(*use.role).str();
  if (use.role && mark.getClasses() != 1 && mark.getClasses() != use.classes)
    return "is stored in " + std::to_string(mark.getClasses()) + " classes; the masks of its readers allow 1 or " +
           std::to_string(use.classes);
  if (mark.getElement() != elementOf(arithmeticOf(module).stored, module.getContext()))
    return "holds elements of another type than the module stores";
  if (!mark.getRing())
    return "";
  auto step = module.lookupSymbol<func::FuncOp>("step");
  PiecesAttr pieces = step ? piecesOf(step) : PiecesAttr();
  if (!pieces && !module->hasAttr("model.generate")) // no caller splits the prompt
    return "";
  if (!pieces)
    return "is a ring, but '@step' does not say in what pieces a long text comes";
  if (pieces.getBeyond() > mark.getRing() * mark.getClasses())
    return "is a ring of " + std::to_string(mark.getRing()) + " rows, but texts of up to " +
           std::to_string(pieces.getBeyond()) + " come in one piece";
  std::optional<int64_t> least = use.behind
                                     ? leastRing(rowsOfClass(*use.behind, mark.getClasses()),
                                                 rowsOfClass(pieces.getLongest(), mark.getClasses()), mark.getBlock())
                                     : std::nullopt;
  if (!least)
    return "is a ring, but its readers look back at any row";
  return mark.getRing() < *least ? "is a ring of " + std::to_string(mark.getRing()) + " rows, but its readers need " +
                                       std::to_string(*least)
                                 : "";
}

/// Why an op cannot write or read its part of the state; empty: it can. Along the axis of an append, which its verifier
/// checks, the state has room.
static std::string misfit(Operation *op) {
  auto append = dyn_cast<AppendOp>(op);
  auto load = dyn_cast<LoadOp>(op);
  auto store = dyn_cast<StoreOp>(op);
  ModelTensorType value = append ? append.getRows().getType() : load ? load.getType() : store.getValue().getType();
  auto state = cast<StateType>((append ? append.getState() : load ? load.getState() : store.getState()).getType());
  // Ranks and the axis are right: clauses of these ops.
  int64_t first = state.getRank() - value.getRank(), axis = append ? int64_t(append.getAxis()) : -1;
  bool slots = append && append.getSlots();
  if (slots && !attn::cacheOf(op))
    return "has slots, which only a state that is stored as attention reads it has";
  for (int64_t i = 0; i < value.getRank(); ++i)
    if (i != axis &&
        ((!(slots && i == 0) && state.getSize(first + i) != value.getSize(i)) || // a slot is no batch element
         (append && append.getType().getSize(i) != value.getSize(i))))
      return "has a value with an axis " + std::to_string(i) + " that is not the state's";
  return "";
}

void heddle::plan::checkCaches(ModuleOp module, Report report) {
  for (auto f : module.getOps<func::FuncOp>())
    for (BlockArgument arg : f.getArguments()) {
      if (!isa<StateType>(arg.getType()))
        continue;
      if (markOf(arg) && !f.getArgAttr(arg.getArgNumber(), "model.state"))
        report(f, "argument " + Twine(arg.getArgNumber()) + " is stored as attention reads it, but is no state");
      for (Operation *user : arg.getUsers()) {
        if (!isa<AppendOp, LoadOp, StoreOp>(user))
          continue;
        if (attn::cacheOf(user) != markOf(arg))
          report(user, "takes the state to lie otherwise than '@" + f.getName() + "' does");
        if (std::string why = misfit(user); !why.empty())
          report(user, why);
      }
    }
  llvm::StringMap<SmallVector<BlockArgument>> states = statesOf(module);
  for (auto &[name, state] : states) {
    attn::CacheAttr mark = markOf(state.front());
    Operation *owner = state.front().getOwner()->getParentOp();
    if (!llvm::all_of(state, [&](BlockArgument arg) { return markOf(arg) == mark; })) {
      report(owner, "the state '" + name + "' is stored otherwise in another function");
      continue;
    }
    if (!mark)
      continue;
    if (std::string why = unfit(state, mark, module); !why.empty())
      report(owner, "the state '" + Twine(name) + "' " + why);
  }
}
