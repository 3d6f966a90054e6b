//===- StepRules.cpp - ops that work along the rows -----------------------===//
//
// The rules of ops that work along the step axis. Each keeps a state of the past: a sum, the
// last rows, or nothing if rows in front only shift. Rows are counted by token, even if the axis
// has length T + c: the new rows of a value are those of the new tokens. With c < 0 the first
// tokens have no row; whatever is computed there is never read.
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ModelToEntries/Builder.h"
#include "dialects/Model/IR/Names.h"
#include "dialects/Model/IR/ReservedDims.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::entries;
using model::ModelTensorType;
using model::Size;

namespace {
/// The rules, each for one kind of op; `entry` is what they build.
struct AlongRows {
  entries::Builder &entry;
  StepAnalysis &kinds;

  Value cumsum(model::CumsumOp op);
  Value conv(model::ConvOp op, unsigned axis);
  Value slice(model::SliceOp op, unsigned axis, const std::string &mode);
  Value behind(OpResult v, Value rows, const std::string &mode);
  Value tail(Value owner, Value rows, unsigned axis, int64_t count);
};
} // namespace

Value entries::Builder::alongRows(OpResult v, const std::string &mode) {
  Operation *op = v.getOwner();
  auto relation = cast<model::StepInterface>(op);
  if (!isa<model::GatherOp>(op)) // gathered rows move, but new ones can be computed
    for (OpOperand &o : op->getOpOperands())
      for (unsigned a : kinds.stepAxes(o.get()))
        if (relation.relateStep(o.getOperandNumber(), a).kind == model::StepRelation::Along) {
          // A slice of fixed length is taken from all rows, wherever it is.
          bool taken = isa<model::SliceOp>(op) && kinds.stepAxes(v).empty();
          if (const Reason *r = taken ? nullptr : kinds.along(o, a))
            return refuse(r);
          if (!isa<model::ReduceOp>(op) && kinds.stepAxes(o.get()).size() > 1)
            return refuse(kinds.reason(*op, op->getName().stripDialect().str() + " along a table of rows by rows"));
        }
  AlongRows rules{*this, kinds};
  if (auto sum = dyn_cast<model::CumsumOp>(op))
    return rules.cumsum(sum);
  if (auto taps = dyn_cast<model::ConvOp>(op))
    return rules.conv(taps, kinds.stepAxes(taps.getInput()).front());
  if (auto part = dyn_cast<model::SliceOp>(op))
    return rules.slice(part, part.getAxis(), mode);
  if (auto concat = dyn_cast<model::ConcatOp>(op))
    return rules.behind(v, concat.getOperands().back(), mode);
  if (auto pad = dyn_cast<model::PadOp>(op))
    return rules.behind(v, pad.getOperand(), mode);
  return generic(v, mode); // reductions and gathers read all rows
}

Value AlongRows::cumsum(model::CumsumOp op) {
  Value x = op.getOperand();
  if (kinds.of(x).unstable)
    return entry.refuse(kinds.of(x).unstable, op.getResult());
  Value rows = entry.get(x, "n");
  if (entry.stop())
    return {};
  OpBuilder &where = entry.at(op.getResult());
  Location loc = op.getLoc();
  int64_t axis = op.getAxis();
  auto t = cast<ModelTensorType>(rows.getType());
  SmallVector<Size> sizes = t.getSizes();
  sizes.erase(sizes.begin() + axis);
  Value place = entry.state(op.getResult(), "sum", sizes, t.getElementType());
  Value before = loadPast(where, loc, place, entry.indices(op.getResult()), t.withSizes(sizes));
  Value sums = model::CumsumOp::create(where, loc, rows, before, axis);
  Value last = sliceRows(where, loc, sums, axis, newDim() - Size(1), newDim());
  last = model::SqueezeOp::create(where, loc, last, axis);
  model::StoreOp::create(where, loc, last, place, entry.indices(op.getResult()));
  return sums;
}

Value AlongRows::conv(model::ConvOp op, unsigned axis) {
  Value x = op.getInput();
  if (kinds.of(x).unstable)
    return entry.refuse(kinds.of(x).unstable, op.getResult());
  std::optional<int64_t> taps = op.getWeight().getType().getSize(axis + 1).constant();
  if (!taps || kinds.offset(x) > 0)
    return entry.refuse(kinds.reason(*op, "conv reads rows in front of the first token"));
  Value rows = entry.get(x, "n"), weight = entry.get(op.getWeight(), ""),
        bias = op.getBias() ? entry.get(op.getBias(), "") : Value();
  if (entry.stop())
    return {};
  int64_t reach = op.getDilation()[axis - 1] * (*taps - 1);
  Value window = reach ? tail(op.getResult(), rows, axis, reach) : rows;
  SmallVector<int64_t> padding(op.getPadding());
  padding[2 * (axis - 1)] = 0;
  return model::ConvOp::create(entry.at(op.getResult()), op.getLoc(), window, weight, bias, op.getStride(),
                               op.getDilation(), padding, op.getGroups());
}

Value AlongRows::slice(model::SliceOp op, unsigned axis, const std::string &mode) {
  Value x = op.getOperand();
  Size from = *Size::parse(op.getFrom()), to = *Size::parse(op.getTo());
  Size length = cast<ModelTensorType>(x.getType()).getSize(axis);
  auto now = [&](Size s) { return s.substitute({{kinds.roles.axis, allRows()}}); };
  Location loc = op.getLoc();
  bool taken = kinds.stepAxes(op.getResult()).empty();
  if (taken && from == length - Size(1) && to == length)
    return entry.get(x, "l");
  if (taken && from.is(0) && to.is(1) && kinds.offset(x) == 0 && !kinds.of(x).unstable) {
    // The first rows of the text: computed in its first call, kept in a state.
    Value rows = entry.get(x, "n");
    if (entry.stop())
      return {};
    OpBuilder &where = entry.at(op.getResult());
    Value row = sliceRows(where, loc, rows, axis, Size(0), Size(1));
    auto t = cast<ModelTensorType>(row.getType());
    Value place = entry.state(op.getResult(), "first", t.getSizes(), t.getElementType());
    Value first = loadPast(where, loc, place, entry.indices(op.getResult()), t, row);
    model::StoreOp::create(where, loc, first, place, entry.indices(op.getResult()));
    return first;
  }
  if (taken || mode == "a") {
    Value all = entry.get(x, "a");
    return entry.stop() ? Value() : sliceRows(entry.at(op.getResult()), loc, all, axis, now(from), now(to));
  }
  int64_t back = *(length - to).constant();
  if (back == 0)
    return entry.get(x, "n");
  if (kinds.of(x).unstable)
    return entry.refuse(kinds.of(x).unstable, op.getResult());
  if (kinds.offset(x) > 0)
    return entry.refuse(kinds.reason(*op, "a shift brings in rows in front of the first token"));
  Value rows = entry.get(x, "n");
  if (entry.stop())
    return {};
  return sliceRows(entry.at(op.getResult()), loc, tail(op.getResult(), rows, axis, back), axis, Size(0), newDim());
}

/// A concat or pad: `rows` after rows that do not depend on tokens. New rows select between
/// the two by token number.
Value AlongRows::behind(OpResult v, Value rows, const std::string &mode) {
  Operation *op = v.getOwner();
  unsigned axis = kinds.stepAxes(v).front();
  auto concat = dyn_cast<model::ConcatOp>(op);
  SmallVector<Value> operands;
  int64_t late = kinds.offset(rows);
  if (mode == "n" && late >= 0) {
    Value x = entry.get(rows, "n");
    if (entry.stop())
      return {};
    ModelTensorType want = entry.typeIn(v, mode);
    return x.getType() == want ? x : model::BroadcastOp::create(entry.at(v), v.getLoc(), want, x).getResult();
  }
  for (Value o : op->getOperands())
    operands.push_back(entry.get(o, o == rows && (!concat || operands.size() + 1 == op->getNumOperands()) ? mode : ""));
  if (entry.stop())
    return {};
  OpBuilder &where = entry.at(v);
  Location loc = v.getLoc();
  if (mode == "a")
    return entry.again(where, op, operands)->getResult(0);

  // Token t is row t + c. Tokens before -late have no row in `rows`: theirs is in front.
  int64_t c = kinds.offset(v), rank = cast<ModelTensorType>(v.getType()).getRank();
  Value front;
  if (concat) {
    front = operands.size() == 2
                ? operands[0]
                : model::ConcatOp::create(where, loc, ArrayRef(operands).drop_back(), axis).getResult();
    int64_t there = axis - (rank - cast<ModelTensorType>(front.getType()).getRank());
    Size before = Size(std::max<int64_t>(-c, 0)), begin = pastDim() + Size(std::max<int64_t>(c, 0));
    front = model::PadOp::create(where, loc, front, there, before.str(),
                                 (allRows() + Size(std::max<int64_t>(c, 0))).str(), APFloat(0.0));
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

/// `count` old rows in front of the new ones; the last `count` are kept for the next call.
Value AlongRows::tail(Value owner, Value rows, unsigned axis, int64_t count) {
  OpBuilder &where = entry.at(owner);
  Location loc = model::locationOf(owner);
  auto t = cast<ModelTensorType>(rows.getType()).withSize(axis, Size(count));
  Value place = entry.state(owner, "tail", t.getSizes(), t.getElementType());
  Value before = loadPast(where, loc, place, entry.indices(owner), t);
  Value both = model::ConcatOp::create(where, loc, ValueRange{before, rows}, axis);
  Value last = sliceRows(where, loc, both, axis, newDim(), newDim() + Size(count));
  model::StoreOp::create(where, loc, last, place, entry.indices(owner));
  return both;
}
