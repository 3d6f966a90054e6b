// Imports of the ops that move, reduce or give positions: rearrange, concat, pad, gather, reductions, interpolate.
#include "compiler/Import/Ops/OpCall.h"
#include "compiler/Import/Ops/OpHandlers.h"

#include "llvm/ADT/STLExtras.h"

using namespace heddle;
using heddle::model::ModelTensorType;
using heddle::model::Size;
using llvm::StringRef;
using llvm::Twine;
using E = Emitter::Element;
using K = Value::Kind;

static std::vector<Value> poisoned() { return {Value::poison()}; }

std::vector<Value> ops::matmul(OpCall &c) {
  mlir::Value a = c.tensor(0, E::Real), b = c.tensor(1, E::Real);
  return c.bad ? poisoned() : std::vector<Value>{c.in.emit<model::MatmulOp>(c.at, {a, b})};
}

/// mean, sum, max and argmax, over one axis or a list of axes.
std::vector<Value> ops::reduce(OpCall &c) {
  StringRef name = c.spec.name;
  // Sums count booleans as integers; means are real.
  E e = name == "mean"                                                        ? E::Real
        : c.operands[0].isArray() && c.in.elementOf(c.operands[0]) == E::Bool ? E::Integer
        : c.operands[0].isArray()                                             ? c.in.elementOf(c.operands[0])
                                                                              : E::Real;
  mlir::Value x = c.tensor(0, e);
  if (!x)
    return poisoned();
  Value given = c.attr("axis");
  std::vector<int64_t> axes;
  if (given.is(K::List) && name != "argmax")
    for (const Value &a : given.asList())
      axes.push_back(c.axis(a, tensorType(x).getRank()));
  else
    axes.push_back(c.axis(given, tensorType(x).getRank()));
  llvm::sort(axes);
  if (std::adjacent_find(axes.begin(), axes.end()) != axes.end())
    c.fail(Error::WrongAttribute, c.place("axis"), "an axis is named twice");
  bool keep = name != "argmax" && c.flag("keep", false);
  if (c.bad)
    return poisoned();
  Emitter::Attrs attrs = {
      c.in.attr("kind", model::ReduceKindAttr::get(&c.in.context, *model::symbolizeReduceKind(name))),
      c.in.intsAttr("axes", axes)};
  if (keep)
    attrs.push_back(c.in.unitAttr("keep"));
  return {c.in.emit<model::ReduceOp>(c.at, {x}, attrs)};
}

std::vector<Value> ops::cumsum(OpCall &c) {
  E e = c.operands[0].isArray() && c.in.elementOf(c.operands[0]) == E::Real ? E::Real : E::Integer;
  mlir::Value x = c.tensor(0, e);
  int64_t axis = x ? c.axis(c.attr("axis"), tensorType(x).getRank()) : 0;
  return c.bad ? poisoned() : std::vector<Value>{c.in.emit<model::CumsumOp>(c.at, {x}, {c.in.intAttr("axis", axis)})};
}

std::vector<Value> ops::softmax(OpCall &c) {
  mlir::Value x = c.tensor(0, E::Real);
  Value given = c.attr("axis");
  int64_t axis = x ? c.axis(given.isNull() ? Value::integer(-1) : given, tensorType(x).getRank()) : 0;
  if (c.bad)
    return poisoned();
  Emitter::Attrs attrs = {c.in.intAttr("axis", axis)};
  if (c.spec.name == "log_softmax")
    attrs.push_back(c.in.unitAttr("logarithm"));
  return {c.in.emit<model::SoftmaxOp>(c.at, {x}, attrs)};
}

std::vector<Value> ops::topK(OpCall &c) {
  mlir::Value x = c.tensor(0, E::Real);
  int64_t k = c.integer("k", std::nullopt, 1);
  double fill = c.real("fill", 0);
  if (c.bad)
    return poisoned();
  return {c.in.emit<model::TopKOp>(c.at, {x}, {c.in.intAttr("k", k), c.in.realAttr("fill", fill)})};
}

/// All parts are brought to one element type: real if any is, truth values only if all are. The rank is that of the
/// longest shape; shorter ones broadcast.
std::vector<Value> ops::concat(OpCall &c) {
  E e = E::Bool;
  for (const Value &v : c.operands)
    if (v.isArray() || v.isNumber()) {
      E mine = c.in.elementOf(v);
      e = mine == E::Real || e == E::Real ? E::Real : mine == e ? e : E::Integer;
    }
  llvm::SmallVector<mlir::Value> parts;
  int64_t rank = 0;
  for (size_t i = 0; i < c.operands.size(); ++i) {
    parts.push_back(c.tensor(i, e));
    if (parts.back())
      rank = std::max(rank, tensorType(parts.back()).getRank());
  }
  if (c.bad)
    return poisoned();
  int64_t axis = c.axis(c.attr("axis"), rank);
  if (c.bad)
    return poisoned();
  return {c.in.emit<model::ConcatOp>(c.at, parts, {c.in.intAttr("axis", axis)})};
}

std::vector<Value> ops::pad(OpCall &c) {
  mlir::Value x = c.tensor(0);
  if (!x)
    return poisoned();
  int64_t axis = c.axis(c.attr("axis"), tensorType(x).getRank());
  Size before = c.size("before", 0), after = c.size("after", 0);
  double value = c.real("value", 0);
  if (c.bad)
    return poisoned();
  return {c.in.emit<model::PadOp>(c.at, {x},
                                  {c.in.intAttr("axis", axis), c.in.textAttr("before", before.str()),
                                   c.in.textAttr("after", after.str()), c.in.realAttr("value", value)})};
}

std::vector<Value> ops::gather(OpCall &c) {
  mlir::Value x = c.tensor(0), at = c.tensor(1, E::Integer);
  return c.bad ? poisoned() : std::vector<Value>{c.in.emit<model::GatherOp>(c.at, {x, at})};
}

/// The first name that is on one side of a pattern only, or "".
static std::string unpaired(const model::AxesPattern &axes) {
  auto missing = [](const std::vector<model::PatternGroup> &from, const std::vector<model::PatternGroup> &in) {
    for (const model::PatternGroup &g : from)
      for (const std::string &name : g)
        if (name != "1" && llvm::none_of(in, [&](const model::PatternGroup &o) { return llvm::is_contained(o, name); }))
          return name;
    return std::string();
  };
  std::string left = missing(axes.left, axes.right);
  return left.empty() ? missing(axes.right, axes.left) : left;
}

/// An einops pattern, "b t (h d) -> b h t d". Both sides must name the same axes; `sizes` gives lengths that cannot be
/// divided out of the operand's.
std::vector<Value> ops::rearrange(OpCall &c) {
  mlir::Value x = c.tensor(0);
  Value pattern = c.attr("pattern"), sizes = c.attr("sizes");
  if (pattern.isNull())
    c.fail(Error::MissingAttribute, "needs the attribute 'pattern'");
  else if (!pattern.is(K::String) && !pattern.isBad())
    c.fail(Error::WrongAttribute, c.place("pattern"),
           "a pattern such as \"b t (h d) -> b h t d\" expected, found " + pattern.show());
  if (!sizes.isNull() && !sizes.isBad() && !sizes.is(K::Object))
    c.fail(Error::WrongAttribute, c.place("sizes"), "an object expected, name → length, found " + sizes.show());
  if (c.bad)
    return poisoned();
  std::optional<model::AxesPattern> axes = model::parsePattern(pattern.asString());
  if (!axes) {
    c.fail(Error::BadExpression, c.place("pattern"),
           quote(pattern.asString()) + " is no pattern; \"b t (h d) -> b h t d\" is one");
    return poisoned();
  }
  if (std::string alone = unpaired(*axes); !alone.empty()) {
    c.fail(Error::BadExpression, c.place("pattern"),
           "the two sides of " + quote(pattern.asString()) + " name different axes: " + quote(alone) +
               " is on one of them only");
    return poisoned();
  }
  llvm::SmallVector<mlir::NamedAttribute> lengths;
  if (sizes.is(K::Object))
    for (auto &[name, v] : sizes.asObject()) {
      bool known = llvm::any_of(
          axes->left, [&, &name = name](const model::PatternGroup &g) { return llvm::is_contained(g, name); });
      if (!known)
        c.fail(Error::WrongAttribute, c.place("sizes"),
               "sizes gives " + quote(name) + ", which is not on the left of " + quote(pattern.asString()));
      else if (!v.is(K::Integer) && !v.is(K::Size))
        c.fail(Error::WrongAttribute, c.place("sizes"),
               "the length of " + quote(name) + " should be an integer, found " + v.show());
      else
        lengths.push_back(c.in.textAttr(name, v.asSize().str()));
    }
  if (c.bad)
    return poisoned();
  return {c.in.emit<model::RearrangeOp>(
      c.at, {x},
      {c.in.textAttr("pattern", pattern.asString()), c.in.attr("sizes", c.in.builder.getDictionaryAttr(lengths))})};
}

//===--- positions ------------------------------------------------------------===//

std::vector<Value> ops::sinusoidal(OpCall &c) {
  mlir::Value p = c.tensor(0);
  int64_t width = c.integer("width", std::nullopt, 2);
  bool halves = c.isOther("layout");
  double theta = c.real("theta", 10000);
  if (c.bad)
    return poisoned();
  if (c.in.elementOf(Value::ofIr(K::Tensor, p)) == E::Bool)
    p = c.in.cast(p, E::Integer, c.at);
  Emitter::Attrs attrs = {c.in.intAttr("width", width), c.in.realAttr("theta", theta)};
  if (halves)
    attrs.push_back(c.in.unitAttr("halves"));
  return {c.in.emit<model::SinusoidalOp>(c.at, {p}, attrs)};
}

/// The value of an attribute that is a tensor.
static mlir::Value tensorAttribute(OpCall &c, StringRef name, std::optional<E> e) {
  Value v = c.attr(name);
  if (v.isBad())
    return {};
  if (v.isNull()) {
    c.fail(Error::MissingAttribute, "needs the attribute " + quote(name));
    return {};
  }
  if (!v.isArray() && !v.isNumber() && !v.is(K::Size)) {
    c.fail(Error::WrongAttribute, c.place(name),
           name + " should be a tensor, found " + v.show() +
               (v.is(K::String) ? "; a value is named as \"=" + escaped(v.asString()) + "\"" : ""));
    return {};
  }
  mlir::Value t = e ? c.in.materialize(v, *e, c.place(name)) : c.in.materialize(v, c.place(name));
  c.bad |= !t;
  return t;
}

/// x [B, T, heads·head_width]. Positions and frequencies are attributes that must be tensors; the amplitude is 1 if
/// absent.
std::vector<Value> ops::rotary(OpCall &c) {
  mlir::Value x = c.tensor(0, E::Real);
  mlir::Value positions = tensorAttribute(c, "positions", std::nullopt);
  mlir::Value frequencies = tensorAttribute(c, "frequencies", E::Real);
  int64_t width = c.integer("head_width", std::nullopt, 1);
  bool pairs = c.isOther("style");
  Value amplitude = c.attr("amplitude");
  mlir::Value a;
  if (amplitude.isNull())
    a = c.in.materialize(Value::real(1), c.at);
  else if (!amplitude.isBad())
    a = tensorAttribute(c, "amplitude", E::Real);
  if (c.bad || !a)
    return poisoned();
  Emitter::Attrs attrs = {c.in.intAttr("head_width", width)};
  if (pairs)
    attrs.push_back(c.in.unitAttr("pairs"));
  return {c.in.emit<model::RotaryOp>(c.at, {x, positions, frequencies, a}, attrs)};
}

/// Two lists with one entry for each spatial axis: `size`, lengths of the result, and `scale`, numbers that may depend
/// on lengths and are therefore operands.
std::vector<Value> ops::interpolate(OpCall &c) {
  mlir::Value x = c.tensor(0, E::Real);
  Value size = c.attr("size"), scale = c.attr("scale");
  bool bicubic = c.isOther("method");
  if (size.isNull())
    c.fail(Error::MissingAttribute, "needs the attribute 'size'");
  llvm::SmallVector<StringRef> refs;
  std::vector<std::string> sizes;
  if (size.is(K::List))
    for (const Value &s : size.asList())
      if (s.is(K::Integer) || s.is(K::Size))
        sizes.push_back(s.asSize().str());
  if (!c.bad && (!size.is(K::List) || sizes.size() != size.asList().size()))
    c.fail(Error::WrongAttribute, c.place("size"), "size should be a list of lengths, found " + size.show());
  llvm::SmallVector<mlir::Value> operands = {x};
  if (scale.is(K::List))
    for (const Value &s : scale.asList()) {
      operands.push_back(c.in.materialize(s, E::Real, c.place("scale")));
      c.bad |= !operands.back();
    }
  else if (!scale.isNull() && !scale.isBad())
    c.fail(Error::WrongAttribute, c.place("scale"), "scale should be a list of numbers, found " + scale.show());
  if (c.bad)
    return poisoned();
  refs.assign(sizes.begin(), sizes.end());
  Emitter::Attrs attrs = {c.in.attr("sizes", c.in.builder.getStrArrayAttr(refs))};
  if (bicubic)
    attrs.push_back(c.in.unitAttr("bicubic"));
  return {c.in.emit<model::InterpolateOp>(c.at, operands, attrs)};
}
