//===- MaskTables.cpp - types of tables -------===//

#include "dialects/Mask/IR/MaskTables.h"
#include "dialects/Model/IR/TensorType.h"

using namespace mlir;
using namespace heddle::mask;
using heddle::model::ModelTensorType;
using heddle::model::Size;
using heddle::model::typeOf;

/// [batch, entries], where batch is the tensor's batch axis or 1.
static ModelTensorType perBatch(ModelTensorType t, Size entries) {
  Size batch = t.getRank() == 2 ? t.getSize(0) : Size(1);
  return ModelTensorType::get(t.getContext(), {batch, entries}, IntegerType::get(t.getContext(), 64));
}
static Size lengthOf(ModelTensorType t) { return t.getSize(t.getRank() - 1); }

ModelTensorType heddle::mask::keyTableType(ModelTensorType t) {
  return perBatch(t, ceilDiv(lengthOf(t), kGranule) + Size(2));
}
ModelTensorType heddle::mask::rowCountsType(ModelTensorType t) { return perBatch(t, lengthOf(t) + Size(1)); }
ModelTensorType heddle::mask::labelTableType(ModelTensorType q, ModelTensorType k) {
  Size entries = Size(1) + lengthOf(q) * Size(2) + ceilDiv(lengthOf(k), kGranule) * Size(3);
  return perBatch(k.getRank() == 2 && !k.getSize(0).is(1) ? k : q, entries);
}
ModelTensorType heddle::mask::blockRunsType(ModelTensorType lists) {
  int64_t rank = lists.getRank();
  Size heads = rank == 3 ? lists.getSize(0) : Size(1);
  return ModelTensorType::get(lists.getContext(), {heads, lists.getSize(rank - 2), lengthOf(lists) * Size(2) + Size(1)},
                              lists.getElementType());
}
ModelTensorType heddle::mask::denseTableType(ModelTensorType t) {
  SmallVector<Size> sizes = t.getSizes();
  Size rows = sizes[sizes.size() - 2], keys = sizes.back();
  sizes.truncate(sizes.size() - 2);
  sizes.append({ceilDiv(rows, kRowGranule), Size(2), ceilDiv(keys, kWordKeys)});
  return ModelTensorType::get(t.getContext(), sizes, IntegerType::get(t.getContext(), 64));
}

//===-- the builders' results ------------------------------------------------------===//

using Types = SmallVectorImpl<Type>;
using Where = std::optional<Location>;

static LogicalResult infer(Where loc, ModelTensorType t, int64_t low, int64_t high,
                           ModelTensorType table(ModelTensorType), Types &out) {
  if (t.getRank() < low || t.getRank() > high)
    return emitOptionalError(loc, "a table is made of a tensor of rank ", low, " to ", high, ", not of ", t);
  out.push_back(table(t));
  return success();
}
LogicalResult KeyTableOp::inferReturnTypes(MLIRContext *, Where loc, Adaptor op, Types &out) {
  return infer(loc, typeOf(op.getTensor()), 1, 2, keyTableType, out); // key_table_c1
}
LogicalResult RowCountsOp::inferReturnTypes(MLIRContext *, Where loc, Adaptor op, Types &out) {
  return infer(loc, typeOf(op.getTensor()), 1, 2, rowCountsType, out); // row_counts_c1
}
LogicalResult BlockRunsOp::inferReturnTypes(MLIRContext *, Where loc, Adaptor op, Types &out) {
  if (int64_t(op.getSize()) < 1) // block_runs_c2
    return emitOptionalError(loc, "expected a positive size, got ", op.getSize());
  return infer(loc, typeOf(op.getLists()), 2, 3, blockRunsType, out); // block_runs_c1
}
LogicalResult DenseTableOp::inferReturnTypes(MLIRContext *, Where loc, Adaptor op, Types &out) {
  return infer(loc, typeOf(op.getTensor()), 2, 4, denseTableType, out); // dense_table_c1
}
LogicalResult LabelTableOp::inferReturnTypes(MLIRContext *, Where loc, Adaptor op, Types &out) {
  for (Value v : {op.getLabels(), op.getKeyLabels()})
    if (typeOf(v).getRank() < 1 || typeOf(v).getRank() > 2 ||
        isa<FloatType>(typeOf(v).getElementType())) // label_table_c1
      return emitOptionalError(loc, "labels are integers of rank 1 to 2, not ", v.getType());
  out.push_back(labelTableType(typeOf(op.getLabels()), typeOf(op.getKeyLabels())));
  return success();
}

//===-- what leaves check --------------------------------------------------------------===//

bool heddle::mask::areLabels(Value rows, Value keys) {
  return llvm::all_of(ArrayRef<Value>{rows, keys},
                      [](Value v) { return !lastSize(v).is(1) && !isa<FloatType>(typeOf(v).getElementType()); });
}

LogicalResult heddle::mask::needsRank(Operation *op, Value v, int64_t low, int64_t high, StringRef what) {
  if (typeOf(v).getRank() < low || typeOf(v).getRank() > high)
    return op->emitOpError() << what << " must have rank " << low << " to " << high << ", got " << v.getType();
  return success();
}
LogicalResult heddle::mask::fitsTable(Operation *op, Value table, ModelTensorType expected) {
  if (table && table.getType() != expected)
    return op->emitOpError("expected the table ") << expected << ", got " << table.getType();
  return success();
}
