//===- WantedLogits.cpp - only the logits that are wanted -----------------===//
//
// A call of @batch may contain a part of a prompt, which needs no logits, and texts that go on. The words of a
// vocabulary are often a third of a small model's work, so they are computed for the rows that are asked for: after
// the slice that takes the last row of each text, those rows are looked up by number, and what follows has `asked`
// rows.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ModelToEntries/WantedLogits.h"
#include "dialects/Model/IR/Names.h"
#include "dialects/Model/IR/ReservedDims.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace heddle;
using model::ModelTensorType;
using model::Size;

namespace {

/// Whether the batch is a length of the value.
bool hasRows(Value v, const Size &batch) {
  auto type = dyn_cast<ModelTensorType>(v.getType());
  return type && llvm::any_of(type.getSizes(), [&](const Size &n) { return n.uses(*batch.bareDim()); });
}

/// Whether the op makes each row of its result of the same rows of its operands.
bool keepsApart(Operation *op, const Size &batch) {
  auto rows = dyn_cast<model::StepInterface>(op);
  return rows && llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
           return !hasRows(operand.get(), batch) ||
                  rows.relateStep(operand.getOperandNumber(), 0).kind == model::StepRelation::Same;
         });
}

/// Whether the op takes the last row of each text.
bool takesLast(Operation *op) {
  auto slice = dyn_cast<model::SliceOp>(op);
  Size fresh = Size::dim(model::kNewDim);
  return slice && slice.getAxis() == 1 && Size::parse(slice.getFrom()) == fresh - Size(1) &&
         Size::parse(slice.getTo()) == fresh;
}

/// What a result of @batch is made of.
struct Tail {
  llvm::SetVector<Value> rows;      ///< [B, 1, width]: the last rows of all texts
  llvm::SetVector<Operation *> ops; ///< what is made of some of these rows as of all, along axis 0
};

/// None where the result is made of more than last rows.
std::optional<Tail> tailOf(Value result, const Size &batch) {
  Tail tail;
  SmallVector<Value> next{result};
  while (!next.empty()) {
    Value v = next.pop_back_val();
    if (!hasRows(v, batch))
      continue;
    Operation *op = v.getDefiningOp();
    auto type = cast<ModelTensorType>(v.getType());
    SmallVector<Size> sizes = type.getSizes();
    bool first = sizes[0] == batch &&
                 llvm::none_of(ArrayRef(sizes).drop_front(), [&](const Size &n) { return n.uses(*batch.bareDim()); });
    if (op && first && llvm::all_of(op->getRegions(), [](Region &r) { return r.empty(); }) && !takesLast(op) &&
        keepsApart(op, batch)) {
      if (tail.ops.insert(op))
        next.append(op->operand_begin(), op->operand_end());
    } else if (op && first && sizes.size() == 3 && sizes[1].is(1) && type.getElementType().isF32()) {
      tail.rows.insert(v);
    } else {
      return {};
    }
  }
  return tail;
}

} // namespace

LogicalResult entries::askRows(func::FuncOp batch, const Size &rows) {
  MLIRContext *context = batch.getContext();
  auto end = cast<func::ReturnOp>(batch.front().getTerminator());
  std::optional<Tail> tail = rows.bareDim() ? tailOf(end.getOperand(0), rows) : std::nullopt;
  if (!tail)
    return success();
  mlir::Builder types(context);
  Size wanted = Size::dim(model::kAskedDim);
  unsigned at = llvm::count_if(batch.getArgumentTypes(), llvm::IsaPred<ModelTensorType>);
  auto numbers = ModelTensorType::get(context, {wanted}, types.getI64Type());
  StringRef name = model::kAskedDim;
  if (failed(batch.insertArgument(at, numbers,
                                  types.getDictionaryAttr(types.getNamedAttr("model.name", types.getStringAttr(name))),
                                  model::withName(name, batch.getLoc()))))
    return failure();
  for (Value row : tail->rows) {
    OpBuilder b(context);
    b.setInsertionPointAfterValue(row);
    Value last = model::SqueezeOp::create(b, row.getLoc(), row, 1);
    Value some = model::EmbeddingOp::create(b, row.getLoc(), batch.getArgument(at), last);
    some = model::UnsqueezeOp::create(b, row.getLoc(), some, 1);
    row.replaceUsesWithIf(some, [&](OpOperand &use) { return tail->ops.contains(use.getOwner()); });
  }
  for (Operation *op : tail->ops)
    for (Value v : op->getResults())
      v.setType(cast<ModelTensorType>(v.getType()).withSize(0, wanted));
  batch.setFunctionType(types.getFunctionType(batch.getArgumentTypes(), end.getOperandTypes()));
  return success();
}
