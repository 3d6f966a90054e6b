//===- Evaluator.cpp - one op after another, checked on both sides --------===//

#include "compiler/Interpreter/Evaluator.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::evaluation;
using heddle::model::ModelTensorType;
using heddle::model::Size;

/// Results with more elements are refused: an interpreter would never finish.
static constexpr int64_t mostElements = int64_t(1) << 30;

Tensor::Kind evaluation::kindOf(Type type) {
  auto tensor = dyn_cast<ModelTensorType>(type);
  Type element = tensor ? tensor.getElementType() : type;
  return element.isF32() ? Tensor::Kind::Real : element.isInteger(1) ? Tensor::Kind::Bool : Tensor::Kind::Int;
}

FailureOr<int64_t> Evaluator::size(Operation *op, StringRef text) const {
  std::optional<Size> form = Size::parse(text);
  if (!form)
    return op->emitOpError() << "'" << text << "' is not a size form";
  for (const std::string &dim : form->dims())
    if (!dims.count(dim))
      return op->emitOpError() << "the dim " << dim << " has no value yet";
  std::optional<int64_t> n = form->evaluate(dims);
  if (!n)
    return op->emitOpError() << "the length " << text << " divides by zero";
  return *n;
}

FailureOr<std::vector<int64_t>> Evaluator::shapeOf(Operation *op, ModelTensorType type) const {
  std::vector<int64_t> shape;
  int64_t count = 1;
  for (StringAttr axis : type.getAxes()) {
    FailureOr<int64_t> n = size(op, axis.getValue());
    if (failed(n))
      return failure();
    if (*n < 0)
      return op->emitOpError() << "the length " << axis.getValue() << " is " << *n;
    if (*n > 0 && count > mostElements / *n)
      return op->emitOpError() << "a tensor of type " << type << " is too large to interpret";
    count *= *n;
    shape.push_back(*n);
  }
  return shape;
}

LogicalResult Evaluator::require(const model::Condition &condition) const {
  if (condition.holds(dims).value_or(true))
    return success();
  InFlightDiagnostic error = condition.op->emitOpError() << "takes " << condition.str();
  std::set<std::string> used = condition.left.dims();
  used.merge(condition.right.dims());
  for (auto [i, dim] : llvm::enumerate(used))
    error << (i ? ", " : ", got ") << dim << " is " << dims.at(dim);
  return error;
}

/// Whether an op may give a dim its value when no input does.
static bool mayBindDims(Operation *op) { return isa<model::DefaultOp>(op); }

LogicalResult Evaluator::prepare(Operation *op) {
  if (!mayBindDims(op))
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      if (!has(operand))
        return op->emitOpError() << "operand " << i << " is an input that was not given";
  for (const model::Condition &condition : model::conditionsOf(op))
    if (failed(require(condition)))
      return failure();
  shapes.clear();
  bool known = !mayBindDims(op) && !isa<model::LiveRowsOp>(op); // these compute their own length
  for (Value result : op->getResults())
    if (auto type = dyn_cast<ModelTensorType>(result.getType()); type && known) {
      FailureOr<std::vector<int64_t>> shape = shapeOf(op, type);
      if (failed(shape))
        return failure();
      shapes[result] = std::move(*shape);
    }
  return success();
}

LogicalResult Evaluator::confirm(Operation *op) {
  for (Value result : op->getResults()) {
    auto type = dyn_cast<ModelTensorType>(result.getType());
    if (!type)
      continue;
    const Tensor &t = tensor(result);
    FailureOr<std::vector<int64_t>> shape = shapeOf(op, type);
    if (failed(shape))
      return failure();
    if (t.shape != *shape || t.kind != kindOf(type))
      return op->emitOpError() << "gives " << showShape(t.shape) << ", but its type " << type << " says "
                               << showShape(*shape);
  }
  return success();
}

void Evaluator::set(Value v, Tensor t) {
  if (options.declaredTypes)
    for (double &x : t.reals)
      x = float(x);
  values[v] = std::make_shared<const Tensor>(std::move(t));
}

LogicalResult Evaluator::run(Operation *op) {
  if (failed(prepare(op)))
    return failure();
  for (auto family :
       {evaluateElementwise, evaluateMoves, evaluateLinear, evaluateNorms, evaluatePositions, evaluateReductions,
        evaluateMasks, evaluateBiases, evaluateAttention, evaluateControl, evaluateStates})
    if (Outcome outcome = family(*this, op))
      return succeeded(*outcome) ? confirm(op) : failure();
  return op->emitOpError("cannot be interpreted: it is no op of the stages model to tiled");
}

LogicalResult Evaluator::runBody(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(run(&op)))
      return failure();
  return success();
}
