//===- KernelsByChip.cpp - forms of a kernel, a chip each -----------------===//
//
// A program holds an image a chip, and a card that launches the same kernels on all of them. So a kernel that is done
// otherwise on another chip is there in two forms, of which an image takes one (targets/GPU).
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ToKernels/Passes.h"
#include "dialects/Model/IR/ModelPlanAttrs.h"
#include "dialects/Tile/IR/LaunchAttrs.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

namespace heddle::kernels {
#define GEN_PASS_DEF_KERNELSBYCHIPPASS
#include "compiler/Conversion/ToKernels/Passes.h.inc"
} // namespace heddle::kernels

using namespace mlir;
using namespace heddle;
using tile::LaunchOp;

static SmallVector<LaunchOp> launchesOf(func::FuncOp f) {
  SmallVector<LaunchOp> launches;
  f.walk([&](LaunchOp op) { launches.push_back(op); });
  return launches;
}

static bool isFor(LaunchOp op, StringRef chip) {
  return !op.getOn() || llvm::is_contained(*op.getOn(), StringAttr::get(op.getContext(), chip));
}

/// Leaves the launches that `chip` does.
static void keep(func::FuncOp f, StringRef chip) {
  for (LaunchOp op : launchesOf(f)) {
    if (isFor(op, chip))
      op.removeOnAttr();
    else
      op.erase();
  }
}

namespace {
struct KernelsByChip final : kernels::impl::KernelsByChipPassBase<KernelsByChip> {
  using KernelsByChipPassBase::KernelsByChipPassBase;
  void runOnOperation() override {
    model::TargetAttr target = model::targetOf(getOperation());
    SmallVector<StringRef> chips;
    if (target)
      target.getChip().split(chips, '+');
    for (func::FuncOp f : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>()))
      if (llvm::any_of(launchesOf(f), [](LaunchOp op) { return op.getOnAttr(); }))
        divide(f, chips);
  }

  void divide(func::FuncOp f, ArrayRef<StringRef> chips) {
    // Chips by the launches that they do.
    llvm::MapVector<std::vector<bool>, SmallVector<StringRef>, std::map<std::vector<bool>, unsigned>> forms;
    SmallVector<LaunchOp> launches = launchesOf(f);
    for (StringRef chip : chips) {
      std::vector<bool> done;
      for (LaunchOp op : launches)
        done.push_back(isFor(op, chip));
      forms[done].push_back(chip);
    }
    OpBuilder b(f);
    for (auto &[done, mine] : forms) {
      if (forms.size() == 1)
        return keep(f, mine.front());
      auto form = cast<func::FuncOp>(b.clone(*f));
      form.setName((f.getName() + "_for_" + mine.front()).str());
      tile::setKernel(form, f.getName());
      tile::setChips(form, mine);
      keep(form, mine.front());
    }
    f.erase();
  }
};
} // namespace
