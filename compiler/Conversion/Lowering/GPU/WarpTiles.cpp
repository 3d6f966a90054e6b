//===- WarpTiles.cpp - the tiles that warps are made for ------------------===//
//
// What plans ask of a device (compiler/Plan/Target.h). Blocks of caches are a processor's and so, while its panels are
// as wide as a warp, are the packed weights, so that one file serves both. What a processor's thread keeps in memory, a
// warp keeps in registers: attention needs no scratch but for keys and values that come as rows of a tensor and that
// tiles want packed.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/Facts/LinearShape.h"
#include "compiler/Conversion/Lowering/Facts/Tiles.h"
#include "compiler/Conversion/Lowering/GPU/Attention/TileAttention.h"
#include "compiler/Conversion/Lowering/GPU/Linear/RoundedRows.h"
#include "compiler/Conversion/Lowering/GPU/Linear/TileLinear.h"
#include "compiler/Conversion/Lowering/GPU/Ops/WarpOps.h"
#include "compiler/Conversion/Lowering/GPU/Passes.h"
#include "dialects/Attn/IR/AttnPlanAttrs.h"
#include "dialects/Model/IR/ModelPlanAttrs.h"
#include "dialects/Remarks/Remark.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::model;

/// The tile of the general code: rows, steps of prefetch, weights that need no code of their own for few rows; rows
/// that a panel serves before the next one, of a weight and where both sides are values.
static constexpr int64_t kRows = 8, kAhead = 64, kSmall = 1 << 15, kRowBlock = 256, kMatmulBlock = 64;

/// The sentence for a word of untiledAttention or untiledLinear.
static StringRef sentenceOf(StringRef why) {
  static constexpr std::pair<StringRef, StringRef> kSentences[] = {
      {"f16", "tiles do not multiply f16"},
      {"wide", "bf16 is widened to f32 (--math=wide), and tiles multiply numbers as they are stored"},
      {"width", "its heads are wider than 256"},
      {"classes", "its dilated mask makes it several attentions"},
      {"mean", "rows that see nothing take the mean of all values"},
      {"counted", "its mask counts keys"},
      {"bias", "its bias is more than a few instructions for each score"},
      {"windows", "its rows are windows that overlap"},
      {"small", "it has fewer results or features than a tile"}};
  const auto *row = llvm::find_if(kSentences, [&](auto &known) { return known.first == why; });
  return row == std::end(kSentences) ? why : row->second;
}

static void remarkOnTiles(Operation *op) {
  if (auto sdpa = dyn_cast<attn::SdpaOp>(op)) {
    attn::ScheduleAttr tiles = attn::scheduleOf(sdpa);
    StringRef why = loops::untiledAttention(sdpa);
    if (tiles.getTiled())
      remarks::passed(op, remarks::TileDevice)
          << "threads of a block share tiles of " << remarks::number("rows", tiles.getRows()) << " rows by "
          << remarks::number("keys", tiles.getKeys()) << " keys";
    else
      remarks::missed(op, remarks::TileDevice,
                      why.empty() ? StringRef("its schedule asks for the general program") : sentenceOf(why));
  } else if (auto linear = dyn_cast<LinearOp>(op);
             linear && linear->getNumResults() == 1 && loops::featuresOf(linear)) {
    if (StringRef why = loops::untiledLinear(linear); !why.empty())
      remarks::missed(op, remarks::TileDevice, sentenceOf(why));
    else
      remarks::passed(op, remarks::TileDevice) << "threads of a block share tiles of its rows and results";
  }
}

namespace {
struct WarpTiles final : plan::Target {
  /// A tile has a result for each lane of a warp.
  ScheduleAttr tilesOf(Operation *op) const override {
    if (isa<MatmulOp>(op))
      return ScheduleAttr::get(op->getContext(), loops::kWarp, kRows, kMatmulBlock, 0, 0);
    return ScheduleAttr::get(op->getContext(), loops::kWarp, kRows, kRowBlock, kAhead, kSmall);
  }
  /// Tiles that threads share where they can be made, else the general program with a processor's order of sums.
  attn::ScheduleAttr tilesOf(attn::SdpaOp op) const override {
    attn::ScheduleAttr tiled = loops::tiledSchedule(op);
    return tiled ? tiled : loops::usualTiles(op);
  }
  void remarkOn(Operation *op) const override { remarkOnTiles(op); }
  std::string refusal(Operation *op) const override {
    if (isa<LinearOp, EmbeddingOp>(op) && arithmeticOf(op).coding)
      return "reads weights that are codes, and has no program for them on this target";
    auto sdpa = dyn_cast<attn::SdpaOp>(op);
    attn::ScheduleAttr tiles = sdpa ? attn::scheduleOf(sdpa) : attn::ScheduleAttr();
    return tiles && tiles.getTiled() ? loops::refuseTiled(sdpa) : loops::refuseTiles(op);
  }
  std::pair<int64_t, int64_t> cacheBlock() const override { return {loops::kKeyTile, loops::kPanel}; }
  /// Each kernel after the one that counts live rows asks for their number.
  bool scratchLasts(Operation *op) const override { return isa<LiveRowsOp>(op); }
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
        .Case([](LinearOp o) { return o->getNumResults() == 1 ? loops::LinearScratch(o).bytes() : Size(0); })
        .Default([](Operation *) { return Size(0); });
  }
};
} // namespace

std::unique_ptr<plan::Target> heddle::loops::makeWarpTiles() { return std::make_unique<WarpTiles>(); }
