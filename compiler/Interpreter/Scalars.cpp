//===- Scalars.cpp - bodies on scalars: model.map and epilogues -----------===//
//
// Bodies of model.map and epilogues: a block of arith, math and model.function is read once
// into a list of steps on numbered slots, then run for every element.
//
//===----------------------------------------------------------------------===//

#include "compiler/Interpreter/Evaluator.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace heddle;
using namespace heddle::evaluation;

Scalar evaluation::scalarOf(const Tensor &t, int64_t element) {
  Scalar s;
  if (t.kind == Tensor::Kind::Real)
    s.real = t.reals[element];
  else
    s.integer = t.ints[element];
  return s;
}

void evaluation::store(Tensor &t, int64_t element, Scalar s) {
  if (t.kind == Tensor::Kind::Real)
    t.reals[element] = s.real;
  else
    t.ints[element] = s.integer;
}

/// One op: computes its result from its operands.
struct ScalarBody::Step {
  std::function<Scalar(ArrayRef<Scalar>)> run;
  SmallVector<unsigned> operands;
  bool rounds = false; // to f32
};

namespace {
using Run = std::function<Scalar(ArrayRef<Scalar>)>;
using Operands = ArrayRef<Scalar>;

Run reals(std::function<double(double, double)> f) {
  return [f](Operands x) { return Scalar{f(x[0].real, x.size() > 1 ? x[1].real : 0), 0}; };
}
Run integers(std::function<int64_t(int64_t, int64_t)> f) {
  return [f](Operands x) { return Scalar{0, f(x[0].integer, x.size() > 1 ? x[1].integer : 0)}; };
}
/// Unsigned arithmetic wraps around.
Run wrapping(std::function<uint64_t(uint64_t, uint64_t)> f) {
  return [f](Operands x) { return Scalar{0, int64_t(f(x[0].integer, x[1].integer))}; };
}
/// A division by zero has no meaning in arith; here it is 0.
Run dividing(int64_t (*f)(int64_t, int64_t)) {
  return integers([f](int64_t a, int64_t b) { return b == 0 ? 0 : b == -1 ? int64_t(0 - uint64_t(a)) : f(a, b); });
}
Run remaining(int64_t (*f)(int64_t, int64_t)) {
  return integers([f](int64_t a, int64_t b) { return b == 0 || b == -1 ? 0 : f(a, b); });
}

bool compares(arith::CmpFPredicate p, double a, double b) {
  using P = arith::CmpFPredicate;
  bool unordered = std::isnan(a) || std::isnan(b);
  switch (p) {
  case P::AlwaysFalse: return false;
  case P::AlwaysTrue: return true;
  case P::ORD: return !unordered;
  case P::UNO: return unordered;
  case P::OEQ: return a == b;
  case P::OGT: return a > b;
  case P::OGE: return a >= b;
  case P::OLT: return a < b;
  case P::OLE: return a <= b;
  case P::ONE: return !unordered && a != b;
  case P::UEQ: return unordered || a == b;
  case P::UGT: return unordered || a > b;
  case P::UGE: return unordered || a >= b;
  case P::ULT: return unordered || a < b;
  case P::ULE: return unordered || a <= b;
  case P::UNE: return unordered || a != b;
  }
  return false;
}

bool compares(arith::CmpIPredicate p, int64_t a, int64_t b) {
  using P = arith::CmpIPredicate;
  switch (p) {
  case P::eq: return a == b;
  case P::ne: return a != b;
  case P::slt: return a < b;
  case P::sle: return a <= b;
  case P::sgt: return a > b;
  case P::sge: return a >= b;
  case P::ult: return uint64_t(a) < uint64_t(b);
  case P::ule: return uint64_t(a) <= uint64_t(b);
  case P::ugt: return uint64_t(a) > uint64_t(b);
  case P::uge: return uint64_t(a) >= uint64_t(b);
  }
  return false;
}

int64_t floorDivided(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }
int64_t ceilDivided(int64_t a, int64_t b) { return a / b + (a % b != 0 && (a < 0) == (b < 0)); }

/// The ops that are neither arithmetic on integers nor on reals: conversions, selects,
/// constants, functions of the model dialect.
Run readSpecial(Operation *op) {
  return TypeSwitch<Operation *, Run>(op)
      .Case([](arith::ConstantOp c) -> Run {
        Scalar s;
        if (auto real = dyn_cast<FloatAttr>(c.getValue()))
          s.real = real.getValueAsDouble();
        else if (auto integer = dyn_cast<IntegerAttr>(c.getValue()))
          s.integer =
              integer.getType().isInteger(1) ? integer.getValue().getZExtValue() : integer.getValue().getSExtValue();
        else
          return {};
        return [s](Operands) { return s; };
      })
      .Case([](arith::CmpFOp c) -> Run {
        return [p = c.getPredicate()](Operands x) { return Scalar{0, compares(p, x[0].real, x[1].real)}; };
      })
      .Case([](arith::CmpIOp c) -> Run {
        return [p = c.getPredicate()](Operands x) { return Scalar{0, compares(p, x[0].integer, x[1].integer)}; };
      })
      .Case([](arith::SelectOp) -> Run { return [](Operands x) { return x[0].integer ? x[1] : x[2]; }; })
      .Case([](arith::SIToFPOp s) -> Run {
        // an i1 of 1 is -1 as a signed number
        bool bit = s.getIn().getType().isInteger(1);
        return [bit](Operands x) { return Scalar{double(bit ? -x[0].integer : x[0].integer), 0}; };
      })
      .Case<arith::UIToFPOp>(
          [](auto) -> Run { return [](Operands x) { return Scalar{double(uint64_t(x[0].integer)), 0}; }; })
      .Case<arith::FPToSIOp>([](auto) -> Run {
        return [](Operands x) {
          double r = x[0].real;
          return Scalar{0, std::isnan(r) ? 0 : r >= 0x1p63 ? INT64_MAX : r <= -0x1p63 ? INT64_MIN : int64_t(r)};
        };
      })
      .Case<arith::ExtUIOp, arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtFOp>(
          [](auto) -> Run { return [](Operands x) { return x[0]; }; })
      .Case<arith::ExtSIOp>([](auto e) -> Run {
        bool bit = e.getIn().getType().isInteger(1);
        return [bit](Operands x) { return Scalar{0, bit ? -x[0].integer : x[0].integer}; };
      })
      .Case<arith::TruncIOp>([](auto t) -> Run {
        bool bit = t.getType().isInteger(1);
        return [bit](Operands x) { return Scalar{0, bit ? (x[0].integer & 1) : x[0].integer}; };
      })
      .Case([](model::FunctionOp f) -> Run {
        model::UnaryKind kind = f.getKind();
        if (isa<FloatType>(f.getType()))
          return [kind](Operands x) { return Scalar{apply(kind, x[0].real), 0}; };
        return [kind](Operands x) {
          int64_t i = x[0].integer;
          return Scalar{0, kind == model::UnaryKind::logical_not    ? i == 0
                           : kind == model::UnaryKind::neg || i < 0 ? int64_t(0 - uint64_t(i))
                                                                    : i};
        };
      })
      .Default([](Operation *) { return Run(); });
}

Run readIntegers(Operation *op) {
  using I = int64_t;
  using U = uint64_t;
  return TypeSwitch<Operation *, Run>(op)
      .Case<arith::AddIOp>([](auto) { return wrapping([](U a, U b) { return a + b; }); })
      .Case<arith::SubIOp>([](auto) { return wrapping([](U a, U b) { return a - b; }); })
      .Case<arith::MulIOp>([](auto) { return wrapping([](U a, U b) { return a * b; }); })
      .Case<arith::DivSIOp>([](auto) { return dividing([](I a, I b) { return a / b; }); })
      .Case<arith::FloorDivSIOp>([](auto) { return dividing(floorDivided); })
      .Case<arith::CeilDivSIOp>([](auto) { return dividing(ceilDivided); })
      .Case<arith::RemSIOp>([](auto) { return remaining([](I a, I b) { return a % b; }); })
      .Case<arith::MinSIOp>([](auto) { return integers([](I a, I b) { return std::min(a, b); }); })
      .Case<arith::MaxSIOp>([](auto) { return integers([](I a, I b) { return std::max(a, b); }); })
      .Case<arith::AndIOp>([](auto) { return integers([](I a, I b) { return a & b; }); })
      .Case<arith::OrIOp>([](auto) { return integers([](I a, I b) { return a | b; }); })
      .Case<arith::XOrIOp>([](auto) { return integers([](I a, I b) { return a ^ b; }); })
      .Case<math::AbsIOp>([](auto) { return integers([](I a, I) { return a < 0 ? I(0 - U(a)) : a; }); })
      .Default([](Operation *) { return Run(); });
}

/// math.* and arith on reals of one or two operands.
Run readReals(Operation *op) {
  using D = double;
  // maximumf and minimumf return NaN if an operand is one, maxnumf and minnumf the other.
  return TypeSwitch<Operation *, Run>(op)
      .Case<arith::AddFOp>([](auto) { return reals([](D a, D b) { return a + b; }); })
      .Case<arith::SubFOp>([](auto) { return reals([](D a, D b) { return a - b; }); })
      .Case<arith::MulFOp>([](auto) { return reals([](D a, D b) { return a * b; }); })
      .Case<arith::DivFOp>([](auto) { return reals([](D a, D b) { return a / b; }); })
      .Case<arith::RemFOp>([](auto) { return reals([](D a, D b) { return std::fmod(a, b); }); })
      .Case<arith::NegFOp>([](auto) { return reals([](D a, D) { return -a; }); })
      .Case<arith::MaximumFOp>([&](auto) { return reals(most); })
      .Case<arith::MinimumFOp>([&](auto) { return reals(least); })
      .Case<arith::MaxNumFOp>([](auto) { return reals([](D a, D b) { return std::fmax(a, b); }); })
      .Case<arith::MinNumFOp>([](auto) { return reals([](D a, D b) { return std::fmin(a, b); }); })
      .Case<math::AbsFOp>([](auto) { return reals([](D a, D) { return std::fabs(a); }); })
      .Case<math::CeilOp>([](auto) { return reals([](D a, D) { return std::ceil(a); }); })
      .Case<math::FloorOp>([](auto) { return reals([](D a, D) { return std::floor(a); }); })
      .Case<math::RoundOp>([](auto) { return reals([](D a, D) { return std::round(a); }); })
      .Case<math::RoundEvenOp>([](auto) { return reals([](D a, D) { return std::nearbyint(a); }); })
      .Case<math::TruncOp>([](auto) { return reals([](D a, D) { return std::trunc(a); }); })
      .Case<math::SqrtOp>([](auto) { return reals([](D a, D) { return std::sqrt(a); }); })
      .Case<math::RsqrtOp>([](auto) { return reals([](D a, D) { return 1 / std::sqrt(a); }); })
      .Case<math::ExpOp>([](auto) { return reals([](D a, D) { return std::exp(a); }); })
      .Case<math::Exp2Op>([](auto) { return reals([](D a, D) { return std::exp2(a); }); })
      .Case<math::ExpM1Op>([](auto) { return reals([](D a, D) { return std::expm1(a); }); })
      .Case<math::LogOp>([](auto) { return reals([](D a, D) { return std::log(a); }); })
      .Case<math::Log1pOp>([](auto) { return reals([](D a, D) { return std::log1p(a); }); })
      .Case<math::Log2Op>([](auto) { return reals([](D a, D) { return std::log2(a); }); })
      .Case<math::SinOp>([](auto) { return reals([](D a, D) { return std::sin(a); }); })
      .Case<math::CosOp>([](auto) { return reals([](D a, D) { return std::cos(a); }); })
      .Case<math::TanhOp>([](auto) { return reals([](D a, D) { return std::tanh(a); }); })
      .Case<math::ErfOp>([](auto) { return reals([](D a, D) { return std::erf(a); }); })
      .Case<math::PowFOp>([](auto) { return reals([](D a, D b) { return std::pow(a, b); }); })
      .Case<math::CopySignOp>([](auto) { return reals([](D a, D b) { return std::copysign(a, b); }); })
      .Case<math::FmaOp>(
          [](auto) -> Run { return [](Operands x) { return Scalar{std::fma(x[0].real, x[1].real, x[2].real), 0}; }; })
      .Default([](Operation *) { return Run(); });
}
} // namespace

FailureOr<ScalarBody> ScalarBody::read(Block &block, bool declaredTypes) {
  ScalarBody body;
  llvm::DenseMap<Value, unsigned> slotOf;
  unsigned count = 0;
  for (BlockArgument a : block.getArguments())
    slotOf[a] = count++;
  for (Operation &op : block.without_terminator()) {
    auto step = std::make_shared<Step>();
    for (auto read : {readReals, readIntegers, readSpecial})
      if ((step->run = read(&op)))
        break;
    if (!step->run || op.getNumResults() != 1)
      return op.emitOpError("has no meaning in a body on scalars");
    for (Value operand : op.getOperands()) {
      auto it = slotOf.find(operand);
      if (it == slotOf.end())
        return op.emitOpError("reads a value from outside of the body on scalars");
      step->operands.push_back(it->second);
    }
    step->rounds = declaredTypes && isa<FloatType>(op.getResult(0).getType());
    slotOf[op.getResult(0)] = count++;
    body.steps.push_back(std::move(step));
  }
  auto yield = dyn_cast<model::YieldOp>(block.getTerminator());
  if (!yield || yield.getNumOperands() != 1 || !slotOf.count(yield.getOperand(0)))
    return block.getParentOp()->emitOpError("the body on scalars must yield one of its values");
  body.result = slotOf[yield.getOperand(0)];
  body.slots.resize(count);
  return body;
}

Scalar ScalarBody::run(ArrayRef<Scalar> arguments) {
  llvm::copy(arguments, slots.begin());
  unsigned next = arguments.size();
  SmallVector<Scalar, 4> operands;
  for (const std::shared_ptr<Step> &step : steps) {
    operands.clear();
    for (unsigned slot : step->operands)
      operands.push_back(slots[slot]);
    Scalar s = step->run(operands);
    if (step->rounds)
      s.real = float(s.real);
    slots[next++] = s;
  }
  return slots[result];
}
