//===- AttentionWeights.cpp - scores become weights -----------------------===//
//
// Step 3 in f32: a loop by itself, so that it overlaps with the reductions of the maxima. Lanes of even and of odd
// vectors are summed separately: trimming a tile only leaves out zeros. With dots: AttentionPairWeights.cpp.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/CPU/Attention/AttentionWeights.h"
#include "compiler/Conversion/Lowering/Language/Reals.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;

void heddle::loops::emitWeights(const ItemCode &item, const Tile &tile, bool whole) {
  Weights(item, tile, whole).emit();
}

void Weights::emit() {
  if (plan.arithmetic.dots)
    return inPairs();
  if (whole && machine.registers >= 32 && lanes == 16 && !plan.counted)
    return rowAhead();
  rowByRow();
}

void Weights::addToSum(Value r, Value sum) {
  Value sumAt = area.sum(r), scale = splat(load(f32(), area.scale(r)));
  store(fma(load(vec(f32()), sumAt), scale, sum), sumAt);
}

/// Prefetches this row's share of the tile's values, which are read next, and a row of the next block of queries: rows
/// of one head are far apart, and waiting for all of them at once would cost time.
void Weights::fetchAhead(Value values, Value row) {
  Value next = queryOf(add(add(item.firstRow, plan.rowTile), row));
  for (int64_t j = 0; j < plan.width; j += 16)
    prefetch(at(next, constant(j), f32()));
  const int64_t share = plan.keyTile / plan.rowTile;
  for (int64_t j = 0; j < share * plan.valueWords(); j += 16)
    prefetch(at(values, add(mul(row, share * plan.valueWords()), j), f32()));
}

Values Weights::overColumns(Value r, Values sums, llvm::function_ref<Values(Value, ValueRange)> body) {
  if (whole) {
    for (int64_t column = 0; column < plan.keyTile; column += 2 * lanes)
      sums = body(constant(column), sums);
    return sums;
  }
  auto [begin, end] = seenBy(tile, r);
  begin = tripFloor(sub(begin, tile.at), 2 * lanes);
  return loop(begin, sub(end, tile.at), 2 * lanes, sums, body);
}

void Weights::rowByRow() {
  Value zero = real(vec(f32()), 0.0);
  loop(constant(0), item.count, 1, [&](Value r) {
    Value scores = area.scores(r), greatest = splat(load(f32(), area.greatest(r)));
    auto weightAt = [&](Value column) {
      Value p = exp2(*this, subf(loadVec(scores, column), greatest));
      if (plan.counted)
        p = mulf(p, load(vec(f32()), area.counts(r, column)));
      store(p, at(scores, column, f32()));
      return p;
    };
    Values sums = overColumns(r, {zero, zero}, [&](Value column, ValueRange c) -> Values {
      Value even = addf(c[0], weightAt(column));
      return {even, addf(c[1], weightAt(add(column, lanes)))};
    });
    addToSum(r, addf(sums[0], sums[1]));
  });
}

/// For a whole tile, pipelined by one row: the additions that split a row's exponents are emitted between the
/// multiplications of the row before, which other units execute.
void Weights::rowAhead() {
  const int64_t n = plan.keyTile / 16;
  auto splitAt = [&](Value r, int64_t v) {
    Value score = loadVec(area.scores(r), constant(v * lanes)), greatest = splat(load(f32(), area.greatest(r)));
    return splitExponent(*this, subf(score, greatest));
  };
  Value values = valuesOf(tile, tile.at);
  Values first;
  for (int64_t v = 0; v < n; ++v) {
    Exponent x = splitAt(constant(0), v);
    first.append({x.rest, x.shifted});
  }
  (void)loop(constant(0), item.count, 1, first, [&](Value row, ValueRange parts) {
    Values next, sums = {real(vec(f32()), 0.0), real(vec(f32()), 0.0)};
    for (int64_t v = 0; v < n; ++v) {
      Exponent x = splitAt(add(row, 1), v); // after the last row: read, never used
      next.append({x.rest, x.shifted});
      Value p = exp2(*this, Exponent{parts[2 * v], parts[2 * v + 1]});
      store(p, at(area.scores(row), constant(v * lanes), f32()));
      sums[v % 2] = addf(sums[v % 2], p);
    }
    addToSum(row, addf(sums[0], sums[1]));
    fetchAhead(values, row);
    return next;
  });
}
