//===- StepAttention.cpp - attention in a step -----------------------------===//
//
// Attention in a step. Query row r is at position past + r; keys and values are all rows so far.
// Tensors in masks and biases are asked for by the side, queries or keys, on which they are
// read. Positions are absolute, so masks need no other change.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ModelToEntries/Builder.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::entries;
using model::ModelTensorType;
using model::Size;
using model::StepSide;

Value entries::Builder::attention(attn::SdpaOp op, const std::string &mode) {
  SmallVector<unsigned, 2> rows = kinds.stepAxes(op.getQuery());
  if (!rows.empty() && rows != SmallVector<unsigned, 2>{1})
    return refuse(kinds.reason(*op, "attention: the step axis of the queries is not their rows"));
  for (Value v : {op.getKey(), op.getValue()})
    for (unsigned a : kinds.stepAxes(v))
      if (a != 1)
        return refuse(kinds.of(op.getResult()).unstable);
  if (kinds.uses(op.getKeyStart()))
    return refuse(kinds.of(op.getResult()).unstable);
  SmallVector<Value> operands;
  for (Value v : op->getOperands()) {
    if (v == op.getQuery() && operands.empty())
      operands.push_back(get(v, mode));
    else if (isa<mask::MaskType, attn::BiasType>(v.getType()))
      operands.push_back(get(v, mode));
    else
      operands.push_back(get(v, std::string(kinds.stepAxes(v).size(), 'a')));
  }
  if (stop())
    return {};
  auto copy = cast<attn::SdpaOp>(again(at(op.getResult()), op, operands));
  if (!mode.empty()) {
    Size first = pastDim() + Size(kinds.offset(op.getQuery()));
    if (mode == "l")
      first = first + newDim() - Size(1);
    copy.setPast(first.str());
  }
  return copy.getResult();
}

Value entries::Builder::maskOrBias(Value v, const std::string &mode) {
  Operation *op = v.getDefiningOp();
  if (!op)
    return refuse(kinds.reason(*v.getParentRegion()->getParentOp(), "a mask that a repeat carries"));
  auto sides = dyn_cast<model::SidesInterface>(op);
  SmallVector<Value> operands;
  Value keyLabels;
  for (OpOperand &o : op->getOpOperands()) {
    Value in = o.get();
    if (isa<mask::MaskType, attn::BiasType>(in.getType())) {
      operands.push_back(get(in, mode));
      continue;
    }
    StepSide side = sides ? sides.stepSide(o.getOperandNumber()) : StepSide::None;
    SmallVector<unsigned, 2> axes = kinds.stepAxes(in);
    std::string m;
    for (unsigned a : axes) {
      bool query =
          side == StepSide::Queries || side == StepSide::Both || side == StepSide::RowsOfQueries ||
          (side == StepSide::QueriesAndKeys && a + 1 != unsigned(cast<ModelTensorType>(in.getType()).getRank()));
      if (side == StepSide::None || (query && mode.empty()))
        return refuse(
            kinds.reason(*op, op->getName().stripDialect().str() + ": the step axis is neither queries nor keys"));
      m += query ? mode : "a";
    }
    operands.push_back(get(in, m));
    if (side == StepSide::Both && !axes.empty())
      keyLabels = get(in, "a");
  }
  if (stop())
    return {};
  OpBuilder &where = at(v);
  if (keyLabels)
    return cast<mask::MaskOpInterface>(op).withKeys(where, operands, keyLabels);
  return again(where, op, operands)->getResult(0);
}
