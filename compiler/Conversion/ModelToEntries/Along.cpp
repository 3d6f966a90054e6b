//===- Along.cpp - ops that work along the rows ----------------------------===//
//
// Each keeps what it needs of the past: a sum, the last rows, or nothing where rows in front
// only shift. Rows are counted by token, also where the axis has another length (T + c): the
// new rows of a value are those of the new tokens. With c < 0 the first tokens have no row;
// what stands there is never read.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ModelToEntries/Builder.h"
#include "dialects/Model/IR/ReservedDims.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::entries;
using model::ModelTensorType;
using model::Size;

Value entries::Builder::alongRows(OpResult v, const std::string &mode) {
  Operation *op = v.getOwner();
  auto relation = cast<model::StepInterface>(op);
  if (!isa<model::GatherOp>(op)) // a gather moves, but its new rows can be had
    for (OpOperand &o : op->getOpOperands())
      for (unsigned a : kinds.stepAxes(o.get()))
        if (relation.relateStep(o.getOperandNumber(), a).kind == model::StepRelation::Along) {
          // A slice without step axis is taken from all rows, wherever it lies.
          bool taken = isa<model::SliceOp>(op) && kinds.stepAxes(v).empty();
          if (const Reason *r = taken ? nullptr : kinds.along(o, a))
            return refuse(r);
          if (!isa<model::ReduceOp>(op) && kinds.stepAxes(o.get()).size() > 1)
            return refuse(kinds.reason(*op, op->getName().stripDialect().str() + " along a table of rows by rows"));
        }
  if (auto sum = dyn_cast<model::CumsumOp>(op))
    return cumsum(sum);
  if (auto taps = dyn_cast<model::ConvOp>(op))
    return conv(taps, kinds.stepAxes(taps.getInput()).front());
  if (auto part = dyn_cast<model::SliceOp>(op))
    return slice(part, part.getAxis(), mode);
  if (auto concat = dyn_cast<model::ConcatOp>(op))
    return behind(v, concat.getOperands().back(), mode);
  if (auto pad = dyn_cast<model::PadOp>(op))
    return behind(v, pad.getOperand(), mode);
  return generic(v, mode); // reductions and gather read all rows
}

Value entries::Builder::cumsum(model::CumsumOp op) {
  Value x = op.getOperand();
  if (kinds.of(x).unstable)
    return refuse(kinds.of(x).unstable, op.getResult());
  Value rows = get(x, "n");
  if (stop())
    return {};
  OpBuilder &where = at(op.getResult());
  Location loc = op.getLoc();
  int64_t axis = op.getAxis();
  auto t = cast<ModelTensorType>(rows.getType());
  SmallVector<Size> sizes = t.getSizes();
  sizes.erase(sizes.begin() + axis);
  Value place = state(op.getResult(), "sum", sizes, t.getElementType());
  Value before = loadPast(where, loc, place, indices(op.getResult()), t.withSizes(sizes));
  Value sums = model::CumsumOp::create(where, loc, rows, before, axis);
  Value last = sliceRows(where, loc, sums, axis, newDim() - Size(1), newDim());
  last = model::SqueezeOp::create(where, loc, last, axis);
  model::StoreOp::create(where, loc, last, place, indices(op.getResult()));
  return sums;
}

Value entries::Builder::conv(model::ConvOp op, unsigned axis) {
  Value x = op.getInput();
  if (kinds.of(x).unstable)
    return refuse(kinds.of(x).unstable, op.getResult());
  std::optional<int64_t> taps = op.getWeight().getType().getSize(axis + 1).constant();
  if (!taps || kinds.offset(x) > 0)
    return refuse(kinds.reason(*op, "conv reads rows in front of the first token"));
  Value rows = get(x, "n"), weight = get(op.getWeight(), ""), bias = op.getBias() ? get(op.getBias(), "") : Value();
  if (stop())
    return {};
  int64_t reach = op.getDilation()[axis - 1] * (*taps - 1);
  Value window = reach ? tail(op.getResult(), rows, axis, reach) : rows;
  SmallVector<int64_t> padding(op.getPadding());
  padding[2 * (axis - 1)] = 0;
  return model::ConvOp::create(at(op.getResult()), op.getLoc(), window, weight, bias, op.getStride(), op.getDilation(),
                               padding, op.getGroups());
}

Value entries::Builder::slice(model::SliceOp op, unsigned axis, const std::string &mode) {
  Value x = op.getOperand();
  Size from = *Size::parse(op.getFrom()), to = *Size::parse(op.getTo());
  Size length = cast<ModelTensorType>(x.getType()).getSize(axis);
  auto now = [&](Size s) { return s.substitute({{kinds.roles.axis, allRows()}}); };
  Location loc = op.getLoc();
  bool taken = kinds.stepAxes(op.getResult()).empty();
  if (taken && from == length - Size(1) && to == length)
    return get(x, "l");
  if (taken && from.is(0) && to.is(1) && kinds.offset(x) == 0 && !kinds.of(x).unstable) {
    // The first row of all: that of the call that begins the text, kept from then on.
    Value rows = get(x, "n");
    if (stop())
      return {};
    OpBuilder &where = at(op.getResult());
    Value row = sliceRows(where, loc, rows, axis, Size(0), Size(1));
    auto t = cast<ModelTensorType>(row.getType());
    Value place = state(op.getResult(), "first", t.getSizes(), t.getElementType());
    Value first = loadPast(where, loc, place, indices(op.getResult()), t, row);
    model::StoreOp::create(where, loc, first, place, indices(op.getResult()));
    return first;
  }
  if (taken || mode == "a") {
    Value all = get(x, "a");
    return stop() ? Value() : sliceRows(at(op.getResult()), loc, all, axis, now(from), now(to));
  }
  int64_t back = *(length - to).constant();
  if (back == 0)
    return get(x, "n");
  if (kinds.of(x).unstable)
    return refuse(kinds.of(x).unstable, op.getResult());
  if (kinds.offset(x) > 0)
    return refuse(kinds.reason(*op, "a shift brings in rows in front of the first token"));
  Value rows = get(x, "n");
  if (stop())
    return {};
  return sliceRows(at(op.getResult()), loc, tail(op.getResult(), rows, axis, back), axis, Size(0), newDim());
}

/// `rows` behind rows that were there from the start: those of a concat, or of a pad.
Value entries::Builder::behind(OpResult v, Value rows, const std::string &mode) {
  Operation *op = v.getOwner();
  unsigned axis = kinds.stepAxes(v).front();
  auto concat = dyn_cast<model::ConcatOp>(op);
  SmallVector<Value> operands;
  int64_t late = kinds.offset(rows);
  if (mode == "n" && late >= 0) {
    Value x = get(rows, "n");
    if (stop())
      return {};
    ModelTensorType want = typeIn(v, mode);
    return x.getType() == want ? x : model::BroadcastOp::create(at(v), v.getLoc(), want, x).getResult();
  }
  for (Value o : op->getOperands())
    operands.push_back(get(o, o == rows && (!concat || operands.size() + 1 == op->getNumOperands()) ? mode : ""));
  if (stop())
    return {};
  OpBuilder &where = at(v);
  Location loc = v.getLoc();
  if (mode == "a")
    return again(where, op, operands)->getResult(0);

  // Tokens before -late have no row of `rows`: theirs is in front. Token t is row t + c.
  int64_t c = kinds.offset(v), rank = cast<ModelTensorType>(v.getType()).getRank();
  Value front;
  if (concat) {
    front = operands.size() == 2
                ? operands[0]
                : model::ConcatOp::create(where, loc, ArrayRef(operands).drop_back(), axis).getResult();
    int64_t there = axis - (rank - cast<ModelTensorType>(front.getType()).getRank());
    Size before = Size(std::max<int64_t>(-c, 0)), begin = pastDim() + Size(std::max<int64_t>(c, 0));
    front = model::PadOp::create(where, loc, front, there, before.str(), (allRows() + Size(std::max<int64_t>(c, 0))).str(),
                                 APFloat(0.0));
    front = sliceRows(where, loc, front, there, begin, begin + newDim());
  } else {
    double value = cast<model::PadOp>(op).getValue().convertToDouble();
    front = cast<ModelTensorType>(v.getType()).getElementType().isF32()
                ? model::ConstantOp::create(where, loc, value).getResult()
                : model::ConstantOp::create(where, loc, int64_t(value)).getResult();
  }
  Value token = model::RangeOp::create(where, loc, model::kPastDim, allRows().str());
  Value limit = model::ConstantOp::create(where, loc, -late);
  Value early = model::CompareOp::create(where, loc, model::ComparePredicate::lt, token, limit);
  for (int64_t i = axis + 1; i < rank; ++i)
    early = model::UnsqueezeOp::create(where, loc, early, i - axis);
  return model::SelectOp::create(where, loc, early, front, operands.back());
}
