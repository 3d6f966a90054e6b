//===- ItemForms.cpp - how many threads a kernel has work for -------------===//
//
// Loops over dealt items bear `heddle.items`, and a stretch of items begins at n * team / teams; n is index arithmetic
// over the dims of the entry, which is read back as a form. A tile is the work of a whole block.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ToKernels/ItemForms.h"
#include "compiler/Conversion/Lowering/Frame/Lowering.h"
#include "compiler/Conversion/Lowering/GPU/WarpLanes.h"
#include "compiler/Conversion/ToKernels/IndexForms.h"
#include "dialects/Model/IR/ReservedDims.h"
#include "dialects/Tile/IR/Tile.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace heddle;
using heddle::model::Size;

static constexpr int64_t kUnknown = int64_t(1) << 30;

/// The value of an entry's i64 argument as an index.
static bool isArgument(Value v, func::FuncOp entry, unsigned number) {
  auto cast = v.getDefiningOp<arith::IndexCastOp>();
  return cast && cast.getIn() == entry.getArgument(number);
}

/// n of n * team / teams, where a stretch of dealt items begins; null for other ops.
static Value stretchOf(Operation *op, func::FuncOp entry) {
  auto divided = dyn_cast<arith::DivUIOp>(op);
  if (!divided || !isArgument(divided.getRhs(), entry, 2))
    return {};
  auto product = divided.getLhs().getDefiningOp<arith::MulIOp>();
  return product && isArgument(product.getRhs(), entry, 1) ? product.getLhs() : Value();
}

static kernels::Items itemsOf(func::FuncOp entry, const llvm::SetVector<Operation *> &ops) {
  using kernels::IndexForms, kernels::Items;
  IndexForms forms(entry.getArgument(3), entry->getAttrOfType<ArrayAttr>(loops::kDimsAttr), /*bounds=*/true);
  std::optional<Size> teams, lanes;
  bool tiles = false, stretches = false, bare = false;
  auto note = [&](std::optional<Size> &most, Value n, int64_t each = 1) {
    Size form = forms.read(n).value_or(Size(kUnknown)) * Size(each);
    most = most ? Size::max(*most, form) : form;
  };
  for (Operation *root : ops) {
    bool dealt = false;
    root->walk([&](Operation *op) {
      if (Value n = stretchOf(op, entry)) {
        note(teams, n);
        stretches = true;
      }
      if (auto launch = dyn_cast<tile::LaunchOp>(op)) {
        note(teams, launch.getCount(), launch.getThreads() / loops::kWarp);
        tiles = dealt = true;
      }
      if (auto loop = dyn_cast<scf::ForOp>(op))
        if (auto worker = op->getAttrOfType<StringAttr>(loops::kItemsAttr)) {
          note(worker.getValue() == "lane" ? lanes : teams, loop.getUpperBound());
          dealt = true;
        }
    });
    bare |= !dealt && !isMemoryEffectFree(root) && !isa<LLVM::LoadOp, LLVM::AllocaOp>(root);
  }
  Items items = !lanes ? Items{teams.value_or(Size(1)), loops::kWarp}
                       : Items{teams ? Size::max(*lanes, *teams * Size(loops::kWarp)) : *lanes, 1};
  // A graph of steps is kept for many lengths of the past.
  items.optional =
      tiles && !bare && !stretches && forms.areBounds() && !items.count.dims().count(model::kPastDim.str());
  return items;
}

kernels::Items kernels::itemsOf(func::FuncOp entry, ArrayRef<Phase> group) {
  Items all = ::itemsOf(entry, group.front().ops);
  for (const Phase &phase : group.drop_front()) {
    Items mine = ::itemsOf(entry, phase.ops);
    int64_t lanes = std::min(all.lanes, mine.lanes);
    Size count = all.count * Size(all.lanes / lanes), more = mine.count * Size(mine.lanes / lanes);
    all = {count + more, lanes, all.optional && mine.optional};
  }
  return all;
}
