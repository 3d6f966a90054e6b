//===- WantedLogits.h - only the logits that are wanted ---------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_CONVERSION_MODELTOENTRIES_WANTEDLOGITS_H
#define HEDDLE_COMPILER_CONVERSION_MODELTOENTRIES_WANTEDLOGITS_H

#include "dialects/Model/IR/Model.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace heddle::entries {

/// Gives @batch an input `asked`, i64 [asked]: which rows of the batch the result has, in this order. What is made of
/// the last rows of the texts alone, as the logits are, is then made for these. Nothing is changed where the result is
/// made of more than that; then it has every row.
mlir::LogicalResult askRows(mlir::func::FuncOp batch, const model::Size &rows);

} // namespace heddle::entries

#endif
