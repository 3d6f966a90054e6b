//===- PlanCache.cpp - states laid out for the attention kernel -----------===//
//
// A state that only attention reads, as keys or as values, need not look like a tensor: it is
// laid out as the kernel wants to read it, and appending writes it so.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ToLoops/KeyClasses.h"
#include "compiler/Conversion/ToLoops/Lowering.h"
#include "compiler/Conversion/ToLoops/Passes.h"
#include "dialects/Model/IR/Arithmetic.h"

namespace heddle::loops {
#define GEN_PASS_DEF_PLANCACHEPASS
#include "compiler/Conversion/ToLoops/Passes.h.inc"
} // namespace heddle::loops

using namespace mlir;
using namespace heddle;
using namespace heddle::model;

namespace {
struct Use {
  StringRef role; ///< "keys" or "values"; empty: something else reads it too
  int64_t heads = 0, classes = 1;
  bool operator==(const Use &o) const { return role == o.role && heads == o.heads && classes == o.classes; }
};
} // namespace

/// How the rows of an append are read.
static Use useOf(AppendOp op) {
  Use use;
  for (OpOperand &o : op.getResult().getUses()) {
    auto sdpa = dyn_cast<attn::SdpaOp>(o.getOwner());
    StringRef role = !sdpa ? "" : o.getOperandNumber() == 1 ? "keys" : o.getOperandNumber() == 2 ? "values" : "";
    if (role.empty())
      return {};
    Use mine = {role, int64_t(sdpa.getKvHeads()), heddle::loops::keyClasses(sdpa)};
    if (!use.role.empty() && !(use == mine))
      return {};
    use = mine;
  }
  return use;
}

/// [iterations..., B, capacity, features]: rows [B, new, features] appended along their axis 1.
static bool fits(AppendOp op) {
  auto state = dyn_cast<StateType>(op.getState().getType());
  return state && op.getRows().getType().getRank() == 3 && op.getAxis() == 1 &&
         state.getRank() == int64_t(op.getIndices().size()) + 3 && op.getRows().getType().getElementType().isF32();
}

namespace {
struct PlanCache final : heddle::loops::impl::PlanCachePassBase<PlanCache> {
  void runOnOperation() override {
    // The choice belongs to a state's name: every function that has the state must agree.
    llvm::StringMap<SmallVector<BlockArgument>> states;
    for (auto f : getOperation().getOps<func::FuncOp>())
      for (BlockArgument arg : f.getArguments())
        if (auto name = f.getArgAttrOfType<StringAttr>(arg.getArgNumber(), "model.state"))
          states[name.getValue()].push_back(arg);
    Builder b(&getContext());
    for (auto &[name, args] : states) {
      Use use;
      bool good = true, any = false;
      for (BlockArgument arg : args)
        for (Operation *user : arg.getUsers()) {
          auto append = dyn_cast<AppendOp>(user);
          Use mine = append && fits(append) ? useOf(append) : Use();
          good &= !mine.role.empty() && (!any || mine == use);
          use = mine;
          any = true;
        }
      if (!good || !any)
        continue;
      SmallVector<NamedAttribute> members{b.getNamedAttr("kind", b.getStringAttr(use.role)),
                                          b.getNamedAttr("heads", b.getI64IntegerAttr(use.heads))};
      if (arithmeticOf(getOperation()).bf16)
        members.push_back(b.getNamedAttr("element", b.getStringAttr("bf16")));
      if (use.classes > 1)
        members.push_back(b.getNamedAttr("classes", b.getI64IntegerAttr(use.classes)));
      DictionaryAttr mark = b.getDictionaryAttr(members);
      for (BlockArgument arg : args) {
        cast<func::FuncOp>(arg.getOwner()->getParentOp()).setArgAttr(arg.getArgNumber(), "model.cache", mark);
        for (Operation *user : arg.getUsers())
          user->setAttr("cache", mark);
      }
    }
  }
};
} // namespace
