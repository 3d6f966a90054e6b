//===- Entry.cpp - inputs in, dims bound, results out ---------------------===//
//
// Calling a function: inputs bind dims, results are collected. The rules are those of
// language.md section 4: a bare dim binds, other forms are checked, missing leading axes
// are broadcast, and bounds hold.
//
//===----------------------------------------------------------------------===//

#include "compiler/Interpreter/Evaluator.h"
#include "heddle/nearest.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::evaluation;
using heddle::model::ModelTensorType;
using heddle::model::Size;

namespace {
StringRef nameOf(func::FuncOp entry, unsigned argument) {
  auto name = entry.getArgAttrOfType<StringAttr>(argument, "model.name");
  return name ? name.getValue() : StringRef();
}

StringRef word(Tensor::Kind kind) {
  return kind == Tensor::Kind::Real ? "f32" : kind == Tensor::Kind::Int ? "i64" : "bool";
}

/// The input with the nearest name, else the names of all inputs, for the message about an unknown one.
std::string meant(func::FuncOp entry, StringRef wanted) {
  std::vector<StringRef> names;
  for (BlockArgument argument : entry.getArguments())
    if (isa<ModelTensorType>(argument.getType()))
      names.push_back(nameOf(entry, argument.getArgNumber()));
  std::string near = nearestName(wanted, names);
  return near.empty() ? "; the model takes " + llvm::join(names, ", ") : "; did you mean '" + near + "'?";
}

/// The tensor as kind `to`; an error for other conversions than integers given as whole
/// reals.
FailureOr<Tensor> converted(func::FuncOp entry, StringRef name, const Tensor &t, Tensor::Kind to) {
  if (t.kind == to)
    return t;
  if (t.kind == Tensor::Kind::Real)
    return emitError(entry.getLoc()) << "input '" << name << "' must be " << word(to) << ", but is f32";
  Tensor out{to, t.shape, {}, {}};
  if (to == Tensor::Kind::Real)
    out.reals.assign(t.ints.begin(), t.ints.end());
  else
    for (int64_t x : t.ints)
      out.ints.push_back(to == Tensor::Kind::Bool ? x != 0 : x);
  return out;
}

LogicalResult bindDim(func::FuncOp entry, Dims &dims, StringRef dim, int64_t n, StringRef input) {
  auto [it, fresh] = dims.emplace(dim.str(), n);
  if (!fresh && it->second != n)
    return emitError(entry.getLoc()) << "input '" << input << "' has " << dim << " = " << n << ", but it is "
                                     << it->second << " elsewhere";
  auto module = entry->getParentOfType<ModuleOp>();
  auto bounds = module ? module->getAttrOfType<DictionaryAttr>("model.dims") : DictionaryAttr();
  auto bound = bounds ? bounds.getAs<IntegerAttr>(dim) : IntegerAttr();
  if (bound && n > bound.getInt())
    return emitError(entry.getLoc()) << dim << " = " << n << " is past its bound " << bound.getInt();
  return success();
}
} // namespace

FailureOr<Dims> heddle::bindDims(func::FuncOp entry, const Tensors &inputs, Dims dims) {
  for (const auto &[name, tensor] : inputs) {
    bool known = false;
    for (unsigned i = 0; i < entry.getNumArguments() && !known; ++i)
      known = nameOf(entry, i) == name && isa<ModelTensorType>(entry.getArgument(i).getType());
    if (!known)
      return emitError(entry.getLoc()) << "no input '" << name << "'" << meant(entry, name);
  }
  // First pass: bare dims of all inputs. Second pass: other forms, which may use them.
  for (bool binding : {true, false})
    for (BlockArgument argument : entry.getArguments()) {
      StringRef name = nameOf(entry, argument.getArgNumber());
      auto given = inputs.find(name.str());
      auto type = dyn_cast<ModelTensorType>(argument.getType());
      if (!type || given == inputs.end())
        continue;
      const Tensor &t = given->second;
      if (t.rank() > type.getRank())
        return emitError(entry.getLoc()) << "input '" << name << "' has rank " << t.rank() << ", declared is " << type;
      for (int64_t back = 1; back <= t.rank(); ++back) {
        Size form = type.getSize(type.getRank() - back);
        int64_t n = t.shape[t.rank() - back];
        std::optional<std::string> dim = form.bareDim();
        if (binding && dim && failed(bindDim(entry, dims, *dim, n, name)))
          return failure();
        if (!binding && !dim && form.evaluate(dims) && *form.evaluate(dims) != n)
          return emitError(entry.getLoc()) << "input '" << name << "': the axis " << form.str() << " should be "
                                           << *form.evaluate(dims) << ", is " << n;
      }
    }
  return dims;
}

/// Gives every argument its value: an input, a state, or nothing where it has a default.
static LogicalResult setArguments(Evaluator &e, func::FuncOp entry, const Tensors &inputs) {
  for (BlockArgument argument : entry.getArguments()) {
    unsigned i = argument.getArgNumber();
    if (isa<model::StateType>(argument.getType())) {
      auto name = entry.getArgAttrOfType<StringAttr>(i, "model.state");
      if (!name)
        return emitError(entry.getLoc()) << "argument " << i << " is a state without a name ('model.state')";
      e.setState(argument, name.str());
      continue;
    }
    auto type = dyn_cast<ModelTensorType>(argument.getType());
    StringRef name = nameOf(entry, i);
    if (!type || name.empty())
      return emitError(entry.getLoc()) << "argument " << i << " is no named tensor ('model.name')";
    auto given = inputs.find(name.str());
    if (given == inputs.end()) {
      if (!entry.getArgAttr(i, "model.default"))
        return emitError(entry.getLoc()) << "input '" << name << "' is missing and has no default";
      continue;
    }
    FailureOr<Tensor> t = converted(entry, name, given->second, kindOf(type));
    if (failed(t))
      return failure();
    for (int64_t axis = 0; axis < type.getRank() - t->rank(); ++axis) // given by no input: 1
      if (std::optional<std::string> dim = type.getSize(axis).bareDim())
        e.dims.emplace(*dim, 1);
    FailureOr<std::vector<int64_t>> shape = e.shapeOf(entry, type);
    if (failed(shape))
      return failure();
    e.set(argument, t->shape == *shape ? std::move(*t) : stretched(*t, *shape));
  }
  return success();
}

/// What every op asks of lengths, before the first of them runs. What a dim says that has no value yet, since only a
/// default gives it one, is checked when the op runs.
static LogicalResult checkLengths(const Evaluator &e, func::FuncOp entry, const Tensors &inputs) {
  for (const model::Condition &c : model::conditionsIn(entry))
    if (c.without.empty() || !inputs.count(c.without))
      if (failed(e.require(c)))
        return failure();
  return success();
}

FailureOr<Tensors> heddle::interpret(func::FuncOp entry, const Tensors &inputs, Dims dims, States *states,
                                     ReadParameter readParameter, InterpretOptions options) {
  if (entry.isExternal())
    return emitError(entry.getLoc(), "has no body to interpret");
  FailureOr<Dims> bound = bindDims(entry, inputs, std::move(dims));
  if (failed(bound))
    return failure();
  States lost;
  Evaluator e(std::move(*bound), states ? states : &lost, readParameter, options);
  Block &body = entry.getBody().front();
  if (failed(setArguments(e, entry, inputs)) || failed(checkLengths(e, entry, inputs)) || failed(e.runBody(body)))
    return failure();
  Tensors results;
  for (auto [i, value] : llvm::enumerate(body.getTerminator()->getOperands())) {
    auto name = entry.getResultAttrOfType<StringAttr>(i, "model.name");
    if (!name)
      return emitError(entry.getLoc()) << "result " << i << " has no name ('model.name')";
    if (!e.has(value))
      return emitError(entry.getLoc()) << "result '" << name.getValue() << "' is an input that was not given";
    results[name.str()] = e.tensor(value);
  }
  return results;
}

bool heddle::isInterpretable(func::FuncOp function) {
  bool known = !function.isExternal();
  function->walk([&](Operation *op) {
    StringRef dialect = op->getName().getDialectNamespace();
    known &= dialect == "model" || dialect == "mask" || dialect == "attn" || dialect == "func" || dialect == "arith" ||
             dialect == "math";
  });
  return known;
}
