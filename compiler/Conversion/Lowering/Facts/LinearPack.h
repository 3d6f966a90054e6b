//===- LinearPack.h - what a linear rearranges at run time ------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_FACTS_LINEARPACK_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_FACTS_LINEARPACK_H

#include "compiler/Conversion/Lowering/Facts/SumStep.h"

namespace heddle::loops {

/// The places and rows of a layout as code.
struct LayoutCode {
  Lowering &l;
  Value add(Value x, Value y) const { return l.add(x, y); }
  Value add(Value x, int64_t y) const { return l.add(x, y); }
  Value mul(Value x, Value y) const { return l.mul(x, y); }
  Value mul(Value x, int64_t y) const { return l.mul(x, y); }
  Value div(Value x, int64_t y) const { return l.div(x, l.constant(y)); }
  Value rem(Value x, int64_t y) const { return l.rem(x, l.constant(y)); }
};

/// Whether a linear's sums are made in matrix registers (MatrixSums.h): pairs of bf16 where they fill rows of 64 bytes,
/// codes in units of 64 or 128 features. (Units of 32 become f32 too often to gain from it.)
bool multipliesMatrices(model::LinearOp op);

/// The linears of a block that read rows rounded alike and have no other working memory, in order; none if `op` is not
/// among them. The first of them rounds the rows for all.
llvm::SmallVector<model::LinearOp> readersOfRows(model::LinearOp op);

/// How the kernel reads the weight: as the packed parameter lies, or as `packWeight` lays out any other.
WeightLayout weightLayoutOf(model::LinearOp op);

/// The left side of a linear as its kernel reads it: batch elements of rows that lie `pitch` words apart. Rows of
/// overlapping windows (dialects/Model/Transforms/Views.h) lie as their operand does; all others, and rows that are
/// rounded to pairs, one behind the other.
struct LeftSide {
  explicit LeftSide(model::LinearOp op);
  model::WindowsOp windows;        ///< whose rows overlap, or null
  model::Size batch = 1, rows = 1; ///< batch elements, rows of each
  model::Size between;             ///< words from one batch element to the next
  int64_t pitch;
};
/// The step along k of a linear whose rows lie so.
SumStep stepOf(model::LinearOp op);

/// Working memory of a linear beside its result: each part 0 bytes where it is not needed.
struct LinearScratch {
  explicit LinearScratch(model::LinearOp op);
  model::Size weight = 0; ///< panels packed at run time, of a weight that is no packed parameter
  model::Size bias = 0;   ///< the same for the bias of one part
  model::Size rows = 0;   ///< the left side as pairs of bf16, or as records of integers (IntegerRows.h)
  model::Size own = 0;    ///< of each thread a row in the order of its codes, or a panel (decodedBytes)
  model::Size bytes() const { return weight + bias + rows + own; }
  /// Parts begin at cache lines.
  static int64_t linesOf(int64_t bytes) { return int64_t(llvm::alignTo(uint64_t(bytes), 64)); }
};
/// Bytes of a panel that a thread decodes, unpacks for its matrix registers, or widens for many rows; 0 where it reads
/// panels as they lie.
int64_t decodedBytes(model::LinearOp op);

/// Bytes of the left side of `op`, a linear of dots, as it reads it: whole registers of rows.
model::Size roundedBytes(model::LinearOp op);

/// Where a row of the left side begins, in elements of what it is read from: of a window, in what the windows are of.
Value rowBegin(Lowering &l, model::LinearOp op, const LeftSide &left, Value row);

/// Each leaves its part of the scratch filled, behind a barrier.
Value packWeight(Lowering &l, model::LinearOp op, const SumStep &step, int64_t n);
Value packBias(Lowering &l, model::LinearOp op, int64_t n);
Value packRows(Lowering &l, model::LinearOp op, const SumStep &step);
/// As packRows; where they lie so already (KeptRows.h) or a linear before this one has left its rows, these.
Value sharedRows(Lowering &l, model::LinearOp op, const SumStep &step);

} // namespace heddle::loops

#endif
