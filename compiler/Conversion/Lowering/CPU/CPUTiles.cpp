//===- CPUTiles.cpp - the tiles that vector registers are made for --------===//
//
// What plans ask of a processor (compiler/Plan/Target.h). The numbers were measured
// (test/Bench/results/2026-11-26-linears.md); they can be changed for an op in a saved stage `tiled`.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/CPU/CPUTiles.h"
#include "compiler/Conversion/Lowering/CPU/Attention/KernelShape.h"
#include "compiler/Conversion/Lowering/CPU/Linear/MatrixSums.h"
#include "dialects/Model/IR/ModelPlanAttrs.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using namespace heddle::model;

static constexpr int64_t kRowBlock = 256;    ///< rows that a panel of weights serves before the next one
static constexpr int64_t kMatmulBlock = 64;  ///< the same where both sides are values
static constexpr int64_t kAhead = 64;        ///< k steps of prefetch when few rows stream the weights
static constexpr int64_t kAheadOfCodes = 16; ///< the same for codes, in words
static constexpr int64_t kSmall = 1 << 15;   ///< weights that need no code of their own for few rows

namespace {
/// A tile's rows, its results, which are those of a panel of weights, and the reason for both.
struct Tile {
  int64_t rows = 8, results = 32;
  StringRef why = "their sums fill registers, and leave some for a step of weights";
};
} // namespace

static bool shortVectors(TargetAttr target) {
  return target && hasShortVectors(target.getRegisters(), target.getLanes());
}

/// Processors with vectors of 16 that multiply two of them at a time: 8 x 32 wants 10 loads for 16 products, which take
/// 8 cycles there, 8 x 48 wants 11 for 24. It is the same where a core is alone, and a tenth where it is shared with
/// another thread (README.md).
static bool multipliesTwice(TargetAttr target) {
  static const StringRef chips[] = {"skylake-avx512", "skx",           "cascadelake",   "cooperlake",
                                    "cannonlake",     "icelake",       "rocketlake",    "tigerlake",
                                    "sapphirerapids", "emeraldrapids", "graniterapids", "diamondrapids"};
  return target && target.getLanes() == 16 &&
         llvm::any_of(chips, [&](StringRef chip) { return target.getChip().starts_with(chip); });
}

/// The tile whose sums stay in registers. 32 registers have room for 8 x 32 in vectors of 16 or 8; in vectors of 4 for
/// 24 sums, 6 rows of four: 10 loads for 24 products. Of 16 there are 12 for sums, three of 4 rows or, where no whole
/// panels of three vectors make up the results, two of 6. The columns of a matmul come with masks, so it has 4 rows.
static Tile tileOf(Operation *op) {
  TargetAttr target = targetOf(op);
  if (auto linear = dyn_cast<LinearOp>(op); linear && multipliesMatrices(linear))
    return {MatrixSums::mostRows, MatrixSums::mostResults, "four matrix registers of sums"};
  if (Arithmetic arithmetic = arithmeticOf(op); arithmetic.integers()) {
    // Integer sums, and sums of f32 that pass over a unit: of 32 registers both have room in 6 rows, and of 8 the
    // second are on the stack, where that is seldom enough. Of 16 there are 8 for integers.
    if (target && target.getRegisters() < 32)
      return {4, 2 * target.getLanes(), "8 of 16 registers hold sums of integers"};
    return {std::min(arithmetic.coding.group, arithmetic.rows) < Coding::rowFeatures ? 6 : 8,
            shortVectors(target) ? 8 : 32, "sums of integers, and sums of f32 over units of a row, share 32 registers"};
  }
  auto type = cast<ModelTensorType>(op->getResult(0).getType());
  std::optional<int64_t> results = type.getSize(type.getRank() - 1).constant();
  if (isa<LinearOp>(op) && !arithmeticOf(op).halves() && multipliesTwice(target) && results && *results % 48 == 0)
    return {8, 48, "this processor multiplies two vectors at a time: 11 loads for 24 products"};
  if (shortVectors(target) && !isa<ConvOp>(op))
    return {isa<MatmulOp>(op) ? 4 : 6, 16, "32 registers of short vectors: 10 loads for 24 products"};
  if (!target || target.getRegisters() >= 32 || isa<ConvOp>(op))
    return {};
  int64_t lanes = target.getLanes();
  if (isa<MatmulOp>(op))
    return {4, 2 * lanes, "8 of 16 registers hold sums; columns come with masks"};
  return results && *results % (3 * lanes) == 0
             ? Tile{4, 3 * lanes, "12 of 16 registers hold sums, in panels of three vectors"}
             : Tile{6, 2 * lanes, "12 of 16 registers hold sums; three vectors do not divide the results"};
}

/// Whether a processor reads one stretch of memory as fast as it can without being told where it goes on. Where it
/// does, fetching ahead of it costs a fifth of that speed.
static bool followsStreams(TargetAttr target) { return target && target.getChip() == "znver4"; }

ScheduleAttr heddle::loops::usualTiles(Operation *op) {
  auto [rows, results, why] = tileOf(op);
  if (isa<MatmulOp>(op))
    return ScheduleAttr::get(op->getContext(), results, rows, kMatmulBlock, 0, 0);
  int64_t ahead = followsStreams(targetOf(op)) ? 0 : arithmeticOf(op).integers() ? kAheadOfCodes : kAhead;
  if (results > 32) // as many bytes of four panels, which the first cache holds
    ahead = ahead * 32 / results;
  return ScheduleAttr::get(op->getContext(), results, rows, llvm::alignTo(kRowBlock, rows), ahead, kSmall);
}

StringRef heddle::loops::whyUsualTiles(Operation *op) { return tileOf(op).why; }

Size heddle::loops::scratchBytes(Operation *op) {
  if (auto sdpa = dyn_cast<attn::SdpaOp>(op))
    return KernelShape(sdpa).scratchBytes();
  if (auto linear = dyn_cast<LinearOp>(op))
    return linear->getNumResults() == 1 ? LinearScratch(linear).bytes() : Size(0);
  return isa<LiveRowsOp>(op) ? Size(64) : Size(0); // how many there are, for all threads
}
