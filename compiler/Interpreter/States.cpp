//===- States.cpp - stores that outlive a call ----------------------------===//
//
// A state [iterations..., rest...] begins as zeros. The indices of an op select the
// iteration of a repeat; the op reads or writes the rest. The layout of bytes that a later
// stage chooses does not change what a state holds.
//
//===----------------------------------------------------------------------===//

#include "compiler/Interpreter/Evaluator.h"
#include "dialects/Model/IR/ReservedDims.h"
#include "llvm/ADT/TypeSwitch.h"
#include <limits>
#include <set>

using namespace mlir;
using namespace heddle;
using namespace heddle::evaluation;

namespace {
/// The part of a state that an op reads or writes.
struct Part {
  Tensor *store;
  std::vector<int64_t> shape; // of the part: without the selected iterations
  int64_t first;              // place of its first element in `store`
};

FailureOr<Part> choose(Evaluator &e, Operation *op, Value state, ValueRange indices) {
  auto type = dyn_cast<model::StateType>(state.getType());
  if (!type)
    return op->emitOpError("works on states only");
  FailureOr<std::vector<int64_t>> shape =
      e.shapeOf(op, model::ModelTensorType::get(op->getContext(), type.getSizes(), type.getElementType()));
  if (failed(shape))
    return failure();
  auto [it, fresh] = e.states->try_emplace(e.state(state));
  if (fresh)
    it->second = Tensor::zeros(kindOf(type.getElementType()), *shape);
  if (it->second.shape != *shape)
    return op->emitOpError() << "the state '" << it->first << "' is " << showShape(it->second.shape) << ", but here "
                             << showShape(*shape);
  Part part{&it->second, *shape, 0};
  if (indices.size() > shape->size())
    return op->emitOpError() << "has more indices than " << type << " has axes";
  for (Value v : indices) {
    int64_t index = e.index(v);
    if (index < 0 || index >= part.shape.front())
      return op->emitOpError() << "iteration " << index << " is outside of " << showShape(*shape);
    part.first += index * product(part.shape) / part.shape.front();
    part.shape.erase(part.shape.begin());
  }
  return part;
}

/// An error unless the texts that an append with slots names are there and no longer than `past`, and no position of
/// one is written by two rows.
LogicalResult checkPlaces(model::AppendOp op, const std::vector<int64_t> &slots, const std::vector<int64_t> &starts,
                          int64_t held, int64_t past, int64_t fresh) {
  std::set<std::pair<int64_t, int64_t>> written;
  for (auto [slot, start] : llvm::zip_equal(slots, starts)) {
    if (slot < 0 || slot >= held)
      return op.emitOpError() << "slot " << slot << " is not part of the state's " << held;
    if (start < 0 || start > past)
      return op.emitOpError() << "a text of " << start << " positions is none of 0 to " << past << ", the longest";
    for (int64_t position = start; position < start + fresh; ++position)
      if (!written.insert({slot, position}).second)
        return op.emitOpError() << "position " << position << " of slot " << slot << " is written twice";
  }
  return success();
}

LogicalResult evaluate(Evaluator &e, model::AppendOp op) {
  FailureOr<Part> part = choose(e, op, op.getState(), op.getIndices());
  FailureOr<int64_t> past = e.size(op, model::kPastDim);
  if (failed(part) || failed(past))
    return failure();
  const Tensor &rows = e.tensor(op.getRows());
  unsigned axis = op.getAxis();
  std::vector<int64_t> expected(rows.shape), all(rows.shape);
  if (axis >= expected.size() || part->shape.size() != expected.size())
    return op.emitOpError() << "cannot append " << showShape(rows.shape) << " to " << showShape(part->shape);
  expected[axis] = part->shape[axis];
  if (op.getSlots())
    expected[0] = part->shape[0];
  if (expected != part->shape || part->store->kind != rows.kind)
    return op.emitOpError() << "cannot append " << showShape(rows.shape) << " to " << showShape(part->shape);
  all[axis] = *past + rows.shape[axis];
  if (*past < 0 || all[axis] > part->shape[axis])
    return op.emitOpError() << "row " << all[axis] << " is past the capacity of " << part->shape[axis] << " rows";
  std::vector<int64_t> slots, starts;
  if (op.getSlots()) {
    slots = e.tensor(op.getSlots()).ints, starts = e.tensor(op.getStarts()).ints;
    if (failed(checkPlaces(op, slots, starts, part->shape[0], *past, rows.shape[axis])))
      return failure();
  }
  auto startOf = [&](int64_t batch) { return starts.empty() ? *past : starts[batch]; };
  // The element of the state for `index`, an index of the result.
  auto placeOf = [&](SmallVector<int64_t> index) {
    if (!slots.empty())
      index[0] = slots[index[0]];
    return part->first + place(part->shape, index);
  };
  for (Walk w(rows.shape, {}); w.more(); w.next()) {
    SmallVector<int64_t> index(w.index());
    index[axis] += startOf(index[0]);
    store(*part->store, placeOf(index), scalarOf(rows, w.here()));
  }
  Tensor out = Tensor::zeros(rows.kind, all);
  for (Walk w(all, {}); w.more(); w.next())
    if (w.index()[axis] < startOf(w.index()[0]) + rows.shape[axis])
      store(out, w.here(), scalarOf(*part->store, placeOf(SmallVector<int64_t>(w.index()))));
    else if (out.kind == Tensor::Kind::Real) // places after the end of a row's text may not be read
      out.reals[w.here()] = std::numeric_limits<double>::quiet_NaN();
  e.set(op.getResult(), std::move(out));
  return success();
}

LogicalResult evaluate(Evaluator &e, model::LoadOp op) {
  FailureOr<Part> part = choose(e, op, op.getState(), op.getIndices());
  if (failed(part))
    return failure();
  Tensor out = Tensor::zeros(part->store->kind, part->shape);
  for (int64_t i = 0; i < out.count(); ++i)
    store(out, i, scalarOf(*part->store, part->first + i));
  e.set(op.getResult(), std::move(out));
  return success();
}

LogicalResult evaluate(Evaluator &e, model::StoreOp op) {
  FailureOr<Part> part = choose(e, op, op.getState(), op.getIndices());
  if (failed(part))
    return failure();
  const Tensor &value = e.tensor(op.getValue());
  if (value.shape != part->shape || value.kind != part->store->kind)
    return op.emitOpError() << "cannot keep " << showShape(value.shape) << " in " << showShape(part->shape);
  for (int64_t i = 0; i < value.count(); ++i)
    store(*part->store, part->first + i, scalarOf(value, i));
  return success();
}
} // namespace

Outcome evaluation::evaluateStates(Evaluator &e, Operation *op) {
  return TypeSwitch<Operation *, Outcome>(op)
      .Case<model::AppendOp, model::LoadOp, model::StoreOp>([&](auto known) { return evaluate(e, known); })
      .Default([](Operation *) { return std::nullopt; });
}
