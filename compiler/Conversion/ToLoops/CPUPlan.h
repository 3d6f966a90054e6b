//===- CPUPlan.h - the tiles that loops are made for ------------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_CONVERSION_TOLOOPS_CPUPLAN_H
#define HEDDLE_COMPILER_CONVERSION_TOLOOPS_CPUPLAN_H

#include "compiler/Plan/Target.h"

namespace heddle::loops {

/// The tiles of a linear or a matmul, or of an attention, where nobody has said otherwise. Kernels of others bear their
/// tiles in their names.
model::ScheduleAttr usualTiles(mlir::Operation *op);
attn::ScheduleAttr usualTiles(attn::SdpaOp op);

/// Why there are no loops with the tiles that an op says; empty: there are.
std::string refuseTiles(mlir::Operation *op);
std::string refuseTiles(attn::SdpaOp op);

} // namespace heddle::loops

#endif
