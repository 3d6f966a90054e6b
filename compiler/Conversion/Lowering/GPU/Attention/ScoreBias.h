//===- ScoreBias.h - what becomes of one score ------------------*- C++ -*-===//
//
// Scale, softcap and biases of the score of one (query row, key) pair, all as scalars: on a device every lane has a
// pair of its own. And what the programs of attention ask of the tensors that masks and biases hold.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_GPU_ATTENTION_SCOREBIAS_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_GPU_ATTENTION_SCOREBIAS_H

#include "compiler/Conversion/Lowering/Facts/AttentionShape.h"
#include "compiler/Conversion/Lowering/Frame/Lowering.h"

namespace heddle::loops {

class ScoreBias {
public:
  /// Of query row `row` (of this call) at `position` (past + row), of head `head` of batch element `batch`.
  ScoreBias(Lowering &l, const AttentionShape &plan, Value batch, Value head, Value row, Value position)
      : l(l), plan(plan), batch(batch), head(head), row(row), position(position) {}

  /// The product `s` of query and key `k` with scale, softcap and bias.
  Value finished(Value s, Value k) const;
  /// The first key that every leading `keys` leaf sees: where the tiles of the batch element are, so that padding on
  /// the left moves nothing.
  Value firstKey() const;
  /// The length of an axis of a tensor, at the top of the function: masks ask from inside of loops of their own.
  Value length(Value tensor, int64_t axis) const;
  /// Element `at` of a tensor that a mask or bias holds; axes of length 1 are read at 0. Emits at `builder`.
  Value element(mlir::OpBuilder &builder, Value tensor, llvm::ArrayRef<Value> at) const;

private:
  Lowering &l;
  const AttentionShape &plan;
  Value batch, head, row, position;

  Value pointer(Value tensor) const { return l.pointer(plan.sourceOf(tensor)); }
  Value biasAt(Value bias, Value k) const;
  Value relativeDot(attn::RelativeDotOp op, Value k, Value own) const;
  Value lookedUp(mlir::Operation *bias, Value distance) const;
};

} // namespace heddle::loops

#endif
