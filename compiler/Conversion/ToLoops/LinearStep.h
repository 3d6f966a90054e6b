//===- LinearStep.h - one step along k of a linear --------------*- C++ -*-===//
//
// A tile of a linear knows memory as words of 4 bytes; what a word holds is known here alone:
//
//   f32    weights [N/32][K][32], one k a step
//   wide   weights [N/32][ceil(K/2)][32] words of two bf16; a step widens both and takes one k
//          after the other: the order and the bits of f32 over rounded weights
//   dots   the same weights, and rows [M][ceil(K/2)] words of two bf16: a step is one dot
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_TOLOOPS_LINEARSTEP_H
#define HEDDLE_COMPILER_CONVERSION_TOLOOPS_LINEARSTEP_H

#include "compiler/Conversion/ToLoops/Lowering.h"
#include "dialects/Model/IR/Arithmetic.h"

namespace heddle::loops {

constexpr int64_t kLinearPanel = 32; ///< results of a panel of weights

struct LinearStep {
  LinearStep(model::Arithmetic arithmetic, int64_t k) : arithmetic(arithmetic), k(k) {}
  model::Arithmetic arithmetic;
  int64_t k;

  /// Steps along k, which is also the height of a panel in rows of 32 words.
  int64_t depth() const { return arithmetic.bf16 ? (k + 1) / 2 : k; }
  /// Steps that multiply all they hold: a pair may lack its second half.
  int64_t whole() const { return arithmetic.bf16 && !arithmetic.dots ? k / 2 : depth(); }
  /// Words of a row of the left side.
  int64_t pitch() const { return arithmetic.dots ? depth() : k; }
  /// For the names of kernels.
  llvm::StringRef suffix() const { return arithmetic.dots ? "_dots" : arithmetic.bf16 ? "_wide" : ""; }

  /// sums[i, j] += rows[i] * weights[j] over the k of step `at`: `rows` is the first row of the
  /// left side, `weights` the addresses of one vector each.
  void multiply(Code &c, Value rows, Value at, llvm::ArrayRef<Value> weights, int64_t count, Values &sums) const;
};

/// Working memory of a linear beside its result: each part 0 bytes where it is not needed.
struct LinearScratch {
  explicit LinearScratch(model::LinearOp op);
  model::Size weight = 0; ///< panels packed at run time, of a weight that is no packed parameter
  model::Size bias = 0;   ///< the same for the bias of one part
  model::Size rows = 0;   ///< the left side as pairs of bf16
  model::Size bytes() const { return weight + bias + rows; }
};

/// Each leaves its part of the scratch filled, behind a barrier.
Value packWeight(Lowering &l, model::LinearOp op, const LinearStep &step, int64_t n);
Value packBias(Lowering &l, model::LinearOp op, int64_t n);
Value packRows(Lowering &l, model::LinearOp op, const LinearStep &step);

} // namespace heddle::loops

#endif
