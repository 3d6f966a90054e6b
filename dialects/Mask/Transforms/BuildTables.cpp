//===- BuildTables.cpp - mask-build-tables --------------------------------===//
//
// Creates the tables of leaves: where their tensor is defined, outside of every repeat in which it does
// not change, and one for all leaves that need the same table of the same tensors.
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

/// Moves the op that defines `v`, and its operands, in front of all repeats on whose iteration they do
/// not depend.
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

/// Moves `table` after the last of its operands.
static void placeBehindOperands(Operation *table) {
  Operation *last = nullptr;
  Block *block = nullptr;
  for (Value v : table->getOperands()) {
    Operation *here = v.getDefiningOp();
    bool inner = !block || (v.getParentBlock() != block &&
                            block->getParentOp()->isProperAncestor(v.getParentBlock()->getParentOp()));
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
