//===- DeadRows.h - which rows nobody needs --------------------*- C++ -*-===//
//
// A mask keys(M), M [B, T], that every attention over these rows implies, makes row (b, t) with
// M = 0 a row of padding: no other row sees it. In some values such a row may then hold
// anything: if every use keeps rows apart, is an attention that hides the row, or returns it.
// Uses are followed backwards, with the relations of StepInterface.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_MODELTOENTRIES_DEADROWS_H
#define HEDDLE_COMPILER_CONVERSION_MODELTOENTRIES_DEADROWS_H

#include "compiler/Conversion/ModelToEntries/Objection.h"
#include "dialects/Attn/IR/Attn.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace heddle::entries {

/// The rows (b, t) that a mask of keys tells apart. In a step the mask is longer than the
/// rows: it begins with the rows of the past.
struct PaddedRows {
  model::Size batch, rows, past;
  mlir::Value mask;      ///< [batch, past + rows]
  bool inverted = false; ///< padding is where the mask is not 0 (`not keys(..)`)
};

/// The padded rows of a function: for each pair of dims (batch, rows) the mask that most of
/// its attentions have.
llvm::SmallVector<PaddedRows> findPaddedRows(mlir::func::FuncOp function);

/// Whether the description marks these rows as padding, and not only as keys that nothing sees:
/// the mask is made of inputs that have a default or the role `mask` of `generate`, or of ids
/// compared by `!=` with one id. Otherwise outputs for these rows may be wanted.
bool isSaidToBePadding(const PaddedRows &rows);

/// The axes of a value that count batch elements and rows.
struct RowAxes {
  unsigned batch, row;
  bool operator==(const RowAxes &o) const { return batch == o.batch && row == o.row; }
};

/// The values of a function whose rows of padding may hold anything.
class DeadRows {
public:
  DeadRows(mlir::func::FuncOp function, PaddedRows rows);

  const PaddedRows rows;
  /// The axes of a value that has such rows; none for any other value.
  std::optional<RowAxes> axesOf(mlir::Value v) const;
  /// Whether the rows of padding of this value may hold anything.
  bool isFree(mlir::Value v) const { return axesOf(v) && !objections.count(v); }
  /// Why not; null if it is free or has no such rows.
  const Objection *objection(mlir::Value v) const;
  /// Whether the attention hides the keys of padding.
  bool hidesKeys(attn::SdpaOp op) const;
  /// Slices and gathers that select rows of free values by position.
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
