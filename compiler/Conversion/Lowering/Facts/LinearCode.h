//===- LinearCode.h - what targets make linears of --------------*- C++ -*-===//
//
// A linear in parts: its operands made ready, the general kernel for some of its rows. The program of
// a target puts them together.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_FACTS_LINEARCODE_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_FACTS_LINEARCODE_H

#include "compiler/Conversion/Lowering/Facts/LinearPack.h"

namespace heddle::loops {

/// How an operand of the epilogue depends on (row, column).
enum class Extra { Scalar, Column, Row, Element, General };
Extra kindOf(model::LinearOp op, Value extra);

/// The extra that is a gate of rows, if the epilogue reads its sum in `gate != 0 ? sum : 0` alone (model-gate-linears).
std::optional<unsigned> gateOf(model::LinearOp op);

/// The operands of a linear as pointers. The weight is in panels (weightLayoutOf), the left side [rows][pitch of
/// SumStep].
struct ReadyLinear {
  Value input, weight;
  Value bias; ///< null pointer if it has none
  Value result;
  Values extras;
  Value decoded; ///< where this thread decodes or unpacks panels of codes, or widens others; null where it does not
};
/// Packs what has to be packed, the left side of dots by `pack`; ends behind a barrier if anything had to. Fails at
/// what no kernel can do.
mlir::FailureOr<ReadyLinear> readyLinear(Lowering &l, model::LinearOp op,
                                         Value (*pack)(Lowering &, model::LinearOp, const SumStep &) = sharedRows);

/// Rows [0, rows) by the general kernel of the op's (K, N, epilogue).
void emitLinear(Lowering &l, model::LinearOp op, const ReadyLinear &ready, Value rows);

} // namespace heddle::loops

#endif
