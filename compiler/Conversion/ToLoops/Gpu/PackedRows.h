//===- PackedRows.h - rows of keys and values as attention reads them -*- C++ -*-===//
#ifndef HEDDLE_COMPILER_CONVERSION_TOLOOPS_GPU_PACKEDROWS_H
#define HEDDLE_COMPILER_CONVERSION_TOLOOPS_GPU_PACKEDROWS_H

#include "compiler/Conversion/ToLoops/AttentionPlan.h"
#include "compiler/Conversion/ToLoops/CachePart.h"

namespace heddle::loops {

/// Puts rows where attention reads them, an item a row of a head.
void emitPackedRows(Lowering &l, mlir::Location loc, const CacheWrite &write);

/// The keys (`keys`) or values of an attention that are rows of a tensor, as a cache would hold them, in its scratch;
/// where they begin there. No barrier stands behind.
Value packOperand(Lowering &l, const AttentionPlan &plan, bool keys, Value rows);

} // namespace heddle::loops

#endif
