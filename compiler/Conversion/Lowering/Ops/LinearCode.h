//===- LinearCode.h - a linear's operands made ready ------------*- C++ -*-===//
//
// A linear in parts: its operands made ready, the general kernel for some of its rows. The program of a target puts
// them together.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_OPS_LINEARCODE_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_OPS_LINEARCODE_H

#include "compiler/Conversion/Lowering/Facts/LinearShape.h"
#include "compiler/Conversion/Lowering/Frame/Lowering.h"

namespace heddle::loops {

/// Where a row of the left side begins, in elements of what it is read from: of a window, in what the windows are of.
Value rowBegin(Lowering &l, model::LinearOp op, const LeftSide &left, Value row);

/// Rounds the rows of `op` to pairs of bf16 in its scratch, after a barrier.
Value packRows(Lowering &l, model::LinearOp op, const SumStep &step);

/// The operands of a linear as pointers. The weight is in panels (weightLayoutOf), the left side [rows][pitch of
/// SumStep].
struct ReadyLinear {
  Value input, weight;
  Value bias; ///< null pointer if it has none
  Value result;
  Values extras;
  Value decoded; ///< where this thread has Preparation::panelBytes; null where it needs none
};
/// Packs what has to be packed, the left side of dots by `prepare`; ends after a barrier if anything had to. Fails at
/// what no kernel can do.
mlir::FailureOr<ReadyLinear> readyLinear(Lowering &l, model::LinearOp op,
                                         Value (*prepare)(Lowering &, model::LinearOp, const SumStep &));

/// Rows [0, rows) by the general kernel of the op's (K, N, epilogue).
void emitLinear(Lowering &l, model::LinearOp op, const ReadyLinear &ready, const Length &rows);

} // namespace heddle::loops

#endif
