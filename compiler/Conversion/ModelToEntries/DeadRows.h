//===- DeadRows.h - which rows nobody needs --------------------*- C++ -*-===//
//
// A mask `keys(M)`, M [B, T], that every attention over these rows implies, makes row (b, t) with
// M = 0 a row of padding: no other row sees it. Such a row of a value may then hold anything,
// if all that is done with the value keeps rows apart, or is attention that hides it, or hands
// it out. This is found out backwards from the uses, with the relations of StepInterface.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_MODELTOENTRIES_DEADROWS_H
#define HEDDLE_COMPILER_CONVERSION_MODELTOENTRIES_DEADROWS_H

#include "dialects/Attn/IR/Attn.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace heddle::entries {

/// The rows (b, t) of a mask of keys. In a step the mask is longer than the rows: it begins
/// with those of the past.
struct PaddedRows {
  model::Size batch, rows, past;
  mlir::Value mask;      ///< [batch, past + rows]
  bool inverted = false; ///< padding is where the mask is not 0 (`not keys(..)`)
};

/// The padded rows of a function: for each pair of dims the mask that most attentions over it have.
llvm::SmallVector<PaddedRows> findPaddedRows(mlir::func::FuncOp function);

/// Whether the description says that these rows are padding, not just that no key of them is seen:
/// the mask is made of inputs that have a default or are the mask of `generate`, or of ids that
/// are compared with `!=` to one id. Else what outputs say of the rows may be wanted.
bool isSaidToBePadding(const PaddedRows &rows);

/// Why rows of padding are computed all the same.
struct Objection {
  mlir::Location where;
  std::string why;
};

/// Axes of a value: which counts batch elements, which rows.
struct RowAxes {
  unsigned batch, row;
  bool operator==(const RowAxes &o) const { return batch == o.batch && row == o.row; }
};

class DeadRows {
public:
  DeadRows(mlir::func::FuncOp function, PaddedRows rows);

  const PaddedRows rows;
  /// None: the value is no row a token.
  std::optional<RowAxes> axesOf(mlir::Value v) const;
  /// Whether the rows of padding of this value may hold anything.
  bool isFree(mlir::Value v) const { return axesOf(v) && !objections.count(v); }
  /// Why not; null where it is free or no row a token.
  const Objection *objection(mlir::Value v) const;
  /// Whether the attention's keys of padding are hidden.
  bool hidesKeys(attn::SdpaOp op) const;
  /// Slices and gathers that read rows of free values by their position.
  llvm::ArrayRef<mlir::Operation *> reads() const { return positional; }

private:
  mlir::func::FuncOp function;
  llvm::DenseMap<mlir::Value, Objection> objections;
  llvm::SmallVector<mlir::Operation *> positional;

  std::optional<Objection> ask(mlir::OpOperand &use) const;
  std::optional<Objection> askAttention(attn::SdpaOp op, unsigned operand) const;
  std::optional<Objection> askBias(mlir::Value bias, bool keySide) const;
  std::optional<Objection> askState(mlir::Operation *op) const;
  std::optional<Objection> askRowWise(mlir::OpOperand &use, RowAxes axes) const;
  bool isMaskOrZero(mlir::Value v) const;
};

} // namespace heddle::entries

#endif
