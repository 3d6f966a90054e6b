//===- SumStep.cpp - one step along the axis that is summed ---------------===//

#include "compiler/Conversion/ToLoops/SumStep.h"

using namespace mlir;
using namespace heddle::loops;

void SumStep::multiply(Code &c, Value rows, Value at, ArrayRef<Value> weights, int64_t count, Values &sums) const {
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
  Values even, odd;
  for (Value pair : pairs) {
    auto [low, high] = widenedPair(c, arithmetic.stored, pair);
    even.push_back(low);
    odd.push_back(high);
  }
  Value first = c.at(rows, c.mul(at, 2), c.f32());
  add(first, 0, even);
  if (auto step = Code::known(at); !step || 2 * *step + 1 < k)
    add(first, 1, odd);
}
