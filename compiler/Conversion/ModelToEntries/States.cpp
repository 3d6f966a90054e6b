//===- States.cpp - what outlives a call ----------------------------------===//
//
// States, which outlive a call. Rows that later steps read are appended to a state; values that
// depend on inputs but on no token are stored by @once and loaded. A state belongs to one value,
// so all its readers share it. Inside repeats it has one axis for each of them.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ModelToEntries/Builder.h"
#include "dialects/Model/IR/Names.h"
#include "dialects/Model/IR/ReservedDims.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::entries;
using model::ModelTensorType;
using model::Size;

/// Bytes of one row; lengths that are dims count as 1.
static int64_t rowBytes(Value v) {
  auto t = cast<ModelTensorType>(v.getType());
  int64_t n = t.getElementType().isInteger(1) ? 1 : t.getElementType().isF32() ? 4 : 8;
  for (Size s : t.getSizes())
    n *= std::max<int64_t>(s.constant().value_or(1), 1);
  return n;
}

bool entries::replays(Value v, const StepAnalysis &kinds) {
  Operation *op = v.getDefiningOp();
  if (!op || isa<model::RepeatOp>(op))
    return false;
  if (isa<model::RangeOp>(op))
    return true;
  if (auto def = dyn_cast<model::DefaultOp>(op)) {
    const Facts &given = kinds.of(def.getInput());
    Value stands = cast<model::YieldOp>(def.getBody().front().getTerminator()).getOperand(0);
    return given.unstable && (kinds.of(stands).kind != Kind::Rows || replays(stands, kinds));
  }
  if (isa<model::ConcatOp, model::PadOp, model::SliceOp>(op) && kinds.isAlong(op))
    return true;
  if (!isa<model::UnaryOp, model::BinaryOp, model::CompareOp, model::SelectOp, model::CastOp, model::BroadcastOp,
           model::SliceOp, model::SqueezeOp, model::UnsqueezeOp, model::RearrangeOp>(op))
    return false;
  int64_t bytes = 0;
  bool every = true;
  llvm::SmallDenseSet<Value> seen;
  for (Value o : op->getOperands())
    if (kinds.of(o).kind == Kind::Rows && seen.insert(o).second) {
      bytes += rowBytes(o);
      every &= replays(o, kinds);
    }
  return every || bytes < rowBytes(v);
}

Value entries::Builder::append(Value v) {
  unsigned axis = kinds.stepAxes(v).front();
  int64_t c = kinds.offset(v);
  Value rows = get(v, "n");
  if (c > 0) {
    static const char *why = "rows in front of the first token are computed on, and later steps need them";
    if (Operation *op = v.getDefiningOp())
      return refuse(kinds.reason(*op, why), v);
    return refuse(kinds.reason(*kinds.run, why), v);
  }
  if (stop())
    return {};
  auto t = cast<ModelTensorType>(v.getType());
  SmallVector<Size> shape = t.getSizes();
  shape[axis] = Size::dim(model::kCapacityDim);
  Value where = state(v, "rows", shape, t.getElementType());
  auto all = cast<ModelTensorType>(rows.getType()).withSize(axis, allRows());
  Value kept =
      model::AppendOp::create(at(v), model::locationOf(v), all, where, indices(v), rows, Value(), Value(), axis);
  return sliceRows(at(v), model::locationOf(v), kept, axis, Size(-c), allRows());
}

Value entries::Builder::load(Value v) {
  if (stop())
    return {};
  auto t = cast<ModelTensorType>(v.getType());
  std::string name = "once" + std::to_string(numStates);
  Value where = state(v, "once", t.getSizes(), t.getElementType());
  kept.push_back({v, name, cast<model::StateType>(where.getType())});
  return model::LoadOp::create(at(v), model::locationOf(v), t, where, indices(v));
}

Value entries::loadPast(OpBuilder &where, Location loc, Value state, ValueRange at, ModelTensorType type, Value empty) {
  Value held = model::LoadOp::create(where, loc, type, state, at);
  Value none = model::ConstantOp::create(where, loc, int64_t(0)),
        past = model::SizeOp::create(where, loc, model::kPastDim);
  Value first = model::CompareOp::create(where, loc, model::ComparePredicate::eq, past, none);
  if (!empty)
    empty = type.getElementType().isF32()         ? model::ConstantOp::create(where, loc, 0.0).getResult()
            : type.getElementType().isInteger(64) ? none
                                                  : model::ConstantOp::create(where, loc, false).getResult();
  return model::SelectOp::create(where, loc, first, empty, held);
}

Value entries::Builder::refill(ArrayRef<Value> values) {
  Value any;
  for (Value v : values) {
    Value now = get(v, "");
    if (stop())
      continue;
    auto t = cast<ModelTensorType>(now.getType());
    Location loc = model::locationOf(v);
    Value place = state(v, "guard", t.getSizes(), t.getElementType());
    Value held = model::LoadOp::create(b, loc, t, place, ValueRange{});
    model::StoreOp::create(b, loc, now, place, ValueRange{});
    Value differs = model::CompareOp::create(b, loc, model::ComparePredicate::ne, now, held);
    Value count = model::CastOp::create(b, loc, differs, b.getI64Type());
    SmallVector<int64_t> axes;
    for (int64_t i = 0; i < t.getRank(); ++i)
      axes.push_back(i);
    if (!axes.empty())
      count = model::ReduceOp::create(b, loc, model::ReduceKind::max, count, axes);
    any = any ? model::BinaryOp::create(b, loc, model::BinaryKind::max, any, count).getResult() : count;
  }
  if (stop() || !any)
    return {};
  // In the first call there is nothing to compare with.
  Location loc = any.getLoc();
  Value none = model::ConstantOp::create(b, loc, int64_t(0)), past = model::SizeOp::create(b, loc, model::kPastDim);
  Value first = model::CompareOp::create(b, loc, model::ComparePredicate::eq, past, none);
  return model::SelectOp::create(b, loc, first, none, any);
}
