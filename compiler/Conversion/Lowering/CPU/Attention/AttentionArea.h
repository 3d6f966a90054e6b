//===- AttentionArea.h - a thread's working memory --------------*- C++ -*-===//
//
// Where the queries, scores, outputs and sums of the work item at hand are: addresses in this thread's part of scratch,
// as KernelShape.h has laid it out. `r` counts the item's rows from 0.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_CPU_ATTENTION_ATTENTIONAREA_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_CPU_ATTENTION_ATTENTIONAREA_H

#include "compiler/Conversion/Lowering/CPU/Attention/AttentionCode.h"

namespace heddle::loops {

class ThreadArea : public AttentionCode {
public:
  /// Makes the code of the area's address.
  explicit ThreadArea(const AttentionCode &code) : AttentionCode(code) {
    Value start = add({length(Role::Threads), mul(args.thread, plan.threadFloats)});
    base = at(args.scratch, start, f32());
  }
  /// What begins so many floats into the area.
  Value floats(int64_t offset) { return at(base, constant(offset), f32()); }

  /// A row's query in units of log2, scaled; with dots in pairs.
  Value query(Value r) { return at({floats(plan.atQuery), mul(r, plan.queryWords())}, f32()); }
  /// A row's scores of the tile, then its weights: from a column on, counted with kScoreFront, or from the first.
  Value scores(Value r, Value column) {
    return at({floats(plan.atScores), add(mul(r, plan.scoreStride()), column)}, f32());
  }
  Value scores(Value r) { return scores(r, constant(kScoreFront)); }
  /// How often each key of the tile counts (`mask.add`), from the first column on or from another.
  Value counts(Value r) { return counts(r, constant(0)); }
  Value counts(Value r, Value column) {
    return at({floats(plan.atCounts), add(add(mul(r, plan.scoreStride()), kScoreFront), column)}, f32());
  }
  /// Floats from one row of outputs to the next, and feature `d` of a row's.
  int64_t outputStride() const { return (plan.valueWidth + 15) / 16 * 16; }
  Value output(Value r) { return output(r, constant(0)); }
  Value output(Value r, Value d) { return at({floats(plan.atOutput), add(mul(r, outputStride()), d)}, f32()); }
  /// 16 lanes of the sum of a row's weights.
  Value sum(Value r) { return at({floats(plan.atSum), mul(r, 16)}, f32()); }
  /// What a row's output so far is multiplied by; its greatest score so far.
  Value scale(Value r) { return at(floats(plan.atScale), r, f32()); }
  Value greatest(Value r) { return at(floats(plan.atMax), r, f32()); }
  /// Two i64: the keys that the group of rows around `r` may see.
  Value bounds(Value r) { return at({floats(plan.atBounds), mul(div(r, constant(groupRows())), 2)}, b.getI64Type()); }
  /// The tile's values as rows of pairs, [64][pairStride][2] halves.
  Value pairs() { return floats(plan.atPairs); }

private:
  Value base;
};

} // namespace heddle::loops

#endif
