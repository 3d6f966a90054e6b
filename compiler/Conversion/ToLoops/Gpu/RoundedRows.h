//===- RoundedRows.h - rows that several linears read, rounded once -------*- C++ -*-===//
//
// Queries, keys and values are three linears of the same rows, gate and up are two. Products of pairs need the rows as
// pairs of bf16, which the first of these linears leaves in its working memory; the others use it there.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_TOLOOPS_GPU_ROUNDEDROWS_H
#define HEDDLE_COMPILER_CONVERSION_TOLOOPS_GPU_ROUNDEDROWS_H

#include "compiler/Conversion/ToLoops/SumStep.h"

namespace heddle::loops {

/// The linears of pairs in the block of `op` that read the same rows and have no other working memory, in their order;
/// none if `op` is not among them.
llvm::SmallVector<model::LinearOp> readersOfRows(model::LinearOp op);

/// The left side of a linear of pairs as its tiles read it, rounded by this linear or one before it.
Value roundedRows(Lowering &l, model::LinearOp op, const SumStep &step);

} // namespace heddle::loops

#endif
