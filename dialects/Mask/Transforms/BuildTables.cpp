//===- BuildTables.cpp - mask-build-tables --------------------------------===//
//
// Creates the tables of leaves: where their tensor is defined, outside of every repeat in which it does
// not change, and one for all leaves that need the same table of the same tensors.
//
//===----------------------------------------------------------------------===//

#include "dialects/Mask/IR/Mask.h"
#include "dialects/Mask/Transforms/Passes.h"
#include "dialects/Remarks/Remark.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"

namespace heddle::mask {
#define GEN_PASS_DEF_BUILDTABLESPASS
#include "dialects/Mask/Transforms/Passes.h.inc"
} // namespace heddle::mask

using namespace mlir;
using namespace heddle;
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

/// Says when `table` is made, and for which leaves.
static void remarkOn(Operation *table, ArrayRef<Operation *> leaves) {
  Operation *leaf = leaves.front();
  auto repeat = table->getParentOfType<heddle::model::RepeatOp>();
  remarks::InFlight remark =
      repeat ? remarks::missed(leaf, remarks::MaskTable, "what its table is made of changes in each iteration")
             : remarks::passed(leaf, remarks::MaskTable);
  if (repeat)
    remark.note(repeat.getLoc(), "the table is made in each iteration of this");
  else
    remark << "a table that is made once a call answers for " << remarks::number("leaves", leaves.size())
           << (leaves.size() == 1 ? " leaf" : " leaves");
  if (auto type = dyn_cast<heddle::model::ModelTensorType>(table->getResult(0).getType()))
    remark.add("elements", type.getCount().str());
  for (Operation *other : leaves.drop_front())
    remark.note(other->getLoc(), "this has the same table");
}

namespace {
struct BuildTables final : heddle::mask::impl::BuildTablesPassBase<BuildTables> {
  void runOnOperation() override {
    SmallVector<Operation *> made;
    llvm::MapVector<Operation *, SmallVector<Operation *, 2>> leaves; // of a table
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
        leaves[*same].push_back(leaf);
        return leaf.setTable((*same)->getResult(0));
      }
      placeBehindOperands(fresh);
      made.push_back(fresh);
      leaves[fresh].push_back(leaf);
      leaf.setTable(table);
    });
    if (remarks::wanted(getOperation()))
      for (auto &[table, readers] : leaves)
        remarkOn(table, readers);
  }
};
} // namespace
