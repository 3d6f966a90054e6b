//===- SumStep.cpp - one step along the axis that is summed ---------------===//

#include "compiler/Conversion/Lowering/Facts/SumStep.h"

using namespace mlir;
using namespace heddle::loops;

void SumStep::multiply(Code &c, Value rows, Value at, ArrayRef<Value> weights, int64_t count, Values &sums,
                       ArrayRef<Value> even, ArrayRef<Value> odd) const {
  int64_t n = weights.size();
  Type i32 = c.b.getI32Type();
  auto add = [&](Value first, int64_t k, ArrayRef<Value> w) {
    for (int64_t i = 0; i < count; ++i) {
      Value x = c.splat(c.load(c.f32(), c.at(first, c.constant(i * pitch + k), c.f32())));
      for (int64_t j = 0; j < n; ++j)
        sums[i * n + j] = c.fma(x, w[j], sums[i * n + j]);
    }
  };
  auto loaded = [&](Type type) {
    Values all;
    for (Value address : weights)
      all.push_back(c.loadLanes(type, address));
    return all;
  };
  if (!arithmetic.halves()) {
    Value first = c.at(rows, at, c.f32());
    return add(first, 0, loaded(c.f32()));
  }
  Values pairs = loaded(i32);
  if (arithmetic.dots) {
    Value first = c.at(rows, at, i32);
    for (int64_t i = 0; i < count; ++i) {
      Value x = c.splat(c.load(i32, c.at(first, c.constant(i * pitch), i32)));
      for (int64_t j = 0; j < n; ++j)
        sums[i * n + j] = dot(c, sums[i * n + j], x, pairs[j]);
    }
    return;
  }
  Values first, second;
  for (Value pair : pairs) {
    auto [low, high] = widenedPair(c, arithmetic.stored, pair);
    first.push_back(low);
    second.push_back(high);
  }
  auto leave = [&](ArrayRef<Value> widened, ArrayRef<Value> places) {
    for (auto [value, place] : llvm::zip(widened, places))
      c.storeLanes(value, place);
  };
  Value row = c.at(rows, c.mul(at, 2), c.f32());
  leave(first, even);
  add(row, 0, first);
  if (auto step = Code::known(at); !step || 2 * *step + 1 < k) {
    leave(second, odd);
    add(row, 1, second);
  }
}

SumStep SumStep::ofReals() const {
  SumStep reals(*this);
  reals.arithmetic.stored = Stored::f32;
  return reals;
}
