//===- SumStep.h - one step along the axis that is summed -------*- C++ -*-===//
//
// The tiles of linears and of scores know memory as words of 4 bytes; what a word holds is known
// here alone. For a linear of K features (for scores: keys instead of weights, panels of 16):
//
//   f32    weights [panels][K][panel], one k a step
//   wide   weights [panels][ceil(K/2)][panel] words of two bf16 or f16; a step widens both and takes one k
//          after the other: the order and the bits of f32 over rounded weights
//   dots   the same weights in bf16, and rows [M][ceil(K/2)] words of two bf16: a step is one dot (in matrix registers
//          16 of them: MatrixSums.h)
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_FACTS_SUMSTEP_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_FACTS_SUMSTEP_H

#include "compiler/Conversion/Lowering/Language/Halves.h"

namespace heddle::loops {

/// Steps that a tile of most rows takes in one turn of its loop.
constexpr int64_t kStepsInTurn = 4;

struct SumStep {
  SumStep(model::Arithmetic arithmetic, int64_t k)
      : arithmetic(arithmetic), k(k), pitch(arithmetic.dots ? depth() : k) {}
  model::Arithmetic arithmetic;
  int64_t k;
  int64_t pitch; ///< words from one row of the left side to the next

  /// Steps along k, which is also the height of a panel in rows of words.
  int64_t depth() const { return arithmetic.halves() ? (k + 1) / 2 : k; }
  /// Steps that multiply all they hold: a pair may lack its second half.
  int64_t whole() const { return arithmetic.halves() && !arithmetic.dots ? k / 2 : depth(); }
  /// Words of a row of the left side that a step takes.
  int64_t wordsAStep() const { return arithmetic.halves() && !arithmetic.dots ? 2 : 1; }
  /// The step over the same weights in f32.
  SumStep ofReals() const;
  /// For the names of kernels.
  llvm::StringRef suffix() const {
    return arithmetic.dots ? "_dots" : arithmetic.stored == Stored::f16 ? "_f16" : arithmetic.halves() ? "_wide" : "";
  }

  /// sums[i, j] += rows[i] * weights[j] over the k of step `at`: `rows` is the first row of the
  /// left side, `weights` the addresses of one vector each. `even` and `odd`: where a step of pairs that are widened
  /// leaves them in f32, if it does.
  void multiply(Code &c, Value rows, Value at, llvm::ArrayRef<Value> weights, int64_t count, Values &sums,
                llvm::ArrayRef<Value> even = {}, llvm::ArrayRef<Value> odd = {}) const;
};

} // namespace heddle::loops

#endif
