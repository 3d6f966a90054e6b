//===- RoundedRows.h - rows that linears read, rounded once ------*- C++ -*-===//
//
// Products of pairs need their rows as pairs of bf16. Queries, keys and values are three linears of the same rows, gate
// and up are two, and a norm makes them: it leaves them rounded in its working memory, and they use it there. Rows that
// something else makes are rounded by the first of their linears.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_GPU_LINEAR_ROUNDEDROWS_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_GPU_LINEAR_ROUNDEDROWS_H

#include "compiler/Conversion/Lowering/Facts/SumStep.h"
#include "compiler/Conversion/Lowering/Frame/Lowering.h"

namespace heddle::loops {

/// The op in whose working memory `op`, a linear of pairs, finds its rows rounded: the norm that makes them, or the
/// first linear that reads them; null if `op` rounds its own.
mlir::Operation *roundsRowsOf(model::LinearOp op);

/// Bytes of the rows that a norm leaves rounded; 0 if no linear asks for them.
model::Size roundedBytes(mlir::Operation *norm);

/// Rounds the elements of a norm beside storing them, where linears ask for that.
ExtraStore storeRoundedToo(Lowering &l, mlir::Operation *norm);

/// The left side of a linear of pairs as its tiles read it, rounded by this linear or an op before it.
Value roundedRows(Lowering &l, model::LinearOp op, const SumStep &step);

} // namespace heddle::loops

#endif
