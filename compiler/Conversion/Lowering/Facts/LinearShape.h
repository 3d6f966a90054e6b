//===- LinearShape.h - operands and scratch of a linear ---------*- C++ -*-===//
//
// What the code of a linear asks of its op, on every target: how the epilogue's operands depend on rows and columns,
// how the weight and the left side are laid out, and what scratch memory is for. What a target prepares in its own way
// it says in plan::Target::preparationOf.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_FACTS_LINEARSHAPE_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_FACTS_LINEARSHAPE_H

#include "compiler/Conversion/Lowering/Facts/SumStep.h"
#include "compiler/Plan/Target.h"

namespace heddle::loops {

//===-- the epilogue -------------------------------------------------------------------===//

/// How an operand of the epilogue depends on (row, column).
enum class Extra { Scalar, Column, Row, Element, General };
Extra kindOf(model::LinearOp op, mlir::Value extra);

/// The extra that is a gate of rows, if the epilogue reads its sum in `gate != 0 ? sum : 0` alone (model-gate-linears).
std::optional<unsigned> gateOf(model::LinearOp op);

//===-- the weight -----------------------------------------------------------------------===//

/// Whether the weight of a linear is in the blob as panels, and its bias as just the elements
/// that this part of the linear adds; else both are packed into scratch at run time.
bool isPackedWeight(model::LinearOp op);
bool isPackedBias(model::LinearOp op);

/// How the kernel reads the weight: as the packed parameter is laid out, or as `packWeight` lays out any other.
WeightLayout weightLayoutOf(model::LinearOp op);

//===-- the left side ---------------------------------------------------------------------===//

/// Features of a row; 0 where their number is no constant.
int64_t featuresOf(model::LinearOp op);

/// How the target of `op` prepares its operands.
plan::Preparation preparationOf(model::LinearOp op);

/// The linears of a block that read rows prepared alike and have no other working memory, in order; none if `op` is not
/// among them. The first of them prepares the rows for all.
llvm::SmallVector<model::LinearOp> readersOfRows(model::LinearOp op);

/// The left side of a linear as its kernel reads it: batch elements of rows that are `pitch` words apart. Rows of
/// overlapping windows (dialects/Model/Transforms/Views.h) are laid out as their operand is; all others, and rows that
/// are rounded to pairs, one after the other.
struct LeftSide {
  explicit LeftSide(model::LinearOp op);
  model::WindowsOp windows;        ///< whose rows overlap, or null
  model::Size batch = 1, rows = 1; ///< batch elements, rows of each
  model::Size between;             ///< words from one batch element to the next
  int64_t pitch;
};
/// The step along k of a linear whose rows are laid out so.
SumStep stepOf(model::LinearOp op);

/// Bytes of the left side of `op`, a linear of dots, as it reads it.
model::Size preparedBytes(model::LinearOp op);

//===-- working memory --------------------------------------------------------------------===//

/// Working memory of a linear next to its result: each part 0 bytes where it is not needed.
struct LinearScratch {
  explicit LinearScratch(model::LinearOp op);
  model::Size weight = 0; ///< panels packed at run time, of a weight that is no packed parameter
  model::Size bias = 0;   ///< the same for the bias of one part
  model::Size rows = 0;   ///< the left side of dots, as the target prepares it
  model::Size own = 0;    ///< of each thread (Preparation::threadBytes)
  model::Size bytes() const { return weight + bias + rows + own; }
  /// Parts begin at cache lines.
  static int64_t linesOf(int64_t bytes) { return int64_t(llvm::alignTo(uint64_t(bytes), 64)); }
};

} // namespace heddle::loops

#endif
