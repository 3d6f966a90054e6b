//===- Tiles.cpp - the tiles that every target's loops can have -----------===//

#include "compiler/Conversion/Lowering/Facts/Tiles.h"
#include "compiler/Conversion/Lowering/Facts/AttentionShape.h"
#include "compiler/Conversion/Lowering/Facts/LinearShape.h"
#include "compiler/Plan/CacheLayout.h"
#include "compiler/Plan/KeyClasses.h"
#include "dialects/Attn/IR/AttnPlanAttrs.h"
#include "dialects/Model/IR/ModelPlanAttrs.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using namespace heddle::plan;
using model::LinearOp, model::MatmulOp, model::ModelTensorType, model::ScheduleAttr, model::TargetAttr;

static constexpr int64_t kMostKeys = 256; ///< code of a whole tile is unrolled over its vectors

//===-- attention ----------------------------------------------------------------------===//

static bool biasKnowsHeads(Value bias) {
  Operation *op = bias.getDefiningOp();
  if (isa<attn::RelativeDotOp>(op))
    return true;
  if (auto dense = dyn_cast<attn::DenseBiasOp>(op)) {
    ModelTensorType t = cast<ModelTensorType>(dense.getTensor().getType());
    return t.getRank() == 4 && !t.getSize(1).is(1);
  }
  return false;
}

/// The leaves of the attention's bias.
static SmallVector<Operation *> leavesOf(attn::SdpaOp op) {
  return op.getBias() ? biasLeaves(op.getBias()) : SmallVector<Operation *>();
}

/// Whether query heads that share a key head have different masks or biases.
static bool isHeadAware(attn::SdpaOp op) {
  auto root = op.getMask() ? op.getMask().getDefiningOp<mask::MaskOpInterface>() : mask::MaskOpInterface();
  return (root && (root.dependsOn() & mask::Head)) ||
         llvm::any_of(leavesOf(op), [](Operation *leaf) { return biasKnowsHeads(leaf->getResult(0)); });
}

/// Whether values may be stored in pairs: the tiles of all batch elements begin at key 0, and no other op reads them.
static bool mayPair(attn::SdpaOp op) {
  return model::attentionArithmeticOf(op).dots && !cacheLayoutOf(op.getValue()) &&
         (!op.getMask() || mask::leadingKeys(op.getMask()).empty()) && op.getMaskedRows() != attn::MaskedRows::mean;
}

attn::ScheduleAttr heddle::loops::usualTiles(attn::SdpaOp op) {
  int64_t packed = isHeadAware(op) ? 1 : int64_t(op.getHeads()) / int64_t(op.getKvHeads());
  return attn::ScheduleAttr::get(op.getContext(), kRowTile, kKeyTile, kPanel, packed, keyClasses(op), mayPair(op),
                                 /*tiled=*/false);
}

static std::string refuse(attn::SdpaOp op) {
  attn::ScheduleAttr tiles = attn::scheduleOf(op);
  if (!tiles)
    return "has no tiles; the pass model-plan-schedules gives it some";
  if (tiles.getTiled())
    return "has a program of tiles that threads share, which this target has not";
  if (tiles.getRows() < kLeastRows)
    return "has work items of " + std::to_string(tiles.getRows()) + " rows, but rows are computed " +
           std::to_string(kLeastRows) + " at once";
  if (tiles.getPanel() != kPanel)
    return "has panels of " + std::to_string(tiles.getPanel()) + " keys; loops are made of " + std::to_string(kPanel);
  if (tiles.getKeys() < kPanelsAtOnce * kPanel || tiles.getKeys() > kMostKeys)
    return "has tiles of " + std::to_string(tiles.getKeys()) + " keys; they have " +
           std::to_string(kPanelsAtOnce * kPanel) + " to " + std::to_string(kMostKeys);
  if (tiles.getClasses() > 1 &&
      tiles.getKeys() < 2 * kPanelsAtOnce * kPanel) // a class has room for whole halves of tiles
    return "has tiles of " + std::to_string(tiles.getKeys()) + " keys; in classes they have " +
           std::to_string(2 * kPanelsAtOnce * kPanel) + " or more";
  if (tiles.getRows() < kRowTile &&
      llvm::any_of(leavesOf(op), [](Operation *leaf) { return isa<attn::RelativeDotOp>(leaf); }))
    return "has work items of " + std::to_string(tiles.getRows()) + " rows; with a relative_dot they have " +
           std::to_string(kRowTile) + " or more";
  if (tiles.getPacked() != 1 && tiles.getPacked() != usualTiles(op).getPacked())
    return "has " + std::to_string(tiles.getPacked()) + " query heads together; it may have 1 or " +
           std::to_string(usualTiles(op).getPacked());
  if (tiles.getClasses() != 1 && tiles.getClasses() != keyClasses(op))
    return "falls into " + std::to_string(tiles.getClasses()) + " classes; its mask allows 1 or " +
           std::to_string(keyClasses(op));
  if (tiles.getPaired() && !mayPair(op))
    return "has paired values, which need products of pairs, all tiles at key 0 and no cache";
  for (Value rows : {Value(op.getKey()), Value(op.getValue())})
    if (std::optional<CacheLayout> cache = cacheLayoutOf(rows)) {
      attn::CacheAttr mark = attn::cacheOf(rows.getDefiningOp());
      if (mark.getBlock() != tiles.getKeys() || mark.getPanel() != tiles.getPanel() ||
          mark.getClasses() != tiles.getClasses())
        return "reads a cache with blocks of " + std::to_string(mark.getBlock()) + " rows, panels of " +
               std::to_string(mark.getPanel()) + " and " + std::to_string(mark.getClasses()) +
               " classes, but has others";
      if (cache->heads != int64_t(op.getKvHeads()) || cache->keys != (rows == op.getKey()) ||
          cache->stored != model::attentionArithmeticOf(op).stored)
        return "reads a cache that is not laid out for it";
    }
  return "";
}

//===-- products -------------------------------------------------------------------------===//

int64_t heddle::loops::lowerTile(ScheduleAttr tiles, int64_t rows) {
  return llvm::isPowerOf2_64(tiles.getRows()) ? rows / 2 : rows - 1;
}

std::string heddle::loops::refuseTiles(Operation *op) {
  if (auto sdpa = dyn_cast<attn::SdpaOp>(op))
    return refuse(sdpa);
  if (!isa<LinearOp, MatmulOp>(op))
    return "";
  ScheduleAttr schedule = model::scheduleOf(op);
  if (!schedule)
    return "has no tiles; the pass model-plan-schedules gives it some";
  if (TargetAttr target = model::targetOf(op); target && schedule.getPanel() % target.getLanes())
    return "has panels of " + std::to_string(schedule.getPanel()) + " results, which vectors of " +
           std::to_string(target.getLanes()) + " do not divide";
  if (auto linear = dyn_cast<LinearOp>(op); linear && isPackedWeight(linear))
    if (int64_t panel = weightLayoutOf(linear).panel; panel != schedule.getPanel())
      return "has tiles of " + std::to_string(schedule.getPanel()) +
             " results, but its weight is packed in panels of " + std::to_string(panel);
  return "";
}
