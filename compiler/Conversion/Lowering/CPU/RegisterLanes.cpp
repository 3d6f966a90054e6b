//===- RegisterLanes.cpp - lanes are the elements of a vector register ----===//
//
// A team is a thread, and a thread's items are one stretch: neighbours share cache lines.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/CPU/RegisterLanes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace heddle::loops;

Type RegisterLanes::vec(Type element) const { return VectorType::get({count}, element); }

Value RegisterLanes::load(Code &c, Type element, Value address, Value mask) const {
  return c.load(vec(element), address, mask);
}

void RegisterLanes::store(Code &c, Value value, Value address, Value mask) const { c.store(value, address, mask); }

Value RegisterLanes::first(Code &c, Value n) const {
  return vector::CreateMaskOp::create(c.b, cast<VectorType>(vec(c.b.getI1Type())), n);
}

Value RegisterLanes::splat(Code &c, Value scalar) const {
  if (isa<VectorType>(scalar.getType()))
    return scalar;
  return vector::BroadcastOp::create(c.b, vec(scalar.getType()), scalar);
}

Value RegisterLanes::fold(Code &c, Value lanes, llvm::function_ref<Value(Value, Value)> join) const {
  for (int64_t n = cast<VectorType>(lanes.getType()).getDimSize(0); n > 1; n /= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t i = 0; i < n / 2; ++i) {
      low.push_back(i);
      high.push_back(i + n / 2);
    }
    Value lower = vector::ShuffleOp::create(c.b, lanes, lanes, low);
    Value upper = vector::ShuffleOp::create(c.b, lanes, lanes, high);
    lanes = join(lower, upper);
  }
  return vector::ExtractOp::create(c.b, lanes, ArrayRef<int64_t>{0});
}

void RegisterLanes::prefetch(Code &c, Value address, bool write) const {
  LLVM::Prefetch::create(c.b, address, write ? 1 : 0, 3, 1);
}

/// The C library's.
Value RegisterLanes::farAngle(Code &c, Value x, bool sine) const {
  return sine ? Value(math::SinOp::create(c.b, x)) : Value(math::CosOp::create(c.b, x));
}

void RegisterLanes::elements(Code &c, Value n, llvm::function_ref<void(Value)> body) const {
  c.loop(c.constant(0), n, 1, body);
}

Operation *RegisterLanes::items(Code &c, Value n, Value team, Value teams, Worker,
                                llvm::function_ref<void(Value)> body) const {
  Value from = c.div(c.mul(n, team), teams);
  Value to = c.div(c.mul(n, c.add(team, 1)), teams);
  c.loop(from, to, 1, body);
  return &*std::prev(c.b.getInsertionPoint());
}
