//===- WarpPlan.cpp - the tiles that warps are made for -------------------===//
//
// What the plan asks of the target "cuda" (compiler/Plan/Target.h). Blocks of caches are the CPU's and so, while its
// panels are as wide as a warp, are the packed weights, so that one file serves both; what a thread of a CPU keeps in
// memory, a warp keeps in registers, so attention needs no scratch but for keys and values that come as rows of a
// tensor and that tiles want packed.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/CPU/CPUPlan.h"
#include "compiler/Conversion/Lowering/GPU/Attention/TileAttention.h"
#include "compiler/Conversion/Lowering/GPU/Linear/RoundedRows.h"
#include "compiler/Conversion/Lowering/GPU/Ops/WarpOps.h"
#include "compiler/Conversion/Lowering/GPU/Passes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::model;

namespace {
struct WarpPlan final : loops::CPUPlan {
  StringRef name() const override { return "cuda"; }
  /// A tile has a result for each lane of a warp, however wide the tiles of a CPU are.
  ScheduleAttr tilesOf(Operation *op) const override {
    ScheduleAttr t = loops::usualTiles(op);
    return ScheduleAttr::get(op->getContext(), loops::kWarp, t.getRows(), t.getBlock(), t.getAhead(), t.getSmall());
  }
  /// Tiles that threads share where they can be made, else the general program with a CPU's order of sums.
  attn::ScheduleAttr tilesOf(attn::SdpaOp op) const override {
    attn::ScheduleAttr tiled = loops::tiledSchedule(op);
    return tiled ? tiled : loops::usualTiles(op);
  }
  std::string refusal(Operation *op) const override {
    if (isa<LinearOp, EmbeddingOp>(op) && arithmeticOf(op).coding)
      return "reads weights that are codes, and has no program for them on this target";
    auto sdpa = dyn_cast<attn::SdpaOp>(op);
    attn::ScheduleAttr tiles = sdpa ? attn::scheduleOf(sdpa) : attn::ScheduleAttr();
    return tiles && tiles.getTiled() ? loops::refuseTiled(sdpa) : CPUPlan::refusal(op);
  }
  bool worksByLevels() const override { return true; }
  Operation *leavesScratchFor(Operation *op) const override {
    auto linear = dyn_cast<LinearOp>(op);
    return linear ? loops::roundsRowsOf(linear) : nullptr;
  }
  Size scratchBytes(Operation *op) const override {
    return llvm::TypeSwitch<Operation *, Size>(op)
        .Case([](attn::SdpaOp o) { return attn::scheduleOf(o).getTiled() ? loops::tiledScratchBytes(o) : Size(0); })
        .Case([](LiveRowsOp o) { return loops::liveRowsScratch(o); })
        .Case([](ReduceOp o) { return loops::reduceScratch(o); })
        .Case([](GroupNormOp o) { return loops::groupNormScratch(o); })
        .Case<LayerNormOp, RmsNormOp>([](Operation *o) { return loops::roundedBytes(o); })
        .Default([this](Operation *o) { return CPUPlan::scratchBytes(o); });
  }
};
} // namespace

void heddle::loops::registerWarpPlan(DialectRegistry &registry) {
  registry.addExtension(
      +[](MLIRContext *, ModelDialect *dialect) { plan::Targets::of(dialect).add(std::make_unique<WarpPlan>()); });
}
