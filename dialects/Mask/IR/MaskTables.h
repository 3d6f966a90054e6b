//===- MaskTables.h - the tables that data leaves look up -------*- C++ -*-===//
//
// The layouts of tables that summarise the data of masks. They are computed once in each call, in
// O(length), and shared by all layers and heads.
//
//   key_table    [b][2 + G]            first key that is set, one past the last; then an entry a
//                                      granule: end << 2 | state (0 none, 1 some, 2 all of its keys
//                                      between those two are set); granules up to `end` share it,
//                                      which is never past the last key that is set
//   row_counts   [b][T + 1]            rows before row r that are set: a tile by two loads
//   label_table  [b][1 + 2 T + 3 G]    1 if every row's keys are one stretch that never moves back;
//                                      T first keys, T ends; a granule's least and greatest label
//                                      and the set of label mod 64
//   block_runs   [h][R][1 + 2 E]       count, then (first key, end) of the stretches, ascending
//   dense_table  [..][ceil(T/8)][2][ceil(S/1024)]   bits of 64 granules: some pair, every pair
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_DIALECTS_MASK_IR_MASKTABLES_H
#define HEDDLE_DIALECTS_MASK_IR_MASKTABLES_H

#include "dialects/Mask/IR/Mask.h"

namespace heddle::mask {

constexpr int64_t kGranule = 16;   ///< keys of a granule
constexpr int64_t kRowGranule = 8; ///< rows of a granule of a dense table
constexpr int64_t kWordKeys = 64 * kGranule;

inline model::Size ceilDiv(const model::Size &n, int64_t d) {
  return (n + model::Size(d - 1)).floorDiv(model::Size(d));
}
inline model::Size lastSize(mlir::Value tensor) {
  auto type = mlir::cast<model::ModelTensorType>(tensor.getType());
  return type.getSize(type.getRank() - 1);
}

/// The type of the table of a tensor of this type.
model::ModelTensorType keyTableType(model::ModelTensorType keys);
model::ModelTensorType rowCountsType(model::ModelTensorType rows);
model::ModelTensorType labelTableType(model::ModelTensorType rows, model::ModelTensorType keys);
model::ModelTensorType blockRunsType(model::ModelTensorType lists);
model::ModelTensorType denseTableType(model::ModelTensorType dense);

/// Whether a table is made of these labels: integers, and not one label for all rows or keys.
bool areLabels(mlir::Value rows, mlir::Value keys);

/// For verifiers: an error unless the tensor has between `low` and `high` axes, and unless a table, if
/// there is one, has the expected type.
mlir::LogicalResult needsRank(mlir::Operation *op, mlir::Value tensor, int64_t low, int64_t high, llvm::StringRef what);
mlir::LogicalResult fitsTable(mlir::Operation *op, mlir::Value table, model::ModelTensorType expected);

} // namespace heddle::mask

#endif
