//===- GroupWeights.cpp - which weights are in groups ---------------------===//
//
// Those that nothing but linears of pairs reads, of whole units along k: another reader (the rows of a tied embedding)
// knows panels alone. What is regrouped stays as long as it was, so that no place in the blob changes.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/GPU/Linear/Groups.h"
#include "compiler/Conversion/Lowering/GPU/Passes.h"
#include "dialects/Model/IR/ModelPlanAttrs.h"
#include "dialects/Tile/IR/LaunchAttrs.h"
#include "llvm/ADT/SetVector.h"

namespace heddle::loops {
#define GEN_PASS_DEF_GROUPWEIGHTSPASS
#include "compiler/Conversion/Lowering/GPU/Passes.h.inc"
} // namespace heddle::loops

using namespace mlir;
using namespace heddle;
using namespace heddle::model;

static constexpr int64_t kUnit = 8; ///< words of k that a unit multiplies

static bool readsGroups(OpOperand &use) {
  auto linear = dyn_cast<LinearOp>(use.getOwner());
  return linear && linear.getWeight() == use.get() &&
         use.getOperandNumber() == linear.getWeightMutable().getOperandNumber() && arithmeticOf(linear).dots;
}

/// Where the tensors of an entry are.
static SmallVector<int64_t> placesOf(BlobEntryAttr entry) {
  SmallVector<int64_t> places{entry.getOffset()};
  for (auto [count, stride] : llvm::zip_equal(entry.getCounts().asArrayRef(), entry.getStrides().asArrayRef())) {
    SmallVector<int64_t> more;
    for (int64_t place : places)
      for (int64_t i = 0; i < count; ++i)
        more.push_back(place + i * stride);
    places = more;
  }
  return places;
}

/// A parameter of the file, packed in one way.
using Key = std::pair<StringAttr, LayoutAttr>;

namespace {
struct GroupWeights final : loops::impl::GroupWeightsPassBase<GroupWeights> {
  using GroupWeightsPassBase::GroupWeightsPassBase;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    llvm::DenseSet<Key> refused;
    SmallVector<ParamOp> params;
    module.walk([&](ParamOp op) {
      params.push_back(op);
      if (!llvm::all_of(op->getUses(), readsGroups))
        refused.insert({op.getNameAttr(), op.getLayoutAttr()});
    });
    SmallVector<std::array<int64_t, 4>> regrouped; // offset, depth, panels, width
    llvm::DenseSet<Key> taken;
    for (BlobEntryAttr entry : blobOf(module)) {
      WeightLayout layout = entry.getLayout().getLayout();
      WeightLayout::Matrix w = layout.matrixOf(entry.getShape().asArrayRef());
      int64_t depth = layout.depth(w.k);
      Key key(entry.getName(), entry.getLayout());
      if (layout.type != PackedType::BF16 || !layout.panel || depth % kUnit || refused.contains(key))
        continue;
      taken.insert(key);
      int64_t panels = llvm::divideCeil(layout.take(w.n).count(), layout.panel);
      for (int64_t place : placesOf(entry))
        regrouped.push_back({place, depth, panels, layout.panel});
    }
    llvm::sort(regrouped);
    for (ParamOp op : params)
      if (taken.contains({op.getNameAttr(), op.getLayoutAttr()}))
        tile::setGrouped(op);
    SmallVector<tile::RegroupAttr> tensors;
    for (auto [offset, depth, panels, width] : regrouped)
      tensors.push_back(tile::RegroupAttr::get(&getContext(), offset, depth, panels, width));
    if (!tensors.empty())
      tile::setRegrouped(module, tensors);
  }
};
} // namespace

bool heddle::loops::isGrouped(LinearOp op) {
  auto param = op.getWeight().getDefiningOp<ParamOp>();
  return param && tile::isGrouped(param);
}
