//===- AttentionPairWeights.cpp - weights rounded, in pairs of keys -------===//
//
// Weights in bf16: with dots the weights of softmax are rounded, too, and pairs of keys (0, 1), (2, 3), ... of the tile
// share a word. The sum of the weights is taken over rounded weights, so that their common error cancels.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/CPU/Attention/AttentionWeights.h"
#include "compiler/Conversion/Lowering/Language/Halves.h"
#include "compiler/Conversion/Lowering/Language/Reals.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <cmath>

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;

/// 2^(s - m) of two vectors of scores in the order of their columns, as words of two halves. The exponent is rounded to
/// steps of 1/128 and offset by the bias of bf16: its integer part is then the exponent field of the result, and a
/// table turns the seven bits below into a mantissa. A weight is off by at most 1 in 150; exactly 0 where hidden.
Value Weights::pairOfWeights(Value low, Value high, Value greatest, Value &nan) {
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
  Value index = vector::BitCastOp::create(b, bytes, fixed);
  auto found = LLVM::CallIntrinsicOp::create(b, bytes, b.getStringAttr("llvm.x86.avx512.vpermi2var.qi.512"),
                                             ValueRange{table(0), index, table(64)});
  Value mantissa = vector::BitCastOp::create(b, halves, found->getResult(0));
  Value exponents = arith::AndIOp::create(b, fixed, integer(halves, -128));
  mantissa = arith::AndIOp::create(b, mantissa, integer(halves, 127));
  return vector::BitCastOp::create(b, words(), Value(arith::OrIOp::create(b, exponents, mantissa)));
}

/// Rounds two vectors of weights, in the order of their columns, to words of two halves.
Value Weights::roundedPair(Value low, Value high) {
  auto halves = VectorType::get({2 * lanes}, b.getBF16Type());
  auto rounded = LLVM::CallIntrinsicOp::create(b, halves, b.getStringAttr("llvm.x86.avx512bf16.cvtne2ps2bf16.512"),
                                               ValueRange{high, low});
  return vector::BitCastOp::create(b, words(), rounded->getResult(0));
}

/// Weights of 0 for the keys of the tile that the group of row `r` does not see: matrix registers take in all of them.
void Weights::hideUnseen(Value r) {
  auto floor = [&](Value key) { return tripFloor(sub(key, tile.at), 2 * lanes); };
  auto ceil = [&](Value key) { return tripFloor(add(sub(key, tile.at), 2 * lanes - 1), 2 * lanes); };
  auto [begin, end] = seenBy(tile, r);
  Value last = ceil(tile.end), sees = less(begin, end), scores = area.scores(r);
  auto hide = [&](Value column) { store({integer(words(), 0), at(scores, div(column, constant(2)), b.getI32Type())}); };
  Value first = floor(tile.begin), from = floor(begin), to = ceil(end);
  from = select(sees, from, last);
  to = select(sees, to, last);
  loop(first, from, 2 * lanes, hide);
  loop(to, last, 2 * lanes, hide);
}

/// Replaces scores by words of weights in place: column c goes to half c, which is read before.
void Weights::inPairs() {
  Value zero = real(vec(f32()), 0.0), ones = integer(words(), 0x3f803f80), values = valuesOf(tile, tile.at);
  loop(constant(0), item.count, 1, [&](Value r) {
    Value scores = area.scores(r), greatest = splat(load(f32(), area.greatest(r)));
    Values sums = overColumns(r, {zero, zero}, [&](Value column, ValueRange sums) -> Values {
      Value low = loadVec(scores, column), high = loadVec(scores, add(column, lanes)), nan = sums[1], pairs;
      if (plan.counted) {
        Value counts = area.counts(r);
        low = mulf({exp2(*this, subf(low, greatest)), loadVec(counts, column)});
        high = mulf({exp2(*this, subf(high, greatest)), loadVec(counts, add(column, lanes))});
        pairs = roundedPair(low, high);
      } else {
        pairs = pairOfWeights(low, high, greatest, nan);
      }
      store(pairs, at(scores, div(column, constant(2)), b.getI32Type()));
      return {dot(*this, sums[0], pairs, ones), nan};
    });
    if (whole)
      fetchAhead(values, r);
    else if (plan.matrix)
      hideUnseen(r);
    addToSum(r, addf(sums[0], sums[1]));
  });
}
