//===- CPUPlan.h - the tiles that loops are made for ------------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_CPU_CPUPLAN_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_CPU_CPUPLAN_H

#include "compiler/Plan/Target.h"

namespace heddle::loops {

/// Vector registers of a tile that are left to sums: the others hold the weights of a step and a factor.
constexpr int64_t sumRegisters(int64_t registers) { return registers - 4; }

/// 32 registers of 4 f32: NEON. Tiles are narrower there, and have more of them.
constexpr bool hasShortVectors(int64_t registers, int64_t lanes) { return registers >= 32 && lanes == 4; }

/// The default tiles of a linear, a matmul or an attention for the registers of #model.target. Kernels with other
/// tiles have these in their names.
model::ScheduleAttr usualTiles(mlir::Operation *op);
attn::ScheduleAttr usualTiles(attn::SdpaOp op);

/// The height of the next lower tile for the rows that are left: half of a power of two; where 6 are a whole tile each
/// height has its own, so that there is one for all that is left. 0 below 1.
int64_t lowerTile(model::ScheduleAttr tiles, int64_t rows);

/// Why the tiles that an op has cannot be lowered; "" if they can.
std::string refuseTiles(mlir::Operation *op);
std::string refuseTiles(attn::SdpaOp op);

/// The target "cpu". A target of other lanes that reads the same weights and caches is one with other answers.
class CPUPlan : public plan::Target {
public:
  llvm::StringRef name() const override { return "cpu"; }
  model::ScheduleAttr tilesOf(mlir::Operation *op) const override { return usualTiles(op); }
  attn::ScheduleAttr tilesOf(attn::SdpaOp op) const override { return usualTiles(op); }
  std::string refusal(mlir::Operation *op) const override { return refuseTiles(op); }
  std::pair<int64_t, int64_t> cacheBlock() const override;
  model::Size scratchBytes(mlir::Operation *op) const override;
  /// How many rows are live is read by each thread, when it comes there: a thread that is ahead must not have written
  /// something else in that place. Where an entry is many kernels each behind the one that counts asks for it.
  bool scratchLasts(mlir::Operation *op) const override;
  mlir::Operation *leavesScratchFor(mlir::Operation *op) const override;
  std::optional<model::Size> bytesOf(mlir::OpResult result) const override;
};

} // namespace heddle::loops

#endif
