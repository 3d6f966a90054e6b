// Reads the attributes, operands and weights of a call, and reports what was expected where one does not fit.
#include "compiler/Import/Ops/OpCall.h"

#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace heddle;
using llvm::StringRef;
using llvm::Twine;
using K = Value::Kind;

At OpCall::place(StringRef name) const {
  const AttrSpec *a = spec.attribute(name);
  return a ? At{in.places.of(*a->value).loc, spec.json} : at;
}

Diagnostic &OpCall::fail(Error code, At where, const Twine &message) {
  bad = true;
  return in.error(code, where, Twine(spec.name) + ": " + message);
}

/// The call's own attribute, else the default in force; null counts as not given.
Value OpCall::attr(StringRef name) {
  if (const AttrSpec *a = spec.attribute(name)) {
    Value v = evaluator.value(*a->value, scope);
    if (v.isBad()) {
      bad = true;
      return v;
    }
    if (!v.isNull())
      return v;
  }
  // Of a block of the file with the op's name `defaults` speaks, not of the op inside of it.
  Value v = body.doc.block(spec.name) ? Value::null() : body.defaultOf(spec.name, name);
  bad |= v.isBad();
  return v;
}

std::string OpCall::shown(const Value &v) const {
  return v.show() + (v.is(K::String) ? evaluator.meantExpression(v.asString(), scope) : "");
}

/// After an error the result is a number that does no harm; `bad` keeps the op from being made.
int64_t OpCall::integer(StringRef name, std::optional<int64_t> fallback, int64_t least) {
  Value v = attr(name);
  if (v.isBad())
    return fallback.value_or(1);
  if (v.isNull()) {
    if (!fallback)
      fail(Error::MissingAttribute, "needs the attribute " + quote(name));
    return fallback.value_or(1);
  }
  if (!v.is(K::Integer)) {
    fail(Error::WrongAttribute, place(name), name + " should be an integer, found " + shown(v));
    return fallback.value_or(1);
  }
  if (v.asInteger() < least)
    fail(Error::WrongAttribute, place(name), name + " should be at least " + Twine(least) + ", found " + v.show());
  return v.asInteger();
}

std::optional<int64_t> OpCall::optionalInteger(StringRef name) {
  Value v = attr(name);
  if (v.isBad() || v.isNull())
    return std::nullopt;
  if (v.is(K::Integer))
    return v.asInteger();
  // An assert may be the result of a division that went through reals.
  if (v.is(K::Real) && v.asReal() == std::floor(v.asReal()) && std::fabs(v.asReal()) < 1e15)
    return static_cast<int64_t>(v.asReal());
  fail(Error::WrongAttribute, place(name), name + " should be an integer, found " + shown(v));
  return std::nullopt;
}

double OpCall::real(StringRef name, double fallback) {
  Value v = attr(name);
  if (v.isBad() || v.isNull())
    return fallback;
  if (v.isNumber())
    return v.asReal();
  fail(Error::WrongAttribute, place(name), name + " should be a number, found " + shown(v));
  return fallback;
}

double OpCall::epsilon(double fallback) {
  double eps = real("eps", fallback);
  if (!(eps > 0 && std::isfinite(eps)))
    fail(Error::WrongAttribute, place("eps"), "eps should be a number above 0, found " + Value::real(eps).show());
  return eps;
}

bool OpCall::flag(StringRef name, bool fallback) {
  Value v = attr(name);
  if (v.isBad() || v.isNull())
    return fallback;
  if (v.is(K::Bool))
    return v.asBool();
  fail(Error::WrongAttribute, place(name), name + " should be true or false, found " + shown(v));
  return fallback;
}

bool OpCall::isOther(StringRef name) {
  const AttrInfo *info = spec.op->attribute(name);
  Value v = attr(name);
  if (v.isBad() || v.isNull())
    return false;
  if (v.is(K::String) && llvm::is_contained(info->choices, v.asString()))
    return v.asString() != info->choices[0];
  fail(Error::WrongAttribute, place(name),
       name + " is " + llvm::join(info->choices, " or ") + ", found " + v.show() +
           (v.is(K::String) ? nearest(v.asString(), info->choices) : ""));
  return false;
}

model::Size OpCall::size(StringRef name, std::optional<int64_t> fallback) {
  Value v = attr(name);
  if (v.is(K::Integer) || v.is(K::Size))
    return v.asSize();
  if (v.isNull() && !fallback)
    fail(Error::MissingAttribute, "needs the attribute " + quote(name));
  else if (!v.isNull() && !v.isBad())
    fail(Error::WrongAttribute, place(name), name + " should be an integer or a length, found " + shown(v));
  return model::Size(fallback.value_or(0));
}

std::vector<int64_t> OpCall::integers(StringRef name, size_t n, int64_t fallback) {
  Value v = attr(name);
  if (v.isBad() || v.isNull())
    return std::vector<int64_t>(n, fallback);
  if (v.is(K::Integer))
    return std::vector<int64_t>(n, v.asInteger());
  std::vector<int64_t> out;
  if (v.is(K::List))
    for (const Value &x : v.asList())
      if (x.is(K::Integer))
        out.push_back(x.asInteger());
  if (!v.is(K::List) || out.size() != v.asList().size() || out.size() != n) {
    fail(Error::WrongAttribute, place(name),
         name + " should be an integer or a list of " + Twine(n) + ", found " + shown(v));
    return std::vector<int64_t>(n, fallback);
  }
  return out;
}

mlir::Value OpCall::tensor(size_t i) {
  if (operands[i].isBad())
    return bad = true, mlir::Value();
  return tensor(i, in.elementOf(operands[i]));
}

mlir::Value OpCall::tensor(size_t i, Emitter::Element e) {
  const Value &v = operands[i];
  if (v.isBad())
    return bad = true, mlir::Value();
  At where = i < spec.operands.size() ? At{spec.operands[i]->loc, spec.json} : at;
  if (v.is(K::Mask) || v.is(K::Bias)) {
    fail(Error::WrongValue, where, "a tensor expected, found " + v.show());
    return {};
  }
  mlir::Value t = in.materialize(v, e, where);
  bad |= !t;
  return t;
}

int64_t OpCall::axis(const Value &v, int64_t rank) {
  if (!v.is(K::Integer)) {
    if (v.isNull())
      fail(Error::MissingAttribute, "needs the attribute 'axis'");
    else if (!v.isBad())
      fail(Error::WrongAttribute, place("axis"), "axis should be an integer, found " + shown(v));
    return 0;
  }
  int64_t a = v.asInteger();
  if (a < -rank || a >= rank) {
    fail(Error::OutOfRange, place("axis"),
         "axis " + Twine(a) + " does not exist in a tensor of " + Twine(rank) + " axes");
    return 0;
  }
  return a < 0 ? a + rank : a;
}

//===--- weights --------------------------------------------------------------===//

bool OpCall::isOff(StringRef kind) {
  Value v = attr(kind);
  return v.is(K::Bool) && !v.asBool();
}

/// A part of the op that is read from the file. `weight` and `bias` may be named by the attribute of that name, or be a
/// tensor; otherwise, and for other parts such as running_mean, the name is that of `weights` with the part after it.
/// The name is looked up in the scope in force. Without a file shapes are invented (heddle mask) or the absence is told
/// once; a name that the file lacks is noted and told with the others at the end.
mlir::Value OpCall::weight(StringRef kind) {
  bool mayBeGiven = kind == "weight" || kind == "bias";
  const AttrSpec *given = mayBeGiven ? spec.attribute(kind) : nullptr;
  std::optional<std::string> name;
  if (given && given->value->isString() && !given->value->isExpression()) {
    name = evaluator.fill(*given->value, scope);
    if (!name)
      return bad = true, mlir::Value();
  } else if (mayBeGiven) {
    Value v = attr(kind);
    if (v.isBad())
      return {};
    if (v.isArray())
      return in.materialize(v, place(kind));
    if (v.is(K::String)) {
      name = v.asString();
    } else if (!v.isNull() && !(v.is(K::Bool) && kind == "bias")) {
      fail(Error::WrongAttribute, place(kind), kind + " should be the name of a weight or a tensor, found " + v.show());
      return {};
    }
  }
  // The usual case: `weights` and the part's own name.
  if (!name) {
    std::string base;
    if (const AttrSpec *w = spec.attribute("weights"); w && w->value->isString()) {
      std::optional<std::string> filled = evaluator.fill(*w->value, scope);
      if (!filled)
        return bad = true, mlir::Value();
      base = *filled;
    }
    name = joinName(base, kind);
  }
  auto read = [&](llvm::ArrayRef<int64_t> shape, mlir::Type element, StringRef from) {
    llvm::SmallVector<model::Size> sizes(shape.begin(), shape.end());
    mlir::Type type = model::ModelTensorType::get(&in.context, sizes, element);
    return in.param(at, from, type);
  };
  // No file at all.
  if (!body.weights.names()) {
    if (std::optional<std::vector<int64_t>> shape =
            body.session.options.weightsInvented ? inventedShape(kind) : std::nullopt)
      return read(*shape, in.builder.getF32Type(), joinName(weights, *name));
    bad = true;
    if (body.weights.tellAbsence() || body.session.options.weightsInvented)
      in.error(Error::WeightsUnknown, at,
               body.session.options.weightsInvented
                   ? Twine(spec.name) + ": the shape of " + escaped(joinName(weights, *name)) +
                         " is known from the weights alone"
                   : Twine(spec.name) + ": reads weights, and the description names no file; "
                                        "\"weights\": \"FILE\" or --weights=FILE");
    return {};
  }
  std::string why, absent;
  std::optional<WeightNames::Found> found =
      body.weights.names()->get(joinName(weights, *name), why, in.places.shown(at).loc, &absent);
  if (!found) {
    if (absent.empty())
      fail(Error::WeightTwice, why);
    else
      return missing(kind, absent, why);
    return {};
  }
  in.weightsRead += (in.weightsRead.empty() ? "" : ", ") + escaped(body.weights.stored()->nameInFile(found->name)) +
                    " is " + shapeText(found->tensor.shape);
  if (auto *needed = body.session.options.needed) {
    std::string stored = body.weights.stored()->storage(found->name).type; // "F32 [8, 24]", "gguf Q4_K [8, 256]"
    StringRef type = StringRef(stored).split(" [").first;
    type.consume_front("gguf ");
    needed->push_back({found->name, found->tensor.shape, type.str(), /*stored=*/true});
  }
  if (kind == "weight") {
    weightShape = found->tensor.shape;
    rowsAreOutputs = found->tensor.rowsAreOutputs;
  }
  mlir::Type e = found->tensor.element == WeightTable::Element::Real   ? mlir::Type(in.builder.getF32Type())
                 : found->tensor.element == WeightTable::Element::Bool ? mlir::Type(in.builder.getI1Type())
                                                                       : mlir::Type(in.builder.getI64Type());
  return read(found->tensor.shape, e, found->name);
}

mlir::Value OpCall::realWeight(StringRef kind) {
  mlir::Value v = weight(kind);
  // Whole numbers in the place of reals are a quantised file's, and what they count in is elsewhere.
  if (auto read = v ? v.getDefiningOp<model::ParamOp>() : nullptr;
      read && llvm::cast<model::ModelTensorType>(v.getType()).getElementType().isInteger(64)) {
    fail(
        Error::WrongElement,
        escaped(read.getName()) +
            " holds integers where real numbers are read, as quantised weights do; Heddle reads F64, F32, F16 and BF16: "
            "take the checkpoint that it was made from");
    return {};
  }
  return v ? in.cast(v, Emitter::Element::Real, at) : v;
}
