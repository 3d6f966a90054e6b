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
#include "dialects/Remarks/Remark.h"

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

/// `R rows by K keys`, and which query heads are in a tile.
static void remarkOn(attn::SdpaOp op) {
  attn::ScheduleAttr tiles = attn::scheduleOf(op);
  int64_t group = int64_t(op.getHeads()) / int64_t(op.getKvHeads());
  remarks::InFlight remark = remarks::analysis(op, remarks::TilesAttention);
  remark << "tiles of " << remarks::number("rows", tiles.getRows()) << " rows by "
         << remarks::number("keys", tiles.getKeys()) << " keys";
  remark.add("heads_together", tiles.getPacked()).add("classes", tiles.getClasses());
  if (tiles.getPacked() > 1)
    remark << "; " << tiles.getPacked() << " query heads that share keys are together";
  else if (group > 1)
    remark << "; the " << group << " query heads that share keys are apart, since their masks or biases differ";
  if (tiles.getClasses() > 1)
    remark << "; its dilated mask makes it " << tiles.getClasses() << " attentions of every " << tiles.getClasses()
           << "th key";
}

/// How many tiles of keys a tile of rows visits at most: those that its mask can reach, or all.
static void remarkOnTilesOfMask(attn::SdpaOp op) {
  remarks::InFlight remark = remarks::analysis(op, remarks::MaskTiles);
  if (!remark)
    return;
  attn::ScheduleAttr tiles = attn::scheduleOf(op);
  auto mask = op.getMask() ? op.getMask().getDefiningOp<mask::MaskOpInterface>() : mask::MaskOpInterface();
  mask::Reach reach = mask ? mask.reach() : mask::Reach();
  model::Size keys = cast<model::ModelTensorType>(op.getKey().getType()).getSize(1);
  std::string all = (keys + model::Size(tiles.getKeys() - 1)).floorDiv(model::Size(tiles.getKeys())).str();
  for (auto [name, far] : {std::pair("back", reach.behind), std::pair("ahead", reach.ahead)})
    if (far)
      remark.add(name, *far);
  remark << "of " << remarks::number("tiles", all) << " tiles of keys a tile of rows visits ";
  if (!reach.behind || !reach.ahead) {
    remark << "all that its mask does not find empty";
    return;
  }
  // So many keys in a row, wherever in a tile they begin.
  int64_t seen = tiles.getRows() + std::max<int64_t>(0, *reach.behind + *reach.ahead);
  remark << remarks::number("visited", (seen + tiles.getKeys() - 2) / tiles.getKeys() + 1)
         << " at most: a row sees from " << *reach.behind << " before to " << *reach.ahead << " after its position";
}

/// `R rows by N results`, and why.
static void remarkOnProduct(Operation *op, StringRef why) {
  model::ScheduleAttr tiles = model::scheduleOf(op);
  remarks::InFlight remark = remarks::analysis(op, remarks::TilesLinear);
  remark << "tiles of " << remarks::number("rows", tiles.getRows()) << " rows by "
         << remarks::number("results", tiles.getPanel()) << " results";
  remark.add("block", tiles.getBlock()).add("ahead", tiles.getAhead()).add("small", tiles.getSmall());
  if (!why.empty())
    remark << ": " << why;
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
      if (!remarks::wanted(op))
        return;
      if (sdpa) {
        remarkOn(sdpa);
        remarkOnTilesOfMask(sdpa);
      } else if (isa<model::LinearOp, model::MatmulOp>(op))
        remarkOnProduct(op, panel ? StringRef("panels as wide as --panel, or another target, has them")
                                  : target->whyTiles(op));
    });
  }
  model::ScheduleAttr widened(model::ScheduleAttr t) {
    return panel ? model::ScheduleAttr::get(&getContext(), panel, t.getRows(), t.getBlock(), t.getAhead(), t.getSmall())
                 : t;
  }
};
} // namespace
