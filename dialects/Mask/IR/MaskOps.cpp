//===- MaskOps.cpp - the mask dialect and its verifiers -------------------===//

#include "dialects/Mask/IR/MaskTables.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace heddle::mask;
using heddle::model::ModelTensorType;

#include "dialects/Mask/IR/MaskDialect.cpp.inc"
#include "dialects/Mask/IR/MaskInterfaces.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/Mask/IR/MaskTypes.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/Mask/IR/MaskOps.cpp.inc"

void MaskDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/Mask/IR/MaskTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Mask/IR/MaskOps.cpp.inc"
      >();
}

static int64_t rankOf(Value v) { return cast<ModelTensorType>(v.getType()).getRank(); }

static LogicalResult needsRank(Operation *op, Value v, int64_t low, int64_t high, StringRef what) {
  if (rankOf(v) < low || rankOf(v) > high)
    return op->emitOpError() << what << " must have rank " << low << " to " << high << ", but is "
                             << v.getType();
  return success();
}

/// A table that is there must be the one of the leaf's tensors.
static LogicalResult fits(Operation *op, Value table, ModelTensorType expected) {
  if (table && table.getType() != expected)
    return op->emitOpError("table must be ") << expected << ", but is " << table.getType();
  return success();
}
static ModelTensorType typeOf(Value v) { return cast<ModelTensorType>(v.getType()); }

LogicalResult KeysOp::verify() {
  if (failed(needsRank(*this, getTensor(), 1, 2, "tensor"))) // keys_c1
    return failure();
  return fits(*this, getTable(), keyTableType(typeOf(getTensor()))); // keys_c2
}
LogicalResult QueriesOp::verify() {
  if (failed(needsRank(*this, getTensor(), 1, 2, "tensor"))) // queries_c1
    return failure();
  return fits(*this, getTable(), rowCountsType(typeOf(getTensor()))); // queries_c2
}
LogicalResult DenseOp::verify() {
  if (failed(needsRank(*this, getTensor(), 2, 4, "tensor")))
    return failure();
  return fits(*this, getTable(), denseTableType(typeOf(getTensor())));
}
LogicalResult BlocksOp::verify() {
  if (int64_t(getSize()) < 1)
    return emitOpError("size must be positive, but is ") << getSize();
  if (failed(needsRank(*this, getLists(), 2, 3, "lists")))
    return failure();
  return fits(*this, getTable(), blockRunsType(typeOf(getLists())));
}
LogicalResult DocumentOp::verify() {
  if (failed(needsRank(*this, getQueryIds(), 1, 2, "query_ids")) || failed(needsRank(*this, getKeyIds(), 1, 2, "key_ids"))) // document_c1
    return failure();
  return fits(*this, getTable(), labelTableType(typeOf(getQueryIds()), typeOf(getKeyIds()))); // document_c2
}
LogicalResult DilatedOp::verify() {
  return int64_t(getStep()) < 1 ? emitOpError("step must be positive, but is ") << getStep()
                                : success();
}
LogicalResult WindowOp::verify() {
  if (getLabels() && failed(needsRank(*this, getLabels(), 1, 2, "labels"))) // window_c1
    return failure();
  if (getKeyLabels() && !getLabels())
    return emitOpError("labels of keys stand beside labels of queries");
  if (getTable() && !getLabels())
    return emitOpError("a table is of labels");
  if (!getLabels())
    return success();
  Value keys = getKeyLabels() ? getKeyLabels() : getLabels();
  return fits(*this, getTable(), labelTableType(typeOf(getLabels()), typeOf(keys))); // window_c2
}
