//===- PreparedRows.h - what a linear prepares for its panels ---*- C++ -*-===//
//
// The left side of dots is rounded once, before the panels of the weight pass over it: to pairs of bf16, or to records
// of integers (IntegerRows.h). Panels of codes and of 16 bits are decoded, unpacked or widened by the thread that meets
// them.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_CPU_LINEAR_PREPAREDROWS_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_CPU_LINEAR_PREPAREDROWS_H

#include "compiler/Conversion/Lowering/Ops/LinearCode.h"

namespace heddle::loops {

/// How loops of vector registers prepare the operands of `op`: the answer to plan::Target::preparationOf of a target
/// whose code they are.
plan::Preparation registerPreparation(model::LinearOp op);

/// An earlier linear whose rows, prepared in its scratch, `op` reads; null: it has its own.
mlir::Operation *preparesRowsOf(mlir::Operation *op);

/// The left side of `op`, a linear of dots, after a barrier: as its maker left it (KeptRows.h), as a linear before
/// this one has prepared it, or prepared here.
Value preparedRows(Lowering &l, model::LinearOp op, const SumStep &step);

} // namespace heddle::loops

#endif
