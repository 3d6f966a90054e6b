//===- PlanSchedules.cpp - the tiles of products and attentions -----------===//
//
// Tiles are the target's choice, written down once. An op may already have a schedule, chosen by hand, and
// the target is asked whether it can make code of it.
//
//===----------------------------------------------------------------------===//

#include "compiler/Plan/Passes.h"
#include "compiler/Plan/PlanCheck.h"
#include "compiler/Plan/Target.h"
#include "dialects/Attn/IR/AttnPlanAttrs.h"
#include "dialects/Model/IR/ModelPlanAttrs.h"

namespace heddle::plan {
#define GEN_PASS_DEF_PLANSCHEDULESPASS
#include "compiler/Plan/Passes.h.inc"
} // namespace heddle::plan

using namespace mlir;
using namespace heddle;

void heddle::plan::checkTiles(ModuleOp module, const Target &target, Report report) {
  module.walk([&](Operation *op) {
    if (std::string why = target.refusal(op); !why.empty())
      report(op, why);
  });
}

namespace {
struct PlanSchedules final : plan::impl::PlanSchedulesPassBase<PlanSchedules> {
  using PlanSchedulesPassBase::PlanSchedulesPassBase;
  void runOnOperation() override {
    const plan::Target *target = plan::targetOf(getOperation());
    if (!target)
      return signalPassFailure();
    getOperation().walk([&](Operation *op) {
      auto sdpa = dyn_cast<attn::SdpaOp>(op);
      if (sdpa && !attn::scheduleOf(sdpa))
        attn::setSchedule(sdpa, target->tilesOf(sdpa));
      if (isa<model::LinearOp, model::MatmulOp>(op) && !model::scheduleOf(op))
        model::setSchedule(op, widened(target->tilesOf(op)));
    });
  }
  model::ScheduleAttr widened(model::ScheduleAttr t) {
    return panel ? model::ScheduleAttr::get(&getContext(), panel, t.getRows(), t.getBlock(), t.getAhead(), t.getSmall())
                 : t;
  }
};
} // namespace
