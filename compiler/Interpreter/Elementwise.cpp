//===- Elementwise.cpp - functions of one element at a time ---------------===//

#include "compiler/Interpreter/Evaluator.h"
#include "compiler/Weights/Files/StoredType.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>
#include <cstring>
#include <limits>

using namespace mlir;
using namespace heddle;
using namespace heddle::evaluation;
using model::BinaryKind;
using model::UnaryKind;

/// Rounds to bf16: nearest, ties to even; a NaN stays a NaN.
static double throughBf16(double x) {
  float f = float(x);
  if (std::isnan(f))
    return f;
  uint32_t bits;
  std::memcpy(&bits, &f, 4);
  bits = (bits + 0x7fff + ((bits >> 16) & 1)) & 0xffff0000u;
  std::memcpy(&f, &bits, 4);
  return f;
}

/// Rounds to f16; what is beyond 65504 becomes infinite.
static double throughF16(double x) {
  uint16_t half = toF16(float(x));
  uint8_t bytes[] = {uint8_t(half), uint8_t(half >> 8)};
  float back;
  widenToF32(StoredType::F16, bytes, back);
  return back;
}

double evaluation::roundedTo(model::Stored stored, double x) {
  return stored == model::Stored::f32 ? x : stored == model::Stored::f16 ? throughF16(x) : throughBf16(x);
}

TensorRef evaluation::rounded(const Evaluator &e, Value v, model::Stored stored) {
  if (stored == model::Stored::f32)
    return e.ref(v);
  auto t = std::make_shared<Tensor>(e.tensor(v));
  for (double &x : t->reals)
    x = roundedTo(stored, x);
  return t;
}

double evaluation::apply(UnaryKind kind, double x) {
  auto sigmoid = [](double y) { return 1 / (1 + std::exp(-y)); };
  auto relu = [](double y) { return y > 0 || std::isnan(y) ? y : 0.0; }; // of -0 it is 0
  switch (kind) {
  case UnaryKind::neg: return -x;
  case UnaryKind::abs: return std::fabs(x);
  case UnaryKind::sqrt: return std::sqrt(x);
  case UnaryKind::exp: return std::exp(x);
  case UnaryKind::log: return std::log(x);
  case UnaryKind::sin: return std::sin(x);
  case UnaryKind::cos: return std::cos(x);
  case UnaryKind::floor: return std::floor(x);
  case UnaryKind::ceil: return std::ceil(x);
  case UnaryKind::tanh: return std::tanh(x);
  case UnaryKind::sigmoid: return sigmoid(x);
  case UnaryKind::relu: return relu(x);
  case UnaryKind::gelu: return x * 0.5 * std::erfc(-x / std::sqrt(2.0));
  case UnaryKind::gelu_tanh: // 0.5 x (1 + tanh u) = x / (1 + exp(-2u)), where nothing cancels
    return x * sigmoid(2 * std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x));
  case UnaryKind::quick_gelu: return x * sigmoid(1.702 * x);
  case UnaryKind::silu: return x * sigmoid(x);
  case UnaryKind::relu2: return relu(x) * relu(x);
  case UnaryKind::softplus: return std::isnan(x) ? x : std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x)));
  case UnaryKind::bf16: return throughBf16(x);
  case UnaryKind::logical_not: return x == 0;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

// Integers wrap around, as they do in generated code.
static int64_t wrap(uint64_t x) { return int64_t(x); }

static LogicalResult evaluate(Evaluator &e, model::UnaryOp op) {
  Tensor t = e.tensor(op.getOperand());
  for (double &x : t.reals)
    x = apply(op.getKind(), x);
  for (int64_t &x : t.ints)
    x = op.getKind() == UnaryKind::logical_not    ? x == 0
        : op.getKind() == UnaryKind::neg || x < 0 ? wrap(0 - uint64_t(x))
                                                  : x;
  e.set(op.getResult(), std::move(t));
  return success();
}

double evaluation::least(double a, double b) { return std::isnan(a) || a < b || (a == b && std::signbit(a)) ? a : b; }
double evaluation::most(double a, double b) { return std::isnan(a) || a > b || (a == b && !std::signbit(a)) ? a : b; }

/// Exact, with the sign of b.
static double modulo(double a, double b) {
  double r = std::fmod(a, b);
  if (r == 0)
    return std::copysign(r, b);
  return (r < 0) != (b < 0) ? r + b : r;
}

static double combine(BinaryKind kind, double a, double b) {
  switch (kind) {
  case BinaryKind::add: return a + b;
  case BinaryKind::sub: return a - b;
  case BinaryKind::mul: return a * b;
  case BinaryKind::div: return a / b;
  case BinaryKind::floordiv: return std::floor(a / b);
  case BinaryKind::mod: return modulo(a, b);
  case BinaryKind::pow: return std::pow(a, b);
  case BinaryKind::min: return least(a, b);
  case BinaryKind::max: return most(a, b);
  case BinaryKind::logical_and:
  case BinaryKind::logical_or: break; // of booleans, never of reals
  }
  return std::numeric_limits<double>::quiet_NaN();
}

/// x floordiv 0 is 0, so that no data can trap.
static int64_t combine(BinaryKind kind, int64_t a, int64_t b) {
  auto floorDiv = [&] {
    if (b == 0 || b == -1)
      return b == 0 ? 0 : wrap(0 - uint64_t(a));
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
  };
  switch (kind) {
  case BinaryKind::add: return wrap(uint64_t(a) + uint64_t(b));
  case BinaryKind::sub: return wrap(uint64_t(a) - uint64_t(b));
  case BinaryKind::mul: return wrap(uint64_t(a) * uint64_t(b));
  case BinaryKind::floordiv: return floorDiv();
  case BinaryKind::mod: return wrap(uint64_t(a) - uint64_t(b) * uint64_t(floorDiv()));
  case BinaryKind::min: return std::min(a, b);
  case BinaryKind::max: return std::max(a, b);
  case BinaryKind::logical_and: return a && b;
  case BinaryKind::logical_or: return a || b;
  case BinaryKind::div:
  case BinaryKind::pow: break; // of reals, never of integers
  }
  return 0;
}

static LogicalResult evaluate(Evaluator &e, model::BinaryOp op) {
  const Tensor &a = e.tensor(op.getLhs()), &b = e.tensor(op.getRhs());
  Tensor out = Tensor::zeros(a.kind, e.shapeOf(op.getResult()));
  for (Walk w(out.shape, {ArrayRef(a.shape), ArrayRef(b.shape)}); w.more(); w.next()) {
    if (a.kind == Tensor::Kind::Real)
      out.reals[w.here()] = combine(op.getKind(), a.reals[w.at(0)], b.reals[w.at(1)]);
    else
      out.ints[w.here()] = combine(op.getKind(), a.ints[w.at(0)], b.ints[w.at(1)]);
  }
  e.set(op.getResult(), std::move(out));
  return success();
}

template <typename T> static bool holds(model::ComparePredicate predicate, T a, T b) {
  switch (predicate) {
  case model::ComparePredicate::eq: return a == b;
  case model::ComparePredicate::ne: return a != b;
  case model::ComparePredicate::lt: return a < b;
  case model::ComparePredicate::le: return a <= b;
  case model::ComparePredicate::gt: return a > b;
  case model::ComparePredicate::ge: return a >= b;
  }
  return false;
}

static LogicalResult evaluate(Evaluator &e, model::CompareOp op) {
  const Tensor &a = e.tensor(op.getLhs()), &b = e.tensor(op.getRhs());
  Tensor out = Tensor::zeros(Tensor::Kind::Bool, e.shapeOf(op.getResult()));
  for (Walk w(out.shape, {ArrayRef(a.shape), ArrayRef(b.shape)}); w.more(); w.next())
    out.ints[w.here()] = a.kind == Tensor::Kind::Real ? holds(op.getPredicate(), a.reals[w.at(0)], b.reals[w.at(1)])
                                                      : holds(op.getPredicate(), a.ints[w.at(0)], b.ints[w.at(1)]);
  e.set(op.getResult(), std::move(out));
  return success();
}

static LogicalResult evaluate(Evaluator &e, model::SelectOp op) {
  const Tensor &c = e.tensor(op.getCondition()), &yes = e.tensor(op.getYes()), &no = e.tensor(op.getNo());
  Tensor out = Tensor::zeros(yes.kind, e.shapeOf(op.getResult()));
  for (Walk w(out.shape, {ArrayRef(c.shape), ArrayRef(yes.shape), ArrayRef(no.shape)}); w.more(); w.next())
    store(out, w.here(), c.ints[w.at(0)] ? scalarOf(yes, w.at(1)) : scalarOf(no, w.at(2)));
  e.set(op.getResult(), std::move(out));
  return success();
}

/// To an integer, towards zero; what does not fit saturates, a NaN gives 0.
static int64_t truncated(double x) {
  if (std::isnan(x))
    return 0;
  if (x >= 0x1p63)
    return std::numeric_limits<int64_t>::max();
  return x <= -0x1p63 ? std::numeric_limits<int64_t>::min() : int64_t(x);
}

static LogicalResult evaluate(Evaluator &e, model::CastOp op) {
  const Tensor &from = e.tensor(op.getOperand());
  Tensor out = Tensor::zeros(kindOf(op.getType()), from.shape);
  for (int64_t i = 0, n = from.count(); i < n; ++i) {
    Scalar s = scalarOf(from, i);
    if (out.kind == Tensor::Kind::Real)
      s.real = from.real(i);
    else if (out.kind == Tensor::Kind::Bool)
      s.integer = from.kind == Tensor::Kind::Real ? s.real != 0 : s.integer != 0;
    else if (from.kind == Tensor::Kind::Real)
      s.integer = truncated(s.real);
    store(out, i, s);
  }
  e.set(op.getResult(), std::move(out));
  return success();
}

static LogicalResult evaluate(Evaluator &e, model::MapOp op) {
  FailureOr<ScalarBody> body = ScalarBody::read(op.getBody().front(), e.options.declaredTypes);
  if (failed(body))
    return failure();
  if (op.getBody().front().getNumArguments() != op.getOperands().size())
    return op.emitOpError("has a body that takes another number of scalars than there are operands");
  Tensor out = Tensor::zeros(kindOf(op.getResult().getType()), e.shapeOf(op.getResult()));
  SmallVector<const Tensor *> operands;
  SmallVector<ArrayRef<int64_t>> shapes;
  for (Value v : op.getOperands()) {
    operands.push_back(&e.tensor(v));
    shapes.push_back(operands.back()->shape);
    if (!stretches(shapes.back(), out.shape))
      return op.emitOpError() << "cannot stretch " << showShape(shapes.back()) << " to " << showShape(out.shape);
  }
  SmallVector<Scalar> arguments(operands.size());
  for (Walk w(out.shape, shapes); w.more(); w.next()) {
    for (auto [k, operand] : llvm::enumerate(operands))
      arguments[k] = scalarOf(*operand, w.at(k));
    store(out, w.here(), body->run(arguments));
  }
  e.set(op.getResult(), std::move(out));
  return success();
}

Outcome evaluation::evaluateElementwise(Evaluator &e, Operation *op) {
  return TypeSwitch<Operation *, Outcome>(op)
      .Case<model::UnaryOp, model::BinaryOp, model::CompareOp, model::SelectOp, model::CastOp, model::MapOp>(
          [&](auto known) { return evaluate(e, known); })
      .Default([](Operation *) { return std::nullopt; });
}
