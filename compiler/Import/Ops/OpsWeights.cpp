// Imports of the ops that read weights: linear, embedding, parameters, convolutions, experts, norms.
#include "compiler/Import/Ops/OpCall.h"
#include "compiler/Import/Ops/OpHandlers.h"

#include "llvm/ADT/STLExtras.h"

using namespace heddle;
using heddle::model::ModelTensorType;
using heddle::model::Size;
using llvm::Twine;
using E = Emitter::Element;
using K = Value::Kind;

/// A shape as messages show it.
static std::string show(ModelTensorType t) {
  std::string out;
  for (const Size &s : t.getSizes())
    out += (out.empty() ? "" : ", ") + s.str();
  return "[" + out + "]";
}

/// " (NAME is [2, 3])": the weights that an op has read, after what is wrong with one.
static std::string read(const OpCall &c) { return c.in.weightsRead.empty() ? "" : " (" + c.in.weightsRead + ")"; }

/// The parts of a split; an integer n means n equal ones.
static std::optional<std::vector<int64_t>> splitOf(OpCall &c) {
  Value v = c.attr("split");
  if (v.isNull() || v.isBad())
    return std::nullopt;
  if (v.is(K::Integer) && v.asInteger() >= 1 && v.asInteger() <= 1024)
    return std::vector<int64_t>(v.asInteger(), 1);
  std::vector<int64_t> parts;
  if (v.is(K::List))
    for (const Value &p : v.asList())
      if (p.is(K::Integer) && p.asInteger() >= 1)
        parts.push_back(p.asInteger());
  if (!v.is(K::List) || parts.empty() || parts.size() != v.asList().size()) {
    c.fail(Error::WrongAttribute, c.place("split"),
           "split should be a number of parts or a list of their sizes, found " + v.show());
    return std::nullopt;
  }
  return parts;
}

/// x Wᵀ + b with W [out, in], or [in, out] where the layout says so. With `split` the output features are divided into
/// parts, one result each, `groups` times over (fused q, k, v that are interleaved by head group).
std::vector<Value> ops::linear(OpCall &c) {
  mlir::Value x = c.tensor(0, E::Real), w = c.realWeight("weight");
  bool inOut = c.isOther("layout") && !c.rowsAreOutputs;
  std::optional<std::vector<int64_t>> parts = splitOf(c);
  size_t n = parts ? parts->size() : 1;
  std::vector<Value> poison(n, Value::poison());
  int64_t groups = parts ? c.integer("groups", 1, 1) : 1;
  std::optional<int64_t> out = c.optionalInteger("out");
  mlir::Value b = c.isOff("bias") ? mlir::Value() : c.realWeight("bias");
  if (c.bad || !x || !w)
    return poison;
  ModelTensorType t = tensorType(w);
  if (t.getRank() == 2 && out && !t.getSize(inOut ? 1 : 0).is(*out)) {
    c.fail(Error::WeightMisshapen, c.place("out"),
           "out should be " + Twine(*out) + ", the weight has " + t.getSize(inOut ? 1 : 0).str() + read(c));
    return poison;
  }
  Emitter::Attrs attrs = {c.in.segments({1, 1, b ? 1 : 0, 0})};
  if (inOut)
    attrs.push_back(c.in.unitAttr("in_out"));
  if (parts) {
    attrs.push_back(c.in.intsAttr("parts", *parts));
    attrs.push_back(c.in.intAttr("groups", groups));
  }
  llvm::SmallVector<mlir::Value> operands = {x, w};
  if (b)
    operands.push_back(b);
  std::vector<mlir::Value> made = c.in.emitAll<model::LinearOp>(c.at, operands, attrs, /*regions=*/1);
  if (made.size() != n)
    return poison;
  std::vector<Value> results;
  for (mlir::Value v : made)
    results.push_back(Value::ofIr(K::Tensor, v));
  return results;
}

/// Rows of a table [rows, width] by integer ids; `rows` and `width` only check the table.
std::vector<Value> ops::embedding(OpCall &c) {
  if (c.operands[0].isArray() && c.in.elementOf(c.operands[0]) == E::Real)
    c.fail(Error::WrongElement, "ids should be integers, found real numbers");
  mlir::Value ids = c.tensor(0, E::Integer), w = c.realWeight("weight");
  std::optional<int64_t> rows = c.optionalInteger("rows"), width = c.optionalInteger("width");
  if (c.bad || !ids || !w)
    return {Value::poison()};
  ModelTensorType t = tensorType(w);
  if (t.getRank() == 2 && rows && !t.getSize(0).is(*rows))
    c.fail(Error::WeightMisshapen, c.place("rows"),
           "the table should have " + Twine(*rows) + " rows, has " + t.getSize(0).str() + read(c));
  if (t.getRank() == 2 && width && !t.getSize(1).is(*width))
    c.fail(Error::WeightMisshapen, c.place("width"),
           "the table should be " + Twine(*width) + " wide, is " + t.getSize(1).str() + read(c));
  if (c.bad)
    return {Value::poison()};
  return {c.in.emit<model::EmbeddingOp>(c.at, {ids, w})};
}

/// The weight itself as a value, of any shape and element type.
std::vector<Value> ops::parameter(OpCall &c) {
  mlir::Value w = c.weight("weight");
  Value shape = c.attr("shape");
  if (c.bad || !w)
    return {Value::poison()};
  if (!shape.isNull()) {
    ModelTensorType t = tensorType(w);
    bool fits = shape.is(K::List) && static_cast<int64_t>(shape.asList().size()) == t.getRank();
    for (int64_t i = 0; fits && i < t.getRank(); ++i)
      fits = shape.asList()[i].is(K::Integer) && t.getSize(i).is(shape.asList()[i].asInteger());
    if (!fits) {
      c.fail(Error::WeightMisshapen, c.place("shape"), "weight should be " + shape.show() + ", is " + show(t));
      return {Value::poison()};
    }
  }
  return {Value::ofIr(K::Tensor, w)};
}

/// Padding before and after each spatial axis, from a number, a list of numbers or a list of pairs.
static std::vector<int64_t> paddingOf(OpCall &c, size_t n) {
  Value v = c.attr("padding");
  std::vector<int64_t> out;
  if (v.isNull() || v.isBad())
    return std::vector<int64_t>(2 * n, 0);
  if (v.is(K::Integer))
    return std::vector<int64_t>(2 * n, v.asInteger());
  if (v.is(K::List))
    for (const Value &p : v.asList()) {
      if (p.is(K::Integer))
        out.insert(out.end(), 2, p.asInteger());
      else if (p.is(K::List) && p.asList().size() == 2 && p.asList()[0].is(K::Integer) && p.asList()[1].is(K::Integer))
        out.insert(out.end(), {p.asList()[0].asInteger(), p.asList()[1].asInteger()});
    }
  if (out.size() != 2 * n || llvm::any_of(out, [](int64_t p) { return p < 0; })) {
    c.fail(Error::WrongAttribute, c.place("padding"),
           "padding should be a number, or of each of " + Twine(n) + " axes a number or [before, after], found " +
               v.show());
    return std::vector<int64_t>(2 * n, 0);
  }
  return out;
}

/// Channels last: x [B, L..., in], weight [out, in / groups, taps...], one or more spatial axes by the weight's rank.
std::vector<Value> ops::conv(OpCall &c) {
  mlir::Value x = c.tensor(0, E::Real), w = c.realWeight("weight");
  if (!x || !w)
    return {Value::poison()};
  ModelTensorType t = tensorType(w);
  if (t.getRank() < 3) {
    c.fail(Error::WeightMisshapen, "weight is " + show(t) + ", expected [out, in / groups, taps...]");
    return {Value::poison()};
  }
  size_t n = t.getRank() - 2;
  std::vector<int64_t> stride = c.integers("stride", n, 1), dilation = c.integers("dilation", n, 1),
                       padding = paddingOf(c, n);
  int64_t groups = c.integer("groups", 1, 1);
  if (std::optional<int64_t> out = c.optionalInteger("out"); out && !t.getSize(0).is(*out))
    c.fail(Error::WeightMisshapen, c.place("out"),
           "out should be " + Twine(*out) + ", the weight has " + t.getSize(0).str() + read(c));
  if (!c.attr("taps").isNull()) {
    std::vector<int64_t> taps = c.integers("taps", n, 0);
    for (size_t i = 0; i < n && !c.bad; ++i)
      if (!t.getSize(2 + i).is(taps[i]))
        c.fail(Error::WeightMisshapen, c.place("taps"),
               "taps should be " + c.attr("taps").show() + ", the weight is " + show(t));
  }
  mlir::Value b = c.isOff("bias") ? mlir::Value() : c.realWeight("bias");
  if (c.bad)
    return {Value::poison()};
  llvm::SmallVector<mlir::Value> operands = {x, w};
  if (b)
    operands.push_back(b);
  return {c.in.emit<model::ConvOp>(c.at, operands,
                                   {c.in.segments({1, 1, b ? 1 : 0}), c.in.intsAttr("stride", stride),
                                    c.in.intsAttr("dilation", dilation), c.in.intsAttr("padding", padding),
                                    c.in.intAttr("groups", groups)})};
}

/// Σₑ gates[..., e] · blockₑ(x): the block is expanded once for each expert, with the index e bound in `weights` only,
/// and the weighted results are added in order. Here every expert is computed for every row; model-gate-linears leaves
/// out those that a row has not chosen.
std::vector<Value> ops::experts(OpCall &c) {
  int64_t count = c.integer("count", std::nullopt, 1);
  Value name = c.attr("block"), index = c.attr("index");
  if (name.isNull())
    c.fail(Error::MissingAttribute, "needs the attribute 'block'");
  const BlockSpec *block = name.is(K::String) ? c.body.doc.block(name.asString()) : nullptr;
  if (!block && !c.bad)
    c.fail(Error::UnknownName, c.place("block"),
           "no block " + name.show() + (name.is(K::String) ? nearest(name.asString(), c.body.doc.callable()) : ""));
  if (block && (block->operands.size() != 1 || block->results.size() != 1))
    c.fail(Error::WrongCount, c.place("block"), "an expert takes one operand and gives one result");
  if (count > 1024)
    c.fail(Error::WrongAttribute, c.place("count"), "count should be at most 1024, found " + Twine(count));
  mlir::Value x = c.tensor(0), gates = c.tensor(1, E::Real);
  if (c.bad)
    return {Value::poison()};
  // gates [..., count]: column e weighs expert e.
  ModelTensorType g = tensorType(gates);
  if (g.getRank() < 1 || !g.getSize(g.getRank() - 1).is(count)) {
    c.fail(Error::Misfit, "gates are " + show(g) + ", expected " + Twine(count) + " on the last axis");
    return {Value::poison()};
  }
  std::string variable = index.is(K::String) ? index.asString() : "e";
  const AttrSpec *w = c.spec.attribute("weights");
  Value sum;
  for (int64_t e = 0; e < count; ++e) {
    // The expert's index is visible in `weights` only: a block sees no names from outside.
    Environment env = *c.scope.env;
    env.bind(variable, Value::integer(e));
    Scope scope{&env, c.scope.kind};
    std::optional<std::string> base = w ? c.evaluator.fill(*w->value, scope) : std::optional<std::string>("");
    if (!base)
      return {Value::poison()};
    std::vector<Value> y =
        c.body.runBlock(*block, {Value::ofIr(K::Tensor, x)}, nullptr, scope, joinName(c.weights, *base), c.at);
    Value gate =
        c.in.emit<model::SliceOp>(c.at, {gates},
                                  {c.in.intAttr("axis", g.getRank() - 1), c.in.textAttr("from", std::to_string(e)),
                                   c.in.textAttr("to", std::to_string(e + 1))});
    if (gate.isBad() || y.size() != 1 || y[0].isBad())
      return {Value::poison()};
    Value part = c.evaluator.arithmetic.tensors("*", gate, y[0], c.at);
    sum = e == 0 ? part : part.isBad() ? part : c.evaluator.arithmetic.tensors("+", sum, part, c.at);
    if (sum.isBad())
      return {Value::poison()};
  }
  return {sum};
}

//===--- norms ----------------------------------------------------------------===//

/// `affine`: false has neither weight nor bias; "bias": false only no bias.
std::vector<Value> ops::layerNorm(OpCall &c) {
  mlir::Value x = c.tensor(0, E::Real), w, b;
  bool affine = c.flag("affine", true);
  double eps = c.epsilon(1e-5);
  if (affine)
    w = c.realWeight("weight");
  if (affine && !c.isOff("bias"))
    b = c.realWeight("bias");
  if (c.bad)
    return {Value::poison()};
  llvm::SmallVector<mlir::Value> operands = {x};
  if (w)
    operands.push_back(w);
  if (b)
    operands.push_back(b);
  return {c.in.emit<model::LayerNormOp>(c.at, operands,
                                        {c.in.segments({1, w ? 1 : 0, b ? 1 : 0}), c.in.realAttr("eps", eps)})};
}

std::vector<Value> ops::rmsNorm(OpCall &c) {
  mlir::Value x = c.tensor(0, E::Real), w = c.realWeight("weight");
  double eps = c.epsilon(1e-6), offset = c.real("offset", 0);
  if (c.bad)
    return {Value::poison()};
  return {c.in.emit<model::RmsNormOp>(c.at, {x, w}, {c.in.realAttr("eps", eps), c.in.realAttr("offset", offset)})};
}

std::vector<Value> ops::groupNorm(OpCall &c) {
  mlir::Value x = c.tensor(0, E::Real), w = c.realWeight("weight"), b = c.realWeight("bias");
  int64_t groups = c.integer("groups", std::nullopt, 1);
  double eps = c.epsilon(1e-5);
  if (c.bad)
    return {Value::poison()};
  return {c.in.emit<model::GroupNormOp>(c.at, {x, w, b}, {c.in.intAttr("groups", groups), c.in.realAttr("eps", eps)})};
}

std::vector<Value> ops::batchNorm(OpCall &c) {
  mlir::Value x = c.tensor(0, E::Real), mean = c.realWeight("running_mean"), variance = c.realWeight("running_var"),
              w = c.realWeight("weight"), b = c.realWeight("bias");
  double eps = c.epsilon(1e-5);
  if (c.bad)
    return {Value::poison()};
  return {c.in.emit<model::BatchNormOp>(c.at, {x, mean, variance, w, b}, {c.in.realAttr("eps", eps)})};
}

std::vector<Value> ops::l2Norm(OpCall &c) {
  mlir::Value x = c.tensor(0, E::Real);
  double eps = c.epsilon(1e-12);
  if (c.bad)
    return {Value::poison()};
  return {c.in.emit<model::L2NormOp>(c.at, {x}, {c.in.realAttr("eps", eps)})};
}
