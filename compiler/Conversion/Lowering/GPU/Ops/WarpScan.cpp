//===- WarpScan.cpp - what lanes make of a value each ---------------------===//

#include "compiler/Conversion/Lowering/GPU/Ops/WarpScan.h"
#include "compiler/Conversion/Lowering/GPU/WarpLanes.h"

using namespace mlir;
using namespace heddle::loops;

WarpScan::WarpScan(Code &c) : lane(WarpLanes::lane(c)), c(c) {}

/// Registers are shuffled 32 bits at a time.
Value WarpScan::of(Value v, Value from) {
  Type type = v.getType(), i32 = c.b.getI32Type(), i64 = c.b.getI64Type();
  if (type.isF32() || type.isInteger(32))
    return WarpLanes::fromLane(c, v, from);
  if (type.isIndex())
    return c.toIndex(of(c.toI64(v), from));
  if (type.isF64())
    return arith::BitcastOp::create(c.b, type, of(arith::BitcastOp::create(c.b, i64, v), from));
  if (type.isInteger(1)) {
    Value word = of(arith::ExtUIOp::create(c.b, i32, v), from);
    return arith::TruncIOp::create(c.b, type, word);
  }
  Value half = arith::ConstantOp::create(c.b, c.b.getI64IntegerAttr(32));
  Value low = of(arith::TruncIOp::create(c.b, i32, v), from);
  Value shifted = arith::ShRUIOp::create(c.b, v, half);
  Value high = of(arith::TruncIOp::create(c.b, i32, shifted), from);
  Value lower = arith::ExtUIOp::create(c.b, i64, low), upper = arith::ExtUIOp::create(c.b, i64, high);
  Value there = arith::ShLIOp::create(c.b, upper, half);
  return arith::OrIOp::create(c.b, there, lower);
}

Value WarpScan::upTo(Value v, llvm::function_ref<Value(Value, Value)> join) {
  for (int64_t n = 1; n < kWarp; n *= 2) {
    Value first = c.less(lane, c.constant(n)), before = c.select(first, lane, c.sub(lane, c.constant(n)));
    Value joined = join(of(v, before), v);
    v = c.select(first, v, joined);
  }
  return v;
}

Values WarpScan::all(ValueRange v, llvm::function_ref<Values(ValueRange, ValueRange)> join) {
  Values now(v.begin(), v.end());
  for (int64_t n = kWarp / 2; n > 0; n /= 2) {
    Value other = arith::XOrIOp::create(c.b, lane, c.constant(n));
    Values theirs;
    for (Value one : now)
      theirs.push_back(of(one, other));
    now = join(now, theirs);
  }
  return now;
}

Values WarpScan::each(Value from, Value to, ValueRange init,
                      llvm::function_ref<Values(Value, Value, ValueRange)> body) {
  Value last = c.sub(to, c.constant(1));
  return c.loop(from, to, kWarp, init, [&](Value first, ValueRange carried) {
    Value i = c.add(first, lane), inside = c.less(i, to);
    return body(c.min(i, last), inside, carried);
  });
}
