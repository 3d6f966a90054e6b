//===- MaskSets.cpp - leaves that are read from data -------------------------===//
//
// Leaves that read data: sets of keys and of rows, documents, block lists, dense masks; their verifiers
// and answers (MaskInterfaces.td). Data of a row moves with it, so only block lists and dense masks
// depend on absolute positions.
//
//===----------------------------------------------------------------------===//

#include "dialects/Mask/IR/MaskTables.h"
#include "dialects/Model/IR/TensorType.h"

using namespace mlir;
using namespace heddle::mask;
using heddle::model::ModelTensorType;
using heddle::model::Size;
using heddle::model::typeOf;

/// Whether the tensor has a value for each row or key; one of length 1 needs no table.
static bool isLong(Value tensor) { return !lastSize(tensor).is(1); }

//===-- sets of keys and of rows --------------------------------------------------------===//

LogicalResult KeysOp::verify() {
  if (failed(needsRank(*this, getTensor(), 1, 2, "tensor"))) // keys_c1
    return failure();
  return fitsTable(*this, getTable(), keyTableType(typeOf(getTensor()))); // keys_c2
}
SmallVector<Reading> KeysOp::axesOf() { return {{0, {Batch, Key}}}; }
Truth KeysOp::implies(KeysTruth keys) { return keys(getTensor()); }
Positions KeysOp::positions() { return Positions::Order; }
Example KeysOp::exampleData() { return Example::Set; }
Value KeysOp::createTable(OpBuilder &b) {
  return getTable() || !isLong(getTensor()) ? Value() : KeyTableOp::create(b, getLoc(), getTensor());
}
void KeysOp::setTable(Value table) { getTableMutable().assign(table); }

LogicalResult QueriesOp::verify() {
  if (failed(needsRank(*this, getTensor(), 1, 2, "tensor"))) // queries_c1
    return failure();
  return fitsTable(*this, getTable(), rowCountsType(typeOf(getTensor()))); // queries_c2
}
SmallVector<Reading> QueriesOp::axesOf() { return {{0, {Batch, Query}}}; }
Positions QueriesOp::positions() { return Positions::Order; }
Example QueriesOp::exampleData() { return Example::Set; }
Value QueriesOp::createTable(OpBuilder &b) {
  return getTable() || !isLong(getTensor()) ? Value() : RowCountsOp::create(b, getLoc(), getTensor());
}
void QueriesOp::setTable(Value table) { getTableMutable().assign(table); }

//===-- documents ------------------------------------------------------------------------===//

LogicalResult DocumentOp::verify() {
  if (failed(needsRank(*this, getQueryIds(), 1, 2, "query_ids")) ||
      failed(needsRank(*this, getKeyIds(), 1, 2, "key_ids"))) // document_c1
    return failure();
  return fitsTable(*this, getTable(), labelTableType(typeOf(getQueryIds()), typeOf(getKeyIds()))); // document_c2
}
SmallVector<Reading> DocumentOp::axesOf() { return {{0, {Batch, Query}}, {1, {Batch, Key}}}; }
Positions DocumentOp::positions() { return Positions::Order; }
Example DocumentOp::exampleData() { return Example::Labels; }
std::string DocumentOp::describe(TensorName tensor) {
  bool same = getQueryIds() == getKeyIds();
  return "document(" + tensor(getQueryIds()) + (same ? "" : ", " + tensor(getKeyIds())) + ")";
}
/// Not for reals: a NaN differs from itself.
bool DocumentOp::surelySees(Witness w, const Facts &facts) {
  return w == Witness::Own && facts.sameRows && getQueryIds() == getKeyIds() &&
         !isa<FloatType>(typeOf(getQueryIds()).getElementType());
}
Value DocumentOp::createTable(OpBuilder &b) {
  if (getTable() || !areLabels(getQueryIds(), getKeyIds()))
    return {};
  IntegerAttr zero = b.getI64IntegerAttr(0);
  return LabelTableOp::create(b, getLoc(), getQueryIds(), getKeyIds(), zero, zero);
}
void DocumentOp::setTable(Value table) { getTableMutable().assign(table); }

//===-- block lists ----------------------------------------------------------------------===//

LogicalResult BlocksOp::verify() {
  if (int64_t(getSize()) < 1) // blocks_c1
    return emitOpError("expected a positive size, got ") << getSize();
  if (failed(needsRank(*this, getLists(), 2, 3, "lists"))) // blocks_c2
    return failure();
  return fitsTable(*this, getTable(), blockRunsType(typeOf(getLists()))); // blocks_c3
}
/// [blocks, n], or [heads, blocks, n].
SmallVector<Reading> BlocksOp::axesOf() {
  if (typeOf(getLists()).getRank() == 2)
    return {};
  return {{0, {Head, None, None}, "lists"}};
}
Axes BlocksOp::dependsOn() { return typeOf(getLists()).getRank() == 3 ? Query | Key | Head : Query | Key; }
Positions BlocksOp::positions() { return Positions::Absolute; }
Example BlocksOp::exampleData() { return Example::None; }
/// Also: there is no batch axis, and constant lists name existing blocks only.
std::optional<std::string> BlocksOp::misfit(const Scores &scores) {
  if (std::optional<std::string> no = misfitOfAxes(*this, scores))
    return no;
  ModelTensorType type = typeOf(getLists());
  int64_t rank = type.getRank(), size = getSize();
  if (rank == 2 && type.getSize(0) == scores.batch && !scores.batch.constant())
    return "the lists of blocks are the same for every batch element: expected [blocks, n] or [" +
           std::to_string(scores.heads) + ", blocks, n], found " + scores.show(getLists());
  auto constant = getLists().getDefiningOp<heddle::model::ConstantOp>();
  auto values = constant ? dyn_cast<DenseIntElementsAttr>(constant.getValue()) : DenseIntElementsAttr();
  if (!values)
    return std::nullopt;
  // In self-attention there are as many blocks of keys as of queries.
  int64_t blocks = INT64_MAX;
  if (std::optional<int64_t> n = scores.keys.constant())
    blocks = (*n + size - 1) / size;
  else if (scores.rows == scores.keys)
    blocks = values.getType().getDimSize(rank - 2);
  for (const APInt &n : values.getValues<APInt>())
    if (n.getSExtValue() >= blocks)
      return "blocks: block " + std::to_string(n.getSExtValue()) + " is outside the sequence: there are " +
             std::to_string(blocks) + " blocks of " + std::to_string(size) + ", numbered from 0";
  return std::nullopt;
}
/// Constant lists as they were written, without the padding of -1.
std::string BlocksOp::describe(TensorName tensor) {
  auto text = [&]() -> std::string {
    auto constant = getLists().getDefiningOp<heddle::model::ConstantOp>();
    auto ints = constant ? dyn_cast<DenseIntElementsAttr>(constant.getValue()) : DenseIntElementsAttr();
    if (!ints || ints.getType().getRank() != 2)
      return tensor(getLists());
    int64_t rows = ints.getType().getDimSize(0), entries = ints.getType().getDimSize(1);
    auto values = ints.getValues<APInt>();
    std::string all;
    for (int64_t r = 0; r < std::min<int64_t>(rows, 8); ++r) {
      std::string row;
      for (int64_t i = 0; i < entries; ++i)
        if (int64_t n = values[r * entries + i].getSExtValue(); n != -1)
          row += (row.empty() ? "" : ", ") + std::to_string(n);
      all += (r ? ", [" : "[") + row + "]";
    }
    return "[" + all + (rows > 8 ? ", ..]" : "]");
  };
  return "blocks(" + std::to_string(getSize()) + ", " + text() + ")";
}
Value BlocksOp::createTable(OpBuilder &b) {
  return getTable() ? Value() : BlockRunsOp::create(b, getLoc(), getSizeAttr(), getLists());
}
void BlocksOp::setTable(Value table) { getTableMutable().assign(table); }

//===-- dense ----------------------------------------------------------------------------===//

LogicalResult DenseOp::verify() {
  if (failed(needsRank(*this, getTensor(), 2, 4, "tensor"))) // dense_c1
    return failure();
  return fitsTable(*this, getTable(), denseTableType(typeOf(getTensor()))); // dense_c2
}
SmallVector<Reading> DenseOp::axesOf() {
  if (typeOf(getTensor()).getRank() == 4)
    return {{0, {Batch, Head, Query, Key}}};
  return {{0, {Batch, Query, Key}}};
}
Positions DenseOp::positions() { return Positions::Absolute; }
Example DenseOp::exampleData() { return Example::Pairs; }
/// One element for all rows or all keys needs no table.
Value DenseOp::createTable(OpBuilder &b) {
  ModelTensorType t = typeOf(getTensor());
  bool one = t.getSize(t.getRank() - 1).is(1) || t.getSize(t.getRank() - 2).is(1);
  return getTable() || one ? Value() : DenseTableOp::create(b, getLoc(), getTensor());
}
void DenseOp::setTable(Value table) { getTableMutable().assign(table); }
