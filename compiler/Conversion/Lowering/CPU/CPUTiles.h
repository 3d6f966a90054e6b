//===- CPUTiles.h - the tiles that vector registers are made for -*- C++ -*-===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_CPU_CPUTILES_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_CPU_CPUTILES_H

#include "compiler/Conversion/Lowering/CPU/Linear/KeptRows.h"
#include "compiler/Conversion/Lowering/CPU/Linear/PreparedRows.h"
#include "compiler/Conversion/Lowering/Facts/AttentionShape.h"
#include "compiler/Conversion/Lowering/Facts/Tiles.h"

namespace heddle::loops {

/// Vector registers of a tile that are left to sums: the others hold the weights of a step and a factor.
constexpr int64_t sumRegisters(int64_t registers) { return registers - 4; }

/// 32 registers of 4 f32: NEON. Tiles are narrower there, and have more of them.
constexpr bool hasShortVectors(int64_t registers, int64_t lanes) { return registers >= 32 && lanes == 4; }

/// The default tiles of a linear or a matmul for the registers of #model.target; of a convolution the panel counts.
model::ScheduleAttr usualTiles(mlir::Operation *op);
/// Why they are these.
llvm::StringRef whyUsualTiles(mlir::Operation *op);

/// Says where sums of an op are made, and how its result is laid out for the linears that read it.
void remarkOnRegisters(mlir::Operation *op);

/// Bytes of arena that an op needs while it runs, next to its results (a form over dims and, for per-thread scratch,
/// the dim `threads`). The lowering gets it by Lowering::scratchPointer.
model::Size scratchBytes(mlir::Operation *op);

/// What plans ask of a target whose tiles fit vector registers.
class CPUTiles final : public plan::Target {
public:
  model::ScheduleAttr tilesOf(mlir::Operation *op) const override { return usualTiles(op); }
  attn::ScheduleAttr tilesOf(attn::SdpaOp op) const override { return usualTiles(op); }
  llvm::StringRef whyTiles(mlir::Operation *op) const override { return whyUsualTiles(op); }
  void remarkOn(mlir::Operation *op) const override { remarkOnRegisters(op); }
  std::string refusal(mlir::Operation *op) const override { return refuseTiles(op); }
  std::pair<int64_t, int64_t> cacheBlock() const override { return {kKeyTile, kPanel}; }
  plan::Preparation preparationOf(model::LinearOp op) const override { return registerPreparation(op); }
  model::Size scratchBytes(mlir::Operation *op) const override { return loops::scratchBytes(op); }
  /// How many rows are live is read by each thread, when it comes there: a thread that is ahead must not have written
  /// something else in that place.
  bool scratchLasts(mlir::Operation *op) const override { return mlir::isa<model::LiveRowsOp>(op); }
  mlir::Operation *leavesScratchFor(mlir::Operation *op) const override { return preparesRowsOf(op); }
  std::optional<model::Size> bytesOf(mlir::OpResult result) const override { return keptBytes(result); }
  bool hasBatchEntry() const override { return true; }
};

} // namespace heddle::loops

#endif
