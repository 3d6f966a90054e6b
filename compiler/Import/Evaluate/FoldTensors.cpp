// Tensors whose elements are known at import (rotary frequencies, slopes) are computed here in double: nothing is
// rounded before the type of computation is known.
#include "compiler/Import/Evaluate/FoldTensors.h"

#include <cmath>
#include <cstring>

using namespace heddle;
using llvm::StringRef;
using K = Value::Kind;
using E = ConstantTensor::Element;

// The most elements of a folded tensor. Larger ones stay ops, so that the printed IR can be read.
static constexpr int64_t largest = 1 << 16;

/// A number or a constant tensor as a tensor; none for anything else.
static std::optional<ConstantTensor> constantOf(const Value &v) {
  ConstantTensor t;
  switch (v.kind()) {
  case K::Constant: return v.asConstant();
  case K::Bool:
    t.element = E::Bool;
    t.integers = {v.asBool()};
    return t;
  case K::Integer:
    t.element = E::Integer;
    t.integers = {v.asInteger()};
    return t;
  case K::Real: t.reals = {v.asReal()}; return t;
  default: return std::nullopt;
  }
}

namespace {
/// Maps a place in the result to the element of an operand that is broadcast to it, both row-major; axes of length 1
/// have stride 0.
class TensorReader {
public:
  TensorReader(const ConstantTensor &t, llvm::ArrayRef<int64_t> result) {
    int64_t stride = 1;
    strides.assign(result.size(), 0);
    for (size_t i = 0; i < t.shape.size(); ++i) {
      size_t axis = t.shape.size() - 1 - i;
      strides[result.size() - 1 - i] = t.shape[axis] == 1 ? 0 : stride;
      stride *= t.shape[axis];
    }
  }
  size_t at(llvm::ArrayRef<int64_t> place) const {
    size_t offset = 0;
    for (size_t i = 0; i < place.size(); ++i)
      offset += place[i] * strides[i];
    return offset;
  }

private:
  llvm::SmallVector<int64_t, 4> strides;
};
} // namespace

/// The shape that all broadcast to as in numpy; none if they do not, or if it has too many elements.
static std::optional<llvm::SmallVector<int64_t, 4>> broadcastShape(llvm::ArrayRef<const ConstantTensor *> all) {
  llvm::SmallVector<int64_t, 4> out;
  for (const ConstantTensor *t : all)
    if (t->shape.size() > out.size())
      out.insert(out.begin(), t->shape.size() - out.size(), 1);
  for (const ConstantTensor *t : all)
    for (size_t i = 0; i < t->shape.size(); ++i) {
      int64_t n = t->shape[t->shape.size() - 1 - i], &have = out[out.size() - 1 - i];
      if (n != have && n != 1 && have != 1)
        return std::nullopt;
      have = have == 1 ? n : have;
    }
  int64_t count = 1;
  for (int64_t n : out)
    if (__builtin_mul_overflow(count, n, &count) || count > largest)
      return std::nullopt;
  return out;
}

/// Visits the places of a tensor in row-major order.
static void forEachPlace(llvm::ArrayRef<int64_t> shape, llvm::function_ref<void(llvm::ArrayRef<int64_t>)> visit) {
  for (int64_t n : shape)
    if (n == 0)
      return;
  llvm::SmallVector<int64_t, 4> place(shape.size(), 0);
  while (true) {
    visit(place);
    size_t i = shape.size();
    while (i > 0 && ++place[i - 1] == shape[i - 1])
      place[--i] = 0;
    if (i == 0)
      return;
  }
}

static int64_t floorDiv(int64_t a, int64_t b) {
  int64_t q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

/// Element by element: comparisons and logic give truth values, `/`, `**` and anything with a real give reals, the rest
/// is exact in 64 bits. An overflow or a division by zero is left to the op, which computes as the model would.
std::optional<Value> heddle::foldBinary(StringRef op, const Value &a, const Value &b) {
  // Two plain numbers are folded elsewhere; here at least one operand is a tensor.
  if (!a.is(K::Constant) && !b.is(K::Constant))
    return std::nullopt;
  std::optional<ConstantTensor> x = constantOf(a), y = constantOf(b);
  if (!x || !y)
    return std::nullopt;
  auto shape = broadcastShape({&*x, &*y});
  if (!shape)
    return std::nullopt; // the op says what is wrong
  bool comparison = isComparison(op);
  bool logic = op == "and" || op == "or";
  bool real = x->element == E::Real || y->element == E::Real || op == "/" || op == "**";
  ConstantTensor out;
  out.shape = *shape;
  out.element = comparison || logic ? E::Bool : real ? E::Real : E::Integer;
  TensorReader rx(*x, *shape), ry(*y, *shape);
  bool good = true;
  forEachPlace(*shape, [&](llvm::ArrayRef<int64_t> place) {
    size_t i = rx.at(place), j = ry.at(place);
    if (comparison || logic) {
      double p = x->real(i), q = y->real(j);
      out.integers.push_back(op == "=="    ? p == q
                             : op == "!="  ? p != q
                             : op == "<"   ? p < q
                             : op == "<="  ? p <= q
                             : op == ">"   ? p > q
                             : op == ">="  ? p >= q
                             : op == "and" ? p != 0 && q != 0
                                           : p != 0 || q != 0);
      return;
    }
    // One operand is real, or the operator makes reals of integers: in double.
    if (real) {
      double p = x->real(i), q = y->real(j), r = 0;
      if (op == "+")
        r = p + q;
      else if (op == "-")
        r = p - q;
      else if (op == "*")
        r = p * q;
      else if (op == "/")
        r = p / q;
      else if (op == "//")
        r = std::floor(p / q);
      else if (op == "%")
        r = p - q * std::floor(p / q);
      else if (op == "**")
        r = std::pow(p, q);
      else if (op == "min")
        r = p < q ? p : q;
      else
        r = p > q ? p : q;
      out.reals.push_back(r);
      return;
    }
    // Integers, exact.
    int64_t p = x->integers[i], q = y->integers[j], r = 0;
    if (op == "+")
      good &= !__builtin_add_overflow(p, q, &r);
    else if (op == "-")
      good &= !__builtin_sub_overflow(p, q, &r);
    else if (op == "*")
      good &= !__builtin_mul_overflow(p, q, &r);
    else if (op == "min")
      r = std::min(p, q);
    else if (op == "max")
      r = std::max(p, q);
    else if (q == 0 || q == -1)
      good = false; // left to the op: division by zero, overflow
    else
      r = op == "//" ? floorDiv(p, q) : p - q * floorDiv(p, q);
    out.integers.push_back(r);
  });
  return good ? std::optional<Value>(Value::constant(std::move(out))) : std::nullopt;
}

/// A function of each element; `floor`, `ceil` and the like of integers give reals, as the op does.
std::optional<Value> heddle::foldUnary(StringRef name, const Value &v) {
  if (!v.is(K::Constant))
    return std::nullopt;
  const ConstantTensor &x = v.asConstant();
  ConstantTensor out;
  out.shape = x.shape;
  size_t n = x.count();
  if (name == "not") {
    out.element = E::Bool;
    for (size_t i = 0; i < n; ++i)
      out.integers.push_back(x.real(i) == 0);
    return Value::constant(std::move(out));
  }
  if (x.element != E::Real && (name == "neg" || name == "abs" || name == "int")) {
    out.element = E::Integer;
    for (int64_t i : x.integers) {
      if (i == INT64_MIN)
        return std::nullopt;
      out.integers.push_back(name == "neg" ? -i : name == "abs" ? std::llabs(i) : i);
    }
    return Value::constant(std::move(out));
  }
  if (name == "int")
    return std::nullopt;
  for (size_t i = 0; i < n; ++i) {
    double p = x.real(i), r = p;
    if (name == "neg")
      r = -p;
    else if (name == "abs")
      r = std::fabs(p);
    else if (name == "sqrt")
      r = std::sqrt(p);
    else if (name == "exp")
      r = std::exp(p);
    else if (name == "log")
      r = std::log(p);
    else if (name == "sin")
      r = std::sin(p);
    else if (name == "cos")
      r = std::cos(p);
    else if (name == "floor")
      r = std::floor(p);
    else if (name == "ceil")
      r = std::ceil(p);
    else if (name != "real")
      return std::nullopt;
    out.reals.push_back(r);
  }
  return Value::constant(std::move(out));
}

/// c ? a : b element by element, broadcast.
std::optional<Value> heddle::foldSelect(const Value &c, const Value &a, const Value &b) {
  std::optional<ConstantTensor> z = constantOf(c), x = constantOf(a), y = constantOf(b);
  if (!z || !x || !y)
    return std::nullopt;
  auto shape = broadcastShape({&*z, &*x, &*y});
  if (!shape)
    return std::nullopt;
  ConstantTensor out;
  out.shape = *shape;
  bool real = x->element == E::Real || y->element == E::Real;
  out.element = real ? E::Real : x->element == E::Bool && y->element == E::Bool ? E::Bool : E::Integer;
  TensorReader rz(*z, *shape), rx(*x, *shape), ry(*y, *shape);
  forEachPlace(*shape, [&](llvm::ArrayRef<int64_t> place) {
    bool yes = z->real(rz.at(place)) != 0;
    const ConstantTensor &from = yes ? *x : *y;
    size_t i = yes ? rx.at(place) : ry.at(place);
    if (real)
      out.reals.push_back(from.real(i));
    else
      out.integers.push_back(from.integers[i]);
  });
  return Value::constant(std::move(out));
}

/// Subscripts of a constant: a view is described by an offset and a stride for each axis of the result, and copied. An
/// index that is out of range is left to the op, which reports it.
std::optional<Value> heddle::foldSubscript(const Value &v, llvm::ArrayRef<Sub> subs) {
  if (!v.is(K::Constant))
    return std::nullopt;
  const ConstantTensor &x = v.asConstant();
  // begin and stride of each axis of the result, in the operand's own elements
  llvm::SmallVector<int64_t, 4> strides(x.shape.size(), 1), shape, step;
  for (size_t i = x.shape.size(); i-- > 1;)
    strides[i - 1] = strides[i] * x.shape[i];
  int64_t offset = 0;
  size_t axis = 0;
  for (const Sub &s : subs) {
    if (s.kind == Sub::Kind::Axis) {
      shape.push_back(1);
      step.push_back(0);
      continue;
    }
    if (axis >= x.shape.size())
      return std::nullopt;
    for (const Value *b : {&s.first, &s.last})
      if (!b->isNull() && !b->is(K::Integer))
        return std::nullopt;
    int64_t n = x.shape[axis];
    auto place = [&](const Value &b, int64_t open) {
      int64_t i = b.isNull() ? open : b.asInteger();
      return std::clamp<int64_t>(i < 0 ? i + n : i, 0, n);
    };
    int64_t from = place(s.first, 0);
    if (s.kind == Sub::Kind::Index) {
      if (s.first.asInteger() < -n || s.first.asInteger() >= n)
        return std::nullopt; // the op says what is wrong
    } else {
      shape.push_back(std::max<int64_t>(place(s.last, n) - from, 0));
      step.push_back(strides[axis]);
    }
    offset += from * strides[axis];
    ++axis;
  }
  // Axes without a subscript stay whole.
  for (; axis < x.shape.size(); ++axis) {
    shape.push_back(x.shape[axis]);
    step.push_back(strides[axis]);
  }
  ConstantTensor out;
  out.element = x.element;
  out.shape = shape;
  forEachPlace(shape, [&](llvm::ArrayRef<int64_t> place) {
    size_t i = offset;
    for (size_t k = 0; k < place.size(); ++k)
      i += place[k] * step[k];
    if (x.element == E::Real)
      out.reals.push_back(x.reals[i]);
    else
      out.integers.push_back(x.integers[i]);
  });
  return Value::constant(std::move(out));
}
