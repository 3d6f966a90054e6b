//===- Items.cpp - how many threads a kernel has work for -----------------===//
//
// Whatever deals items out says how many there are, and how many threads do one. A tile is the work of a whole block.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ToKernels/Items.h"
#include "compiler/Conversion/Lowering/GPU/WarpLanes.h"
#include "dialects/Model/IR/ReservedDims.h"
#include "dialects/Tile/IR/LaunchAttrs.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace heddle;
using heddle::kernels::Items;
using heddle::model::Size;

static Items itemsOf(const llvm::SetVector<Operation *> &ops) {
  std::optional<Size> teams, lanes;
  bool optional = false, others = false; // whether a tile deals items out; whether anything else has work
  auto note = [](std::optional<Size> &most, const Size &n) { most = most ? Size::max(*most, n) : n; };
  for (Operation *root : ops) {
    bool dealt = false;
    root->walk([&](Operation *op) {
      tile::ItemsAttr items = tile::itemsOf(op);
      if (!items)
        return;
      bool tiles = isa<tile::LaunchOp>(op), loop = op->getNumRegions() != 0;
      optional |= tiles;
      dealt |= loop;
      others |= !loop || items.getEstimate();
      if (items.getEach() == 1)
        note(lanes, items.getForm());
      else
        note(teams, items.getForm() * Size(items.getEach() / loops::kWarp));
    });
    others |= !dealt && !isMemoryEffectFree(root) && !isa<LLVM::LoadOp, LLVM::AllocaOp>(root);
  }
  Items items = !lanes ? Items{teams.value_or(Size(1)), loops::kWarp}
                       : Items{teams ? Size::max(*lanes, *teams * Size(loops::kWarp)) : *lanes, 1};
  // A graph of steps is kept for many lengths of the past.
  items.optional = optional && !others && !items.count.dims().count(model::kPastDim.str());
  return items;
}

Items kernels::itemsOf(ArrayRef<Phase> group) {
  Items all = ::itemsOf(group.front().ops);
  for (const Phase &phase : group.drop_front()) {
    Items mine = ::itemsOf(phase.ops);
    int64_t lanes = std::min(all.lanes, mine.lanes);
    Size count = all.count * Size(all.lanes / lanes), more = mine.count * Size(mine.lanes / lanes);
    all = {count + more, lanes, all.optional && mine.optional};
  }
  return all;
}
