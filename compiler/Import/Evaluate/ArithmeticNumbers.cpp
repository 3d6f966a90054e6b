// Arithmetic on constants and on lengths, and the functions of expressions. Integers are exact: a result beyond 64 bits
// is an error, never a rounded number. Lengths are polynomials over dims (model::Size) and stay so where they can.
#include "compiler/Import/Description/OpTable.h"
#include "compiler/Import/Evaluate/Arithmetic.h"
#include "compiler/Import/Evaluate/EmitTemplates.h"
#include "compiler/Import/Evaluate/FoldTensors.h"

#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace heddle;
using heddle::model::Size;
using llvm::StringRef;
using llvm::Twine;
using K = Value::Kind;

/// a op b for a comparison; integers are not made real for it.
template <typename T> static bool compare(StringRef op, T a, T b) {
  return op == "=="   ? a == b
         : op == "!=" ? a != b
         : op == "<"  ? a < b
         : op == "<=" ? a <= b
         : op == ">"  ? a > b
                      : a >= b;
}

/// Integers to integers; none when the result does not fit 64 bits.
static std::optional<int64_t> exact(StringRef op, int64_t a, int64_t b) {
  int64_t r = 0;
  bool overflow = false;
  if (op == "+")
    overflow = __builtin_add_overflow(a, b, &r);
  else if (op == "-")
    overflow = __builtin_sub_overflow(a, b, &r);
  else if (op == "*")
    overflow = __builtin_mul_overflow(a, b, &r);
  else if (op == "//" || op == "%") { // towards minus infinity; b is not 0
    if (a == INT64_MIN && b == -1)
      return op == "%" ? std::optional<int64_t>(0) : std::nullopt;
    int64_t q = a / b;
    if (a % b != 0 && (a < 0) != (b < 0))
      --q;
    r = op == "//" ? q : a - q * b;
  } else { // ** with b >= 0
    r = 1;
    for (int64_t base = a; b > 0; b >>= 1) {
      if (b & 1)
        overflow |= __builtin_mul_overflow(r, base, &r);
      if (b > 1)
        overflow |= __builtin_mul_overflow(base, base, &base);
      if (overflow)
        return std::nullopt;
    }
  }
  return overflow ? std::nullopt : std::optional<int64_t>(r);
}

/// Two numbers. Integers give an integer wherever the result is one (4 / 2, but not 1 / 2 or 2 ** -1), else a real;
/// `//` and `%` round towards minus infinity, as in Python. Division by zero and infinite results are errors.
Value Arithmetic::numbers(StringRef op, const Value &a, const Value &b, At at) {
  bool integers = a.is(K::Integer) && b.is(K::Integer);
  if (isComparison(op))
    return Value::boolean(integers ? compare(op, a.asInteger(), b.asInteger()) : compare(op, a.asReal(), b.asReal()));
  if ((op == "/" || op == "//" || op == "%") && b.asReal() == 0) {
    in.error(Error::BadArithmetic, at, "division by zero: " + Twine(a.show()) + " " + op + " " + b.show());
    return Value::poison();
  }
  // 4 / 2 is an integer, 1 / 2 is not.
  bool divides = op == "/" && integers && !(a.asInteger() == INT64_MIN && b.asInteger() == -1) &&
                 a.asInteger() % b.asInteger() == 0;
  if (integers && (op != "/" || divides) && !(op == "**" && b.asInteger() < 0)) {
    if (std::optional<int64_t> r = exact(op == "/" ? "//" : op, a.asInteger(), b.asInteger()))
      return Value::integer(*r);
    in.error(Error::BadArithmetic, at,
             "the result of " + Twine(a.show()) + " " + op + " " + b.show() + " does not fit 64 bits");
    return Value::poison();
  }
  double x = a.asReal(), y = b.asReal(), r = 0;
  if (op == "+")
    r = x + y;
  else if (op == "-")
    r = x - y;
  else if (op == "*")
    r = x * y;
  else if (op == "/")
    r = x / y;
  else if (op == "//")
    r = std::floor(x / y);
  else if (op == "%")
    r = x - y * std::floor(x / y);
  else if (op == "**")
    r = std::pow(x, y);
  if (!std::isfinite(r) && std::isfinite(x) && std::isfinite(y)) {
    in.error(Error::BadArithmetic, at,
             "the result of " + Twine(a.show()) + " " + op + " " + b.show() + " is no finite number");
    return Value::poison();
  }
  return Value::real(r);
}

/// Lengths, at least one of which has dims in it. A result that is a length again (T + 1, T // 2) stays one and may be
/// the size of an axis; any other (T < 5, T / 3) becomes ops on scalars, computed when the model runs.
Value Arithmetic::lengths(StringRef op, const Value &a, const Value &b, At at) {
  bool whole = !a.is(K::Real) && !b.is(K::Real);
  constexpr int64_t limit = int64_t(1) << 40; // forms are multiplied without checks
  for (const Value *v : {&a, &b})
    if (v->is(K::Integer) && (v->asInteger() > limit || v->asInteger() < -limit)) {
      in.error(Error::OutOfRange, at, "a length has at most 2**40, found " + Twine(v->show()));
      return Value::poison();
    }
  if (whole) {
    Size x = a.asSize(), y = b.asSize();
    if (op == "+")
      return Value::size(x + y);
    if (op == "-")
      return Value::size(x - y);
    if (op == "*")
      return Value::size(x * y);
    if (op == "//" || op == "%") {
      if (y.is(0)) {
        in.error(Error::BadArithmetic, at, "division by zero");
        return Value::poison();
      }
      return Value::size(op == "//" ? x.floorDiv(y) : x.mod(y));
    }
    if (op == "/")
      if (std::optional<Size> q = y.is(0) ? std::nullopt : x.exactDiv(y))
        return Value::size(*q);
    if (op == "**" && b.is(K::Integer) && b.asInteger() >= 0 && b.asInteger() <= 4) {
      Size r = 1;
      for (int64_t i = 0; i < b.asInteger(); ++i)
        r = r * x;
      return Value::size(r);
    }
    if (isComparison(op))
      if (std::optional<int64_t> d = (x - y).constant())
        return Value::boolean(compare<int64_t>(op, *d, 0));
  }
  return tensors(op, a, b, at);
}

//===--- functions ------------------------------------------------------------===//

/// Calls a function of expressions. The number of arguments was checked by the caller (Evaluator::call).
Value Arithmetic::function(const FunctionInfo &f, llvm::ArrayRef<Value> args, At at) {
  StringRef name = f.name;
  int n = args.size();
  if (f.group == "masks")
    return maskFunction(name, args, at);
  if (name == "activation")
    return activation(args[0], canonicalActivation(args[1].asString()), at);
  if (f.group == "activations")
    return activation(args[0], name, at);
  if (name == "range")
    return rangeOf(args, at);
  if (name == "size")
    return sizeOf(args[0], args[1], at);
  if (name == "len")
    return lengthOf(args[0], at);
  if (name == "each")
    return eachOf(args[0], args[1], at);
  if (name == "min" || name == "max") {
    Value r = args.back();
    for (int i = n - 2; i >= 0 && !r.isBad(); --i)
      r = minMax(name == "max", args[i], r, at);
    if (n == 1 && !r.isNumber() && !r.isArray() && !r.is(K::Size)) {
      in.error(Error::WrongValue, at, name + ": a number or a tensor expected, found " + Twine(r.show()));
      return Value::poison();
    }
    return r;
  }
  if (name == "clip") {
    Value low = minMax(true, args[0], args[1], at);
    return low.isBad() ? low : minMax(false, low, args[2], at);
  }
  return mathFunction(name, args[0], at);
}

/// `len(x)`: items of a list, members of an object, bytes of a string.
Value Arithmetic::lengthOf(const Value &x, At at) {
  if (x.is(K::List))
    return Value::integer(x.asList().size());
  if (x.is(K::Object))
    return Value::integer(x.asObject().size());
  if (x.is(K::String))
    return Value::integer(x.asString().size());
  in.error(Error::WrongValue, at, "len: a list expected, found " + Twine(x.show()));
  return Value::poison();
}

/// `each(x, n)`: a list of n is itself, one thing becomes n of it, for keys of config.json that are a number or a list.
Value Arithmetic::eachOf(const Value &x, const Value &count, At at) {
  if (!count.is(K::Integer) || count.asInteger() < 0 || count.asInteger() > 10000) {
    in.error(Error::OutOfRange, at, "each: a count of 0 to 10000 expected, found " + Twine(count.show()));
    return Value::poison();
  }
  size_t n = count.asInteger();
  if (x.is(K::List) && x.asList().size() == n)
    return x;
  if (x.isNumber() || x.is(K::Bool) || x.is(K::String))
    return Value::list(std::vector<Value>(n, x));
  in.error(Error::WrongValue, at, "one number or a list of " + Twine(n) + " expected, found " + x.show());
  return Value::poison();
}

Value Arithmetic::minMax(bool isMax, const Value &a, const Value &b, At at) {
  auto isElement = [](const Value &v) { return v.isNumber() || v.isArray() || v.is(K::Size); };
  if (!isElement(a) || !isElement(b)) {
    in.error(Error::WrongValue, at, "numbers or tensors expected, found " + Twine(a.show()) + " and " + b.show());
    return Value::poison();
  }
  if (a.isNumber() && b.isNumber())
    return (a.asReal() < b.asReal()) == isMax ? b : a;
  bool forms = !a.isArray() && !b.isArray() && !a.is(K::Real) && !b.is(K::Real);
  if (forms)
    return Value::size(isMax ? Size::max(a.asSize(), b.asSize()) : Size::min(a.asSize(), b.asSize()));
  return tensors(isMax ? "max" : "min", a, b, at);
}

/// `range(to)` or `range(from, to)`: i64[to - from]. A constant where both ends are known and it is short, else an op.
Value Arithmetic::rangeOf(llvm::ArrayRef<Value> args, At at) {
  for (const Value &v : args)
    if (!v.is(K::Integer) && !v.is(K::Size)) {
      in.error(Error::WrongValue, at, "range: an integer or a length expected, found " + Twine(v.show()));
      return Value::poison();
    }
  Size from = args.size() == 2 ? args[0].asSize() : Size(0), to = args.back().asSize();
  std::optional<int64_t> n = (to - from).constant(), first = from.constant();
  constexpr int64_t largest = 1 << 16; // longer ones are made when the model runs
  if (n && first && *n <= largest) {
    ConstantTensor t;
    t.element = ConstantTensor::Element::Integer;
    t.shape = {std::max<int64_t>(*n, 0)};
    for (int64_t i = 0; i < *n; ++i)
      t.integers.push_back(*first + i);
    return Value::constant(std::move(t));
  }
  return in.emit<model::RangeOp>(at, {}, {in.textAttr("from", from.str()), in.textAttr("to", to.str())});
}

/// `size(x, axis)`: the length of an axis, counted from the end if negative.
Value Arithmetic::sizeOf(const Value &x, const Value &axis, At at) {
  if (!axis.is(K::Integer)) {
    in.error(Error::WrongValue, at, "size: a constant axis expected, found " + Twine(axis.show()));
    return Value::poison();
  }
  if (!x.isArray()) {
    in.error(Error::WrongValue, at, "size: a tensor expected, found " + Twine(x.show()));
    return Value::poison();
  }
  llvm::SmallVector<Size> sizes;
  if (x.is(K::Tensor))
    sizes = tensorType(x.asIr()).getSizes();
  else
    sizes.append(x.asConstant().shape.begin(), x.asConstant().shape.end());
  int64_t n = sizes.size(), i = axis.asInteger();
  if (i < -n || i >= n) {
    in.error(Error::OutOfRange, at, "axis " + Twine(i) + " does not exist in " + x.show());
    return Value::poison();
  }
  return Value::size(sizes[i < 0 ? i + n : i]);
}

/// Of a constant number; none when the function has no real value there.
static std::optional<double> applyReal(StringRef f, double x) {
  double r = NAN;
  if (f == "sqrt")
    r = std::sqrt(x);
  else if (f == "exp")
    r = std::exp(x);
  else if (f == "log")
    r = x > 0 ? std::log(x) : NAN;
  else if (f == "sin")
    r = std::sin(x);
  else if (f == "cos")
    r = std::cos(x);
  else if (f == "bf16") {
    float y = static_cast<float>(x);
    uint32_t u;
    memcpy(&u, &y, 4);
    u = (u + 0x7fff + ((u >> 16) & 1)) & 0xffff0000u;
    memcpy(&y, &u, 4);
    r = y;
  }
  return std::isfinite(r) ? std::optional<double>(r) : std::nullopt;
}

/// `real([..])`: a list of numbers, most often from config.json, as a constant tensor with one axis.
Value Arithmetic::listAsTensor(const Value &list, At at) {
  ConstantTensor t;
  t.shape = {static_cast<int64_t>(list.asList().size())};
  for (const Value &x : list.asList()) {
    if (!x.isNumber()) {
      in.error(Error::WrongValue, at, "real: a list of numbers expected, found " + Twine(x.show()) + " in it");
      return Value::poison();
    }
    t.reals.push_back(x.asReal());
  }
  if (t.reals.empty() || t.reals.size() > 65536) {
    in.error(Error::OutOfRange, at, "real: a list of 1 to 65536 numbers expected, found " + Twine(t.reals.size()));
    return Value::poison();
  }
  return Value::constant(std::move(t));
}

/// A function of one number or, elementwise, of a tensor: the group `arithmetic` of OpTable, and `neg`. Constants are
/// computed here in double; of other tensors it becomes a `model.unary` on reals. abs and neg keep integers.
Value Arithmetic::mathFunction(StringRef name, const Value &x, At at) {
  if (x.is(K::Bool) && (name == "int" || name == "real"))
    return name == "int" ? Value::integer(x.asBool()) : Value::real(x.asBool());
  // Constants.
  if (x.isNumber()) {
    if (name == "real")
      return Value::real(x.asReal());
    if (name == "abs")
      return x.is(K::Real)       ? Value::real(std::fabs(x.asReal()))
             : x.asInteger() < 0 ? numbers("-", Value::integer(0), x, at)
                                 : x;
    if (name == "int" || name == "floor" || name == "ceil") {
      if (x.is(K::Integer))
        return x;
      double r = name == "int"     ? std::trunc(x.asReal())
                 : name == "floor" ? std::floor(x.asReal())
                                   : std::ceil(x.asReal());
      if (std::fabs(r) < 9e18)
        return Value::integer(static_cast<int64_t>(r));
      in.error(Error::BadArithmetic, at, name + " of " + Twine(x.show()) + " does not fit 64 bits");
      return Value::poison();
    }
    if (std::optional<double> r = applyReal(name, x.asReal()))
      return Value::real(*r);
    in.error(Error::BadArithmetic, at, name + " of " + Twine(x.show()) + " is no finite number");
    return Value::poison();
  }
  if (x.is(K::Size) && name == "int")
    return x;
  if (x.is(K::List) && name == "real") // a list of config.json as a tensor
    return listAsTensor(x, at);
  if (!x.isArray() && !x.is(K::Size)) {
    in.error(Error::WrongValue, at, name + ": a number or a tensor expected, found " + Twine(x.show()));
    return Value::poison();
  }
  // Tensors: folded if constant, else an op. int and real are casts.
  if (std::optional<Value> folded = foldUnary(name, x))
    return *folded;
  mlir::Value v = in.materialize(x, at);
  if (name == "int" || name == "real") {
    v = in.cast(v, name == "int" ? Element::Integer : Element::Real, at);
    return v ? Value::ofIr(K::Tensor, v) : Value::poison();
  }
  bool keeps = (name == "abs" || name == "neg") && in.elementOf(x) == Element::Integer;
  if (name == "neg" && in.elementOf(x) == Element::Bool)
    v = in.cast(v, Element::Integer, at);
  else if (!keeps)
    v = in.cast(v, Element::Real, at);
  std::optional<model::UnaryKind> kind = model::symbolizeUnaryKind(name);
  if (!v || !kind)
    return Value::poison();
  return in.emit<model::UnaryOp>(at, {v}, {in.attr("kind", model::UnaryKindAttr::get(&in.context, *kind))});
}

/// An activation as an op, elementwise on reals; `linear` is no op at all.
Value Arithmetic::activation(const Value &x, StringRef name, At at) {
  if (!x.isArray() && !x.isNumber() && !x.is(K::Size)) {
    in.error(Error::WrongValue, at, name + ": a tensor expected, found " + Twine(x.show()));
    return Value::poison();
  }
  mlir::Value v = in.materialize(x, Element::Real, at);
  if (!v)
    return Value::poison();
  if (name == "linear")
    return Value::ofIr(K::Tensor, v);
  std::optional<model::UnaryKind> kind = model::symbolizeUnaryKind(name);
  if (!kind)
    return Value::poison();
  return in.emit<model::UnaryOp>(at, {v}, {in.attr("kind", model::UnaryKindAttr::get(&in.context, *kind))});
}
