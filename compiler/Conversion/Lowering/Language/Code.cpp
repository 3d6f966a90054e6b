//===- Code.cpp - index arithmetic, control, memory, reals ----------------===//

#include "compiler/Conversion/Lowering/Language/Code.h"
#include "dialects/Model/Transforms/Scalars.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;

Type TypedCode::pointer() { return LLVM::LLVMPointerType::get(b.getContext()); }

Type TypedCode::with(Type type, Type element) {
  if (auto v = dyn_cast<VectorType>(type))
    return v.clone(element);
  return element;
}
int64_t TypedCode::bytesOf(Type element) {
  if (isa<LLVM::LLVMPointerType>(element))
    return 8;
  if (!element.isIntOrFloat()) // a pointer
    return 8;
  unsigned bits = element.getIntOrFloatBitWidth();
  return bits < 8 ? 1 : bits / 8;
}

Value TypedCode::constant(int64_t value) { return arith::ConstantIndexOp::create(b, value); }

std::optional<int64_t> TypedCode::known(Value x) {
  APInt value;
  return matchPattern(x, m_ConstantInt(&value)) ? std::optional(value.getSExtValue()) : std::nullopt;
}

Value TypedCode::real(Type like, double value) {
  Location loc = b.getLoc();
  return model::constantLike(b, loc, like, value);
}
Value TypedCode::integer(Type like, int64_t value) {
  IntegerAttr one = b.getIntegerAttr(getElementTypeOrSelf(like), value);
  auto vector = dyn_cast<VectorType>(like);
  return arith::ConstantOp::create(b, vector ? TypedAttr(DenseElementsAttr::get(vector, one)) : TypedAttr(one));
}

//===-- index arithmetic ---------------------------------------------------------===//

Value IndexCode::add(Value x, Value y) {
  auto a = known(x), c = known(y);
  if (a && c)
    return constant(*a + *c);
  if (a == 0)
    return y;
  return c == 0 ? x : Value(arith::AddIOp::create(b, x, y));
}
Value IndexCode::sub(Value x, Value y) {
  auto a = known(x), c = known(y);
  if (a && c)
    return constant(*a - *c);
  return c == 0 ? x : Value(arith::SubIOp::create(b, x, y));
}
Value IndexCode::mul(Value x, Value y) {
  auto a = known(x), c = known(y);
  if (a && c)
    return constant(*a * *c);
  if (a == 1 || c == 0)
    return y;
  return c == 1 || a == 0 ? x : Value(arith::MulIOp::create(b, x, y));
}
Value IndexCode::div(Value x, Value y) {
  auto a = known(x), c = known(y);
  if (a && c && *a >= 0 && *c > 0)
    return constant(*a / *c);
  return c == 1 ? x : Value(arith::DivUIOp::create(b, x, y));
}
Value IndexCode::rem(Value x, Value y) {
  auto a = known(x), c = known(y);
  if (a && c && *a >= 0 && *c > 0)
    return constant(*a % *c);
  return c == 1 ? constant(0) : Value(arith::RemUIOp::create(b, x, y));
}
Value IndexCode::floorDiv(Value x, Value y) {
  auto c = known(y);
  if (c == 1)
    return x;
  // Rounds down, as the language does. A divisor of 0 must not stop the program; a call whose lengths make one is
  // refused before it runs (dialects/Model/IR/Conditions.h).
  Value one = constant(1), zero = constant(0);
  bool positive = c && *c > 0;
  Value d = positive ? y : select({equal(y, zero), one, y});
  Value q = arith::DivSIOp::create(b, x, d);
  Value r = arith::SubIOp::create(b, x, Value(arith::MulIOp::create(b, q, d)));
  if (positive)
    return select({less(r, zero), sub(q, one), q});
  // What is left over has the sign of x; where that is not the divisor's, the quotient was rounded up.
  Value below = less(r, zero), turned = less(d, zero);
  Value differ = arith::XOrIOp::create(b, below, turned);
  Value uneven = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, r, zero);
  Value up = arith::AndIOp::create(b, differ, uneven);
  return select({up, sub(q, one), q});
}
Value IndexCode::min(Value x, Value y) { return x == y ? x : Value(arith::MinSIOp::create(b, x, y)); }
Value IndexCode::max(Value x, Value y) { return x == y ? x : Value(arith::MaxSIOp::create(b, x, y)); }
Value IndexCode::less(Value x, Value y) { return arith::CmpIOp::create(b, arith::CmpIPredicate::slt, x, y); }
Value IndexCode::equal(Value x, Value y) { return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, x, y); }
Value IndexCode::toI64(Value index) { return arith::IndexCastOp::create(b, b.getI64Type(), index); }
Value IndexCode::select(Value condition, Value yes, Value no) { return arith::SelectOp::create(b, condition, yes, no); }
Value IndexCode::toIndex(Value i64) { return arith::IndexCastOp::create(b, b.getIndexType(), i64); }

//===-- control --------------------------------------------------------------------===//

void MemoryCode::loop(Value from, Value to, int64_t step, llvm::function_ref<void(Value)> body) {
  auto op = scf::ForOp::create(b, from, to, constant(step));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(op.getBody()->getTerminator());
  body(op.getInductionVar());
}

Values MemoryCode::loop(Value from, Value to, int64_t step, ValueRange init,
                        llvm::function_ref<Values(Value, ValueRange)> body) {
  if (init.empty()) {
    loop(from, to, step, [&](Value i) { (void)body(i, {}); });
    return {};
  }
  auto op = scf::ForOp::create(b, from, to, constant(step), init);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(op.getBody());
  Values next = body(op.getInductionVar(), op.getRegionIterArgs());
  scf::YieldOp::create(b, next);
  return Values(op.getResults().begin(), op.getResults().end());
}

Values MemoryCode::loopInTurns(Value from, Value to, int64_t steps, bool even, ValueRange init,
                               llvm::function_ref<Values(Value, int64_t, ValueRange)> body,
                               llvm::function_ref<void(Value, int64_t)> meanwhile) {
  auto turns = [&](Value begin, Value end, int64_t count, ValueRange carried) {
    return loop(begin, end, count, carried, [&](Value at, ValueRange sums) {
      if (meanwhile)
        meanwhile(at, count);
      Values next(sums.begin(), sums.end());
      for (int64_t i = 0; i < count; ++i)
        next = body(at, i, next);
      return next;
    });
  };
  if (even)
    return turns(from, to, steps, init);
  Value whole = add(from, mul(div(sub(to, from), constant(steps)), steps));
  return turns(whole, to, 1, turns(from, whole, steps, init));
}

void MemoryCode::when(Value condition, llvm::function_ref<void()> body, llvm::function_ref<void()> otherwise) {
  auto op = scf::IfOp::create(b, condition, bool(otherwise));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(op.thenBlock()->getTerminator());
  body();
  if (otherwise) {
    b.setInsertionPoint(op.elseBlock()->getTerminator());
    otherwise();
  }
}

void Code::vectors(Value n, llvm::function_ref<void(Value, Value)> body) {
  (void)vectors(n, ValueRange{}, [&](Value j, Value mask, ValueRange) {
    body(j, mask);
    return Values();
  });
}

Values Code::vectors(Value n, ValueRange init, llvm::function_ref<Values(Value, Value, ValueRange)> body) {
  Value whole = mul(div(n, constant(lanes)), lanes);
  Values now(init.begin(), init.end());
  if (auto k = known(whole); !k || *k > 0)
    now = loop(constant(0), whole, lanes, now, [&](Value j, ValueRange c) { return body(j, Value(), c); });
  if (auto k = known(n); !k || *k % lanes)
    now = loop(whole, n, lanes, now, [&](Value j, ValueRange c) {
      Value mask = firstLanes(sub(n, j));
      return body(j, mask, c);
    });
  return now;
}

//===-- memory ---------------------------------------------------------------------===//

static Type stored(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isInteger(1) ? Code::with(type, IntegerType::get(type.getContext(), 8)) : type;
}

Value MemoryCode::at(Value base, Value index, Type element) {
  if (known(index) == 0)
    return base;
  Type unit = stored(element);
  if (auto k = known(index); k && std::abs(*k) < (int64_t(1) << 28)) // GEPArg holds 29 bits
    return LLVM::GEPOp::create(b, pointer(), unit, base, ArrayRef<LLVM::GEPArg>{int32_t(*k)});
  return LLVM::GEPOp::create(b, pointer(), unit, base, ArrayRef<LLVM::GEPArg>{toI64(index)});
}

Value MemoryCode::load(Type type, Value address, Value mask) {
  Type memory = stored(type);
  unsigned align = bytesOf(getElementTypeOrSelf(type));
  Value v;
  if (mask && isa<VectorType>(type)) {
    Value zero = arith::ConstantOp::create(b, b.getZeroAttr(memory));
    v = LLVM::MaskedLoadOp::create(b, memory, address, mask, zero, align);
  } else {
    v = LLVM::LoadOp::create(b, memory, address, align);
  }
  if (memory == type)
    return v;
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(memory));
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, v, zero);
}

Value MemoryCode::gather(Type element, Value address, int64_t step, Value mask) {
  SmallVector<int64_t> offsets;
  for (int64_t i = 0; i < lanes; ++i)
    offsets.push_back(i * step);
  auto indices = VectorType::get({lanes}, b.getI64Type());
  Value index = arith::ConstantOp::create(b, DenseIntElementsAttr::get(indices, offsets));
  Type memory = stored(element);
  Value places = LLVM::GEPOp::create(b, vec(pointer()), memory, address, ArrayRef<LLVM::GEPArg>{index});
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(vec(memory)));
  Value v = LLVM::masked_gather::create(b, vec(memory), places, mask, zero, bytesOf(element));
  return memory == element ? v : Value(arith::CmpIOp::create(b, arith::CmpIPredicate::ne, v, zero));
}

void MemoryCode::store(Value value, Value address, Value mask) {
  Type type = value.getType(), memory = stored(type);
  if (memory != type)
    value = arith::ExtUIOp::create(b, memory, value);
  unsigned align = bytesOf(getElementTypeOrSelf(type));
  if (mask && isa<VectorType>(type))
    LLVM::MaskedStoreOp::create(b, value, address, mask, align);
  else
    LLVM::StoreOp::create(b, value, address, align);
}

//===-- reals, scalar or vector ----------------------------------------------------===//

Value Code::addf(Value x, Value y) { return arith::AddFOp::create(b, x, y); }
Value Code::subf(Value x, Value y) { return arith::SubFOp::create(b, x, y); }
Value Code::mulf(Value x, Value y) { return arith::MulFOp::create(b, x, y); }
Value Code::divf(Value x, Value y) { return arith::DivFOp::create(b, x, y); }
Value Code::fma(Value x, Value y, Value z) { return math::FmaOp::create(b, x, y, z); }
Value Code::maxf(Value x, Value y) { return arith::MaximumFOp::create(b, x, y); }
Value Code::sqrt(Value x) { return math::SqrtOp::create(b, x); }
Value Code::lessf(Value x, Value y) { return arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, x, y); }
Value Code::isNaN(Value x) { return arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, x, x); }

Value Code::foldLanes(Value vector, llvm::function_ref<Value(Value, Value)> join) {
  return vectorLanes.fold(*this, vector, join);
}
Value Code::sum(Value vector) {
  return foldLanes(vector, [&](Value x, Value y) { return addf(x, y); });
}
Value Code::largest(Value vector) {
  return foldLanes(vector, [&](Value x, Value y) { return maxf(x, y); });
}
