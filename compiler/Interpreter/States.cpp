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
  if (expected != part->shape || part->store->kind != rows.kind)
    return op.emitOpError() << "cannot append " << showShape(rows.shape) << " to " << showShape(part->shape);
  all[axis] = *past + rows.shape[axis];
  if (*past < 0 || all[axis] > part->shape[axis])
    return op.emitOpError() << "row " << all[axis] << " is past the capacity of " << part->shape[axis] << " rows";
  for (Walk w(rows.shape, {}); w.more(); w.next()) {
    SmallVector<int64_t> index(w.index());
    index[axis] += *past;
    store(*part->store, part->first + place(part->shape, index), scalarOf(rows, w.here()));
  }
  Tensor out = Tensor::zeros(rows.kind, all);
  for (Walk w(all, {}); w.more(); w.next())
    store(out, w.here(), scalarOf(*part->store, part->first + place(part->shape, w.index())));
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
