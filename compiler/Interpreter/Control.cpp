//===- Control.cpp - constants, lengths, defaults and repetition ----------===//

#include "compiler/Interpreter/Evaluator.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::evaluation;
using heddle::model::ModelTensorType;

static LogicalResult evaluate(Evaluator &e, model::ConstantOp op) {
  auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!dense)
    return op.emitOpError("holds elements that are not in the IR");
  Tensor t = Tensor::zeros(kindOf(op.getResult().getType()), e.shapeOf(op.getResult()));
  if (t.kind == Tensor::Kind::Real)
    for (auto [i, x] : llvm::enumerate(dense.getValues<APFloat>()))
      t.reals[i] = x.convertToDouble();
  else
    for (auto [i, x] : llvm::enumerate(dense.getValues<APInt>()))
      t.ints[i] = t.kind == Tensor::Kind::Bool ? x.getZExtValue() : x.getSExtValue();
  e.set(op.getResult(), std::move(t));
  return success();
}

static LogicalResult evaluate(Evaluator &e, model::SizeOp op) {
  FailureOr<int64_t> n = e.size(op, op.getSize());
  if (failed(n))
    return failure();
  e.set(op.getResult(), Tensor::ofInts({}, {*n}));
  return success();
}

static LogicalResult evaluate(Evaluator &e, model::RangeOp op) {
  FailureOr<int64_t> from = e.size(op, op.getFrom());
  if (failed(from))
    return failure();
  Tensor t = Tensor::zeros(Tensor::Kind::Int, e.shapeOf(op.getResult()));
  for (auto [i, x] : llvm::enumerate(t.ints))
    x = *from + int64_t(i);
  e.set(op.getResult(), std::move(t));
  return success();
}

/// The input, or else what the region yields, broadcast to the declared axes. A
/// dim that no input has bound gets its value here.
static LogicalResult evaluate(Evaluator &e, model::DefaultOp op) {
  if (e.has(op.getInput())) {
    e.alias(op.getResult(), op.getInput());
    return success();
  }
  Block &body = op.getBody().front();
  if (failed(e.runBody(body)))
    return failure();
  if (body.getTerminator()->getNumOperands() != 1)
    return op.emitOpError("must yield one value");
  const Tensor &t = e.tensor(body.getTerminator()->getOperand(0));
  auto type = cast<ModelTensorType>(op.getResult().getType());
  for (int64_t back = 1; back <= std::min(t.rank(), type.getRank()); ++back)
    if (std::optional<std::string> dim = type.getSize(type.getRank() - back).bareDim())
      e.dims.emplace(*dim, t.shape[t.rank() - back]);
  // A dim that only inputs have that were left out: nothing is there.
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    for (const std::string &dim : type.getSize(axis).dims())
      e.dims.emplace(dim, 0);
  FailureOr<std::vector<int64_t>> shape = e.shapeOf(op, type);
  if (failed(shape))
    return failure();
  if (t.kind != kindOf(type) || !stretches(t.shape, *shape))
    return op.emitOpError() << "yields " << showShape(t.shape) << ", which does not stretch to " << type;
  e.set(op.getResult(), stretched(t, *shape));
  return success();
}

static LogicalResult evaluate(Evaluator &e, model::RepeatOp op) {
  Block &body = op.getBody().front();
  unsigned carried = op.getNumCarried();
  for (unsigned i = 0; i < carried; ++i)
    e.alias(body.getArgument(1 + i), op.getCarried()[i]);
  std::vector<Tensor> collected;
  for (Value result : op.getResults().drop_front(carried))
    collected.push_back(Tensor::zeros(kindOf(cast<ModelTensorType>(result.getType())), e.shapeOf(result)));

  for (int64_t i = 0; i < int64_t(op.getCount()); ++i) {
    e.set(op.getIndex(), i);
    if (failed(e.runBody(body)))
      return failure();
    OperandRange yields = op.getYield().getOperands();
    for (auto [c, value] : llvm::enumerate(yields.drop_front(carried))) {
      const Tensor &t = e.tensor(value);
      for (int64_t k = 0; k < t.count(); ++k)
        store(collected[c], i * t.count() + k, scalarOf(t, k));
    }
    // Read all yields before an argument changes: a yield may be an argument.
    SmallVector<TensorRef> next;
    for (Value value : yields.take_front(carried))
      next.push_back(e.ref(value));
    for (auto [c, value] : llvm::enumerate(next))
      e.set(body.getArgument(1 + c), value);
  }
  for (unsigned i = 0; i < carried; ++i)
    e.alias(op.getResult(i), body.getArgument(1 + i));
  for (auto [c, t] : llvm::enumerate(collected))
    e.set(op.getResult(carried + c), std::move(t));
  return success();
}

// Arithmetic on the indices of repeats, which select parameters and parts of
// states.
static LogicalResult evaluate(Evaluator &e, arith::ConstantOp op) {
  auto value = dyn_cast<IntegerAttr>(op.getValue());
  if (!value || !op.getType().isIndex())
    return op.emitOpError("outside of a body on scalars only indices are constants");
  e.set(op.getResult(), value.getInt());
  return success();
}
template <typename Op> static LogicalResult indices(Evaluator &e, Op op, int64_t (*f)(int64_t, int64_t)) {
  if (!op.getType().isIndex())
    return op.emitOpError("outside of a body on scalars only indices are computed");
  e.set(op.getResult(), f(e.index(op.getLhs()), e.index(op.getRhs())));
  return success();
}

Outcome evaluation::evaluateControl(Evaluator &e, Operation *op) {
  return TypeSwitch<Operation *, Outcome>(op)
      .Case<model::ConstantOp, model::SizeOp, model::RangeOp, model::DefaultOp, model::RepeatOp, arith::ConstantOp>(
          [&](auto known) { return evaluate(e, known); })
      .Case([&](arith::AddIOp add) { return indices(e, add, [](int64_t a, int64_t b) { return a + b; }); })
      .Case([&](arith::SubIOp sub) { return indices(e, sub, [](int64_t a, int64_t b) { return a - b; }); })
      .Case([&](arith::MulIOp mul) { return indices(e, mul, [](int64_t a, int64_t b) { return a * b; }); })
      .Default([](Operation *) { return std::nullopt; });
}
