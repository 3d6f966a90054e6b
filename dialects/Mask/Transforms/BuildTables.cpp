//===- BuildTables.cpp - mask-build-tables --------------------------------===//
//
// One table a forward: made where the tensor is, outside of every repeat that does not change
// it, and shared by the leaves that ask the same of the same tensors.
//
//===----------------------------------------------------------------------===//

#include "dialects/Mask/IR/Mask.h"
#include "dialects/Mask/Transforms/Passes.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace heddle::mask {
#define GEN_PASS_DEF_BUILDTABLESPASS
#include "dialects/Mask/Transforms/Passes.h.inc"
} // namespace heddle::mask

using namespace mlir;
using namespace heddle::mask;

/// Moves what makes `v` in front of the repeats that hold it, as far as it does not depend on
/// their iterations.
static void hoist(Value v) {
  Operation *op = v.getDefiningOp();
  while (op && isMemoryEffectFree(op) && op->getNumRegions() == 0) {
    auto repeat = dyn_cast_or_null<heddle::model::RepeatOp>(op->getParentOp());
    if (!repeat)
      return;
    for (Value operand : op->getOperands())
      hoist(operand);
    if (llvm::any_of(op->getOperands(), [&](Value o) { return o.getParentRegion() == &repeat.getBody(); }))
      return;
    op->moveBefore(repeat);
  }
}

/// Behind the last of the operands that `table` is made of.
static void placeBehindOperands(Operation *table) {
  Operation *last = nullptr;
  Block *block = nullptr;
  for (Value v : table->getOperands()) {
    Operation *here = v.getDefiningOp();
    bool inner = !block || (v.getParentBlock() != block && block->getParentOp()->isProperAncestor(v.getParentBlock()->getParentOp()));
    if (inner)
      last = nullptr;
    if (inner)
      block = v.getParentBlock();
    if (here && here->getBlock() == block && (!last || last->isBeforeInBlock(here)))
      last = here;
  }
  if (last)
    table->moveAfter(last);
  else
    table->moveBefore(block, block->begin());
}

namespace {
struct BuildTables final : heddle::mask::impl::BuildTablesPassBase<BuildTables> {
  void runOnOperation() override {
    SmallVector<Operation *> made;
    getOperation().walk([&](MaskOpInterface leaf) {
      for (Value v : leaf->getOperands())
        if (!isa<MaskType>(v.getType()))
          hoist(v);
      OpBuilder b(leaf);
      Value table = leaf.createTable(b);
      if (!table)
        return;
      Operation *fresh = table.getDefiningOp();
      auto *same = llvm::find_if(made, [&](Operation *old) {
        return old->getName() == fresh->getName() && old->getAttrDictionary() == fresh->getAttrDictionary() &&
               llvm::equal(old->getOperands(), fresh->getOperands());
      });
      if (same != made.end()) {
        fresh->erase();
        return leaf.setTable((*same)->getResult(0));
      }
      placeBehindOperands(fresh);
      made.push_back(fresh);
      leaf.setTable(table);
    });
  }
};
} // namespace
