//===- WarpPlan.cpp - the tiles that warps are made for -------------------===//
//
// What the plan asks of the target "cuda" (compiler/Plan/Target.h). Blocks of caches are the CPU's and so, while its
// panels are as wide as a warp, are the packed weights, so that one file serves both; what a thread of a CPU keeps in
// memory, a warp keeps in registers, so attention needs no scratch.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ToLoops/CPUPlan.h"
#include "compiler/Conversion/ToLoops/Gpu/Passes.h"
#include "compiler/Conversion/ToLoops/Gpu/WarpLanes.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::model;

namespace {
struct WarpPlan final : loops::CPUPlan {
  using CPUPlan::tilesOf;
  StringRef name() const override { return "cuda"; }
  /// A tile has a result for each lane of a warp, however wide the tiles of a CPU are.
  ScheduleAttr tilesOf(Operation *op) const override {
    ScheduleAttr t = loops::usualTiles(op);
    return ScheduleAttr::get(op->getContext(), loops::kWarp, t.getRows(), t.getBlock(), t.getAhead(), t.getSmall());
  }
  /// How many rows are no padding is asked by every kernel behind the one that counts them.
  bool scratchLasts(Operation *op) const override { return isa<LiveRowsOp>(op); }
  Size scratchBytes(Operation *op) const override {
    return isa<attn::SdpaOp>(op) ? Size(0) : CPUPlan::scratchBytes(op);
  }
};
} // namespace

void heddle::loops::registerWarpPlan(DialectRegistry &registry) {
  registry.addExtension(
      +[](MLIRContext *, ModelDialect *dialect) { plan::Targets::of(dialect).add(std::make_unique<WarpPlan>()); });
}
