//===- CPUPlan.cpp - the tiles that loops are made for --------------------===//
//
// The answers of the target "cpu" to the plan (compiler/Plan/Target.h). The numbers were measured
// (compiler/Conversion/ToLoops/README.md); they can be changed for an op in a saved stage `tiled`.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ToLoops/CPUPlan.h"
#include "compiler/Conversion/ToLoops/AttentionPlan.h"
#include "compiler/Conversion/ToLoops/LinearPack.h"
#include "compiler/Conversion/ToLoops/Lowering.h"
#include "compiler/Conversion/ToLoops/Passes.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using namespace heddle::model;

static constexpr int64_t kResults = 32;     ///< results of a tile, and so of a panel of weights
static constexpr int64_t kRows = 8;         ///< rows of a tile
static constexpr int64_t kRowBlock = 256;   ///< rows that a panel of weights serves before the next one
static constexpr int64_t kMatmulBlock = 64; ///< the same where both sides are values
static constexpr int64_t kAhead = 64;       ///< k steps of prefetch when few rows stream the weights
static constexpr int64_t kSmall = 1 << 15;  ///< weights that need no code of their own for few rows

ScheduleAttr heddle::loops::usualTiles(Operation *op) {
  return isa<MatmulOp>(op) ? ScheduleAttr::get(op->getContext(), kResults, kRows, kMatmulBlock, 0, 0)
                           : ScheduleAttr::get(op->getContext(), kResults, kRows, kRowBlock, kAhead, kSmall);
}

std::string heddle::loops::refuseTiles(Operation *op) {
  if (auto sdpa = dyn_cast<attn::SdpaOp>(op))
    return refuseTiles(sdpa);
  if (!isa<LinearOp, MatmulOp>(op))
    return "";
  ScheduleAttr schedule = scheduleOf(op);
  if (!schedule)
    return "has no tiles; the pass model-plan-schedules gives it some";
  if (TargetAttr target = targetOf(op); target && schedule.getPanel() % target.getLanes())
    return "has panels of " + std::to_string(schedule.getPanel()) + " results, which vectors of " +
           std::to_string(target.getLanes()) + " do not divide";
  if (auto linear = dyn_cast<LinearOp>(op); linear && isPackedWeight(linear))
    if (int64_t panel = weightLayoutOf(linear).panel; panel != schedule.getPanel())
      return "has tiles of " + std::to_string(schedule.getPanel()) + " results, but its weight lies in panels of " +
             std::to_string(panel);
  return "";
}

std::pair<int64_t, int64_t> CPUPlan::cacheBlock() const { return {kKeyTile, kPanel}; }

Size CPUPlan::scratchBytes(Operation *op) const { return loops::scratchBytes(op); }

void heddle::loops::registerPlan(DialectRegistry &registry) {
  registry.addExtension(
      +[](MLIRContext *, ModelDialect *dialect) { plan::Targets::of(dialect).add(std::make_unique<CPUPlan>()); });
}
