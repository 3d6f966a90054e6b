//===- AttentionWeights.h - scores become weights ---------------*- C++ -*-===//
//
// Step 3 of attention: from scores to weights, in f32 (AttentionWeights.cpp) and in pairs of bf16
// (AttentionPairWeights.cpp).
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_CPU_ATTENTION_ATTENTIONWEIGHTS_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_CPU_ATTENTION_ATTENTIONWEIGHTS_H

#include "compiler/Conversion/Lowering/CPU/Attention/AttentionKernel.h"

namespace heddle::loops {

class Weights : ItemCode {
public:
  Weights(const ItemCode &item, const Tile &tile, bool whole) : ItemCode(item), tile(tile), whole(whole) {}
  void emit();

private:
  const Tile tile;
  const bool whole; ///< every row sees all of the tile

  void rowByRow();
  void rowAhead();
  void inPairs();
  void addToSum(Value r, Value sum);
  void hideUnseen(Value r);
  void fetchAhead(Value values, Value row);
  /// Calls body(column, sums) for each pair of vectors that row `r` may see.
  Values overColumns(Value r, Values sums, llvm::function_ref<Values(Value column, mlir::ValueRange sums)> body);
  /// 2^(s - m) of two vectors of scores, as words of two halves; a NaN shows in `nan`.
  Value pairOfWeights(Value low, Value high, Value greatest, Value &nan);
  Value roundedPair(Value low, Value high);
};

} // namespace heddle::loops

#endif
