//===- AttentionPairs.cpp - weights and values multiplied in pairs --------===//
//
// With dots the weights of softmax are rounded too and the output sums over pairs of keys,
// (0, 1), (2, 3), ... of the tile. A tile stands at the first visible key, so the slot in which
// padding puts a key does not choose its partner; the values lie as rows of halves, and those of
// a tile are paired when the tile is met, once for all its rows (`paired`: when they were packed). The sum of the weights is one of
// rounded weights: what rounding adds to all of them cancels.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ToLoops/AttentionKernel.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <cmath>

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;

//===-- weights -----------------------------------------------------------------------===//

/// 2^(s - m) of two vectors of scores in the order of their columns, as words of two halves. The exponent in
/// steps of 1/128, offset by the bias of a bf16, has the result's exponent where it belongs and below it seven
/// bits for a table to turn into a mantissa: a weight is off by a part in 150 at most. Exactly 0 where hidden.
Value AttentionKernel::pairWeights(Value low, Value high, Value greatest, Value &nan) {
  auto halves = VectorType::get({2 * lanes}, b.getI16Type());
  auto bytes = VectorType::get({4 * lanes}, b.getI8Type());
  Value floor = real(vec(f32()), -127.0), steps = real(vec(f32()), 128.0), zero = real(vec(f32()), 0.0);
  Value origin = real(vec(f32()), 12582912.0 + 127 * 128); // 1.5 * 2^23: an integer in the low bits
  auto number = [&](Value s) -> Value {
    Value x = subf(s, greatest);
    x = fma(select(lessf(x, floor), floor, x), steps, origin); // a NaN stays
    nan = fma(x, zero, nan);
    return vector::BitCastOp::create(b, halves, x);
  };
  SmallVector<int64_t> lower;
  for (int64_t i = 0; i < 2 * lanes; ++i)
    lower.push_back(2 * i);
  Value first = number(low), second = number(high);
  Value fixed = vector::ShuffleOp::create(b, first, second, lower);
  SmallVector<int8_t> mantissas;
  for (int i = 0; i < 128; ++i)
    mantissas.push_back(int8_t(std::min(127.0, std::round(128 * (std::exp2(i / 128.0) - 1)))));
  auto table = [&](int64_t from) -> Value {
    return arith::ConstantOp::create(b, DenseIntElementsAttr::get(bytes, ArrayRef<int8_t>(mantissas).slice(from, 64)));
  };
  auto found = LLVM::CallIntrinsicOp::create(b, bytes, b.getStringAttr("llvm.x86.avx512.vpermi2var.qi.512"),
                                             ValueRange{table(0), vector::BitCastOp::create(b, bytes, fixed), table(64)});
  Value mantissa = vector::BitCastOp::create(b, halves, found->getResult(0));
  Value p = arith::OrIOp::create(b, Value(arith::AndIOp::create(b, fixed, integer(halves, -128))),
                                 Value(arith::AndIOp::create(b, mantissa, integer(halves, 127))));
  return vector::BitCastOp::create(b, words(), p);
}

/// Two vectors of weights in the order of their columns, rounded, as words of two halves.
Value AttentionKernel::roundedPairs(Value low, Value high) {
  auto halves = VectorType::get({2 * lanes}, b.getBF16Type());
  auto rounded = LLVM::CallIntrinsicOp::create(b, halves, b.getStringAttr("llvm.x86.avx512bf16.cvtne2ps2bf16.512"),
                                               ValueRange{high, low});
  return vector::BitCastOp::create(b, words(), rounded->getResult(0));
}

/// Scores become words of weights in their own place, column c in half c: what is overwritten has been read.
void AttentionKernel::emitPairWeights(const Tile &tile) {
  Value zero = real(vec(f32()), 0.0), ones = integer(words(), 0x3f803f80), values = valuesAt(tile.at);
  loop(constant(0), count, 1, [&](Value r) {
    Value front = add(mul(r, kScoreStride), kScoreFront), scores = at(floats(plan.atScores), front, f32());
    Value greatest = splat(loadF32(floats(plan.atMax), r));
    auto weigh = [&](Value column, ValueRange sums) -> Values {
      Value low = loadVec(scores, column), high = loadVec(scores, add(column, lanes)), nan = sums[1], pairs;
      if (plan.counted) {
        Value counts = at(floats(plan.atCounts), front, f32());
        low = mulf(exp2(subf(low, greatest)), loadVec(counts, column));
        high = mulf(exp2(subf(high, greatest)), loadVec(counts, add(column, lanes)));
        pairs = roundedPairs(low, high);
      } else {
        pairs = pairWeights(low, high, greatest, nan);
      }
      store(pairs, at(scores, div(column, constant(2)), b.getI32Type()));
      return {dot(sums[0], pairs, ones), nan};
    };
    Values sums = {zero, zero};
    if (tile.partial) {
      auto [begin, end] = boundsOf(tile, r);
      begin = tripFloor(sub(begin, tile.at), 2 * lanes);
      sums = loop(begin, sub(end, tile.at), 2 * lanes, sums, weigh);
    } else {
      for (int64_t column = 0; column < kKeyTile; column += 2 * lanes)
        sums = weigh(constant(column), sums);
      fetchAhead(values, r);
    }
    addToSum(r, addf(sums[0], sums[1]));
  });
}

//===-- values ------------------------------------------------------------------------===//

/// The pairs that hold keys [begin, end), counted from the tile's first key.
std::pair<Value, Value> AttentionKernel::pairsOf(const Tile &tile, Value begin, Value end) {
  return {div(sub(begin, tile.at), constant(2)), div(add(sub(end, tile.at), 1), constant(2))};
}

/// The tile's values as rows of pairs, [64][u][2]. A key that the tile has not got is stood in for by its
/// partner: its weight is 0, and nothing is read that may not be there.
void AttentionKernel::emitPairs(const Tile &tile) {
  pairs = plan.paired ? valuesAt(tile.at) : floats(plan.atPairs);
  if (plan.paired)
    return;
  Type halves = b.getI16Type();
  Value values = valuesAt(constant(0)), last = sub(tile.end, constant(1));
  auto [from, to] = pairsOf(tile, tile.begin, tile.end);
  loop(from, to, 1, [&](Value pair) {
    Value key = add(tile.at, mul(pair, 2));
    Value even = mul(max(key, tile.begin), valuePitch()), odd = mul(min(add(key, 1), last), valuePitch());
    Value line = at(pairs, mul(pair, plan.pairStride()), b.getI32Type());
    auto half = [&](Value row, Value d, Value mask) {
      return load(VectorType::get({2 * lanes}, halves), at(values, add(row, d), halves), mask);
    };
    auto weave = [&](Value d, Value mask) { // 32 features, in two vectors of words
      Value low = half(even, d, mask), high = half(odd, d, mask);
      for (int64_t part = 0; part < 2; ++part) {
        SmallVector<int64_t> order;
        for (int64_t i = part * lanes; i < (part + 1) * lanes; ++i)
          order.append({i, 2 * lanes + i});
        Value words = vector::BitCastOp::create(b, this->words(), Value(vector::ShuffleOp::create(b, low, high, order)));
        store(words, at(line, add(d, part * lanes), b.getI32Type()));
      }
    };
    int64_t rest = plan.valueWidth % (2 * lanes);
    loop(constant(0), constant(plan.valueWidth - rest), 2 * lanes, [&](Value d) { weave(d, {}); });
    if (rest) {
      auto bits = VectorType::get({2 * lanes}, b.getI1Type());
      weave(constant(plan.valueWidth - rest), vector::CreateMaskOp::create(b, bits, ValueRange{constant(rest)}));
    }
  });
}

/// Output of `rows` rows, `n` vectors of each from feature `d` on: plus pair `pair` of keys.
Values AttentionKernel::addPair(Value weights, Value pair, Value d, int64_t rows, int64_t n, bool guard, Values sums) {
  Type i32 = b.getI32Type();
  Value row = at(pairs, add(mul(pair, plan.pairStride()), d), i32);
  Values x;
  for (int64_t v = 0; v < n; ++v)
    x.push_back(load(words(), at(row, constant(v * lanes), i32)));
  auto halves = VectorType::get({2 * lanes}, b.getI16Type());
  Value none = guard ? integer(halves, 0) : Value();
  for (int64_t i = 0; i < rows; ++i) {
    Value p = splat(load(i32, at(weights, add(pair, i * kScoreStride), i32)));
    Value counts;
    if (guard)
      counts = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, Value(vector::BitCastOp::create(b, halves, p)), none);
    for (int64_t v = 0; v < n; ++v) {
      Value y = x[v];
      if (guard)
        y = vector::BitCastOp::create(b, words(), select(counts, vector::BitCastOp::create(b, halves, y), none));
      sums[i * n + v] = dot(sums[i * n + v], p, y);
    }
  }
  return sums;
}
