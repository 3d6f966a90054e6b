//===- AttentionTiles.cpp - which attentions go through tiles -------------===//
//
// Those in f32 or in dots of bf16 whose rows fit registers and shared memory, and whose scores need no more than a few
// instructions each; all others have the general program (WarpAttention.cpp).
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/Facts/Tiles.h"
#include "compiler/Conversion/Lowering/GPU/Attention/KeyParts.h"
#include "compiler/Conversion/Lowering/GPU/Attention/TileAttention.h"
#include "compiler/Conversion/Lowering/GPU/Linear/TileShapes.h"
#include "compiler/Plan/CacheLayout.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using namespace heddle::plan;
using model::ModelTensorType;
using model::Size;

static constexpr int64_t kMostWidth = 256;      ///< of a head: more scores would be made twice than once
static constexpr int64_t kMostBytes = 96 << 10; ///< of a tile: what every chip has for a block

static int64_t widest(attn::SdpaOp op) {
  int64_t keys = headWidth(op.getKey(), op.getKvHeads()), values = headWidth(op.getValue(), op.getKvHeads());
  return keys && values ? std::max(keys, values) : kMostWidth + 1;
}
/// The fewest keys of a block: what the image of their piece in shared memory takes.
static int64_t wordsOf(attn::SdpaOp op) {
  return model::attentionArithmeticOf(op).halves() ? (widest(op) + 1) / 2 : widest(op);
}
static int64_t leastKeysOf(attn::SdpaOp op) {
  return model::attentionArithmeticOf(op).dots && wordsOf(op) % 4 ? 32 : kPanel;
}
/// Keys of a block.
static int64_t keysOf(attn::SdpaOp op) {
  int64_t words = wordsOf(op);
  return words <= 32 ? 64 : words <= 64 ? 32 : leastKeysOf(op);
}

/// Packed rows of a tall tile, 16 a warp. The queries, two blocks of keys and two of values are 48 KiB at most in bf16
/// and 65 KiB in f32 for heads up to 128, 80 KiB for the widest ones.
static int64_t rowsOf(attn::SdpaOp op) {
  int64_t words = wordsOf(op), twoBlocks = 2 * keysOf(op) * (words + featuresOfTile(words));
  return 4 * (64 * words + twoBlocks) <= kMostBytes ? 64 : 32;
}

/// Whether a bias is a few instructions a score; a relative_dot is a product.
static bool isShort(Value bias) {
  Operation *op = bias.getDefiningOp();
  if (isa<attn::BiasAddOp, attn::BiasScaleOp>(op))
    return llvm::all_of(op->getOperands(), isShort);
  return isa<attn::AlibiOp, attn::BucketBiasOp, attn::DenseBiasOp>(op);
}

llvm::StringRef heddle::loops::untiledNumbers(const model::Arithmetic &arithmetic) {
  if (arithmetic.dots || !arithmetic.halves())
    return "";
  return arithmetic.stored == model::Stored::f16 ? "f16" : "wide";
}

llvm::StringRef heddle::loops::untiledAttention(attn::SdpaOp op) {
  if (StringRef numbers = untiledNumbers(model::attentionArithmeticOf(op)); !numbers.empty())
    return numbers;
  if (widest(op) > kMostWidth)
    return "width";
  if (usualTiles(op).getClasses() != 1)
    return "classes";
  if (op.getMaskedRows() == attn::MaskedRows::mean)
    return "mean";
  if (op.getMask() && mask::isCounted(op.getMask()))
    return "counted";
  return op.getBias() && !isShort(op.getBias()) ? "bias" : "";
}

attn::ScheduleAttr heddle::loops::tiledSchedule(attn::SdpaOp op) {
  attn::ScheduleAttr usual = usualTiles(op);
  if (!untiledAttention(op).empty())
    return {};
  return attn::ScheduleAttr::get(op.getContext(), rowsOf(op), keysOf(op), kPanel, usual.getPacked(), /*classes=*/1,
                                 /*paired=*/false, /*tiled=*/true);
}

std::string heddle::loops::refuseTiled(attn::SdpaOp op) {
  attn::ScheduleAttr tiles = attn::scheduleOf(op), own = tiledSchedule(op);
  if (!own)
    return "has a program of tiles, which takes f32 and dots of heads up to 256 wide, whole masks and short biases only";
  if (tiles.getRows() != own.getRows() || tiles.getKeys() < leastKeysOf(op) || tiles.getKeys() > own.getKeys() ||
      tiles.getPanel() != own.getPanel())
    return "has tiles of " + std::to_string(tiles.getRows()) + " rows and " + std::to_string(tiles.getKeys()) +
           " keys in panels of " + std::to_string(tiles.getPanel()) + ", but threads share " +
           std::to_string(own.getRows()) + " rows and " + std::to_string(leastKeysOf(op)) + " to " +
           std::to_string(own.getKeys()) + " keys in panels of " + std::to_string(kPanel);
  if ((tiles.getPacked() != 1 && tiles.getPacked() != own.getPacked()) || tiles.getClasses() != 1 || tiles.getPaired())
    return "has tiles that threads share with " + std::to_string(tiles.getPacked()) + " query heads together, of " +
           std::to_string(tiles.getClasses()) + " classes; they have 1 or " + std::to_string(own.getPacked()) +
           " heads, one class and no paired values";
  for (Value rows : {Value(op.getKey()), Value(op.getValue())})
    if (std::optional<CacheLayout> cache = cacheLayoutOf(rows)) {
      attn::CacheAttr mark = attn::cacheOf(rows.getDefiningOp());
      if (mark.getBlock() % tiles.getKeys() || mark.getPanel() != kPanel || cache->classes != 1 ||
          cache->heads != int64_t(op.getKvHeads()) || cache->keys != (rows == op.getKey()) ||
          cache->stored != model::attentionArithmeticOf(op).stored)
        return "reads a cache that is not laid out for it";
    }
  return "";
}

Size heddle::loops::tiledScratchBytes(attn::SdpaOp op) {
  AttentionShape shape(op);
  return shape.atAnchors() * Size(4) + KeyParts::bytes(shape);
}
