//===- AttentionTile.cpp - one tile of keys against a block of rows -------===//

#include "compiler/Conversion/ToLoops/AttentionKernel.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <cmath>

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using model::Size;

/// Groups of 8 rows (4 where registers are few), then 4, 2 and 1: a ragged block costs what
/// it holds, and no row is computed that nobody wants.
void AttentionKernel::byRowGroups(llvm::function_ref<void(Value, Value, int64_t)> body) {
  int64_t most = groupRows();
  Value done = tripFloor(count, most);
  body(constant(0), done, most);
  for (int64_t rows = most / 2; rows; rows /= 2) {
    Value next = tripFloor(count, rows);
    when(less(done, next), [&] { body(done, next, rows); });
    done = next;
  }
}

/// Keys outside of a group's hull are none of its business: what a row skips of a tile that
/// others see adds zeros only.
void AttentionKernel::emitBounds(mask::Emitter e) {
  Value mask = plan.op.getMask();
  if (!mask)
    return;
  Type i64 = b.getI64Type();
  loop(constant(0), count, groupRows(), [&](Value r) {
    auto positionOf = [&](Value row) { return add(length(plan.past), rowOf(add(firstRow, row))); };
    e.first = positionOf(r);
    e.last = positionOf(sub(min(add(r, groupRows()), count), constant(1)));
    e.tile = e.step = b;
    mask::Hull hull = mask::emitHull(e, mask);
    b.restoreInsertionPoint(e.tile.saveInsertionPoint());
    Value to = at(floats(plan.atBounds), mul(div(r, constant(groupRows())), 2), i64);
    store(toI64(hull.begin ? hull.begin : constant(0)), to);
    store(toI64(hull.end ? hull.end : keyCount), at(to, constant(1), i64));
  });
}

/// The keys of the tile that the group of row `r` may see; empty: end <= begin.
std::pair<Value, Value> AttentionKernel::boundsOf(const Tile &tile, Value r) {
  if (!plan.op.getMask())
    return {tile.begin, tile.end};
  Type i64 = b.getI64Type();
  Value from = at(floats(plan.atBounds), mul(div(r, constant(groupRows())), 2), i64);
  return {max(tile.begin, toIndex(load(i64, from))), min(tile.end, toIndex(load(i64, at(from, constant(1), i64))))};
}

/// Bits of `need` that are no bounds of keys; of a disjunction all.
int64_t AttentionKernel::openBeyondBounds() {
  if (!plan.op.getMask())
    return 0;
  mask::Residuals root = mask::residuals(plan.op.getMask());
  int64_t bits = 0;
  for (auto [n, operand] : llvm::enumerate(root.operands))
    if (!root.conjunction || !operand.isBound())
      bits |= int64_t(1) << n;
  return bits;
}

/// The keys of the tile that a row may see: what a conjunction has of bounds is two numbers a row.
std::pair<Value, Value> AttentionKernel::keysSeen(const Tile &tile, const Row &row) {
  Value begin = tile.begin, end = tile.end, mask = plan.op.getMask();
  mask::Residuals root = mask && !plan.counted ? mask::residuals(mask) : mask::Residuals{false, {}};
  auto load = [&](OpBuilder &at, Value operand, ArrayRef<Value> index) { return element(at, operand, index); };
  auto lengthOf = [&](const Size &n) { return length(n); };
  mask::Emitter e = emitter();
  e.head = row.head;
  e.first = e.last = row.position;
  e.load = load;
  e.lengthOf = lengthOf;
  for (const mask::Residual &operand : root.operands)
    if (root.conjunction && operand.isBound()) {
      Value bound = mask::emitBound(e, operand, row.position);
      b.restoreInsertionPoint(e.tile.saveInsertionPoint());
      operand.side == mask::Sides::Lower ? begin = max(begin, bound) : end = min(end, bound);
    }
  return {begin, end};
}

//===-- 1. scores --------------------------------------------------------------------===//

void AttentionKernel::emitScores(const Tile &tile) {
  int64_t vectors = machine.registers >= 32 ? 16 : 8; // accumulators
  int64_t perPanel = kPanel / lanes;
  byRowGroups([&](Value from, Value to, int64_t rows) {
    int64_t panels = std::clamp<int64_t>(vectors / (rows * perPanel), 1, 4);
    scoreRows(tile, from, to, rows, panels);
  });
}

Value AttentionKernel::headOfKeys() {
  Value element = plan.sharedKeys ? constant(0) : batch;
  return add(mul(element, plan.kvHeads), keyHead());
}
/// The panels of this key head, of its class, where the tile at hand finds its own at their positions.
Value AttentionKernel::keysAt() {
  Value part = headOfKeys();
  if (residue)
    part = add(mul(part, plan.classes), residue);
  Value row = mul(part, length(plan.keyRoom));
  return at(key, mul(keyTurn ? sub(row, keyTurn) : row, plan.keyWords()), f32());
}
/// The values of this key head, of its class, from row `k` on, likewise.
Value AttentionKernel::valuesAt(Value k) {
  Value part = headOfKeys();
  if (residue)
    part = add(mul(part, plan.classes), residue);
  Value row = add(mul(part, length(plan.valueRoom)), k);
  return at(value, mul(valueTurn ? sub(row, valueTurn) : row, plan.valueWords()), f32());
}

void AttentionKernel::scoreRows(const Tile &tile, Value from, Value to, int64_t rows, int64_t panels) {
  int64_t w = plan.keyWords();
  Value keys = keysAt();
  Value first = tripFloor(div(tile.begin, constant(kPanel)), panels);
  Value last = div(add(tile.end, kPanel - 1), constant(kPanel));
  loop(first, last, panels, [&](Value panel) {
    Value panelAt = at(keys, mul(panel, kPanel * w), f32());
    Value column = add(sub(mul(panel, kPanel), tile.at), kScoreFront);
    loop(from, to, rows, [&](Value r) {
      auto [begin, end] = boundsOf(tile, r);
      Value seen = arith::AndIOp::create(b, less(mul(panel, kPanel), end), less(begin, mul(add(panel, panels), kPanel)));
      when(seen, [&] { scorePanels(panel, panelAt, column, r, rows, panels); });
    });
  });
}

/// `rows` rows from `r` on against `panels` panels: one accumulator a score, d ascending.
void AttentionKernel::scorePanels(Value panel, Value panelAt, Value column, Value r, int64_t rows, int64_t panels) {
  int64_t perPanel = kPanel / lanes, w = plan.keyWords();
  SumStep step = scoreStep();
  Value q = at(floats(plan.atQuery), mul(r, plan.queryWords()), f32()), valuesOfPanels = valuesAt(mul(panel, kPanel));
  Values init(rows * panels * perPanel, real(vec(f32()), 0.0));
  auto multiply = [&](Value d, Values next) {
    Values k;
    Value line = mul(d, kPanel);
    for (int64_t p = 0; p < panels; ++p)
      for (int64_t v = 0; v < perPanel; ++v)
        k.push_back(at(panelAt, add(line, p * kPanel * w + v * lanes), f32()));
    step.multiply(*this, q, d, k, rows, next);
    return next;
  };
  Values sums = loop(constant(0), constant(step.whole()), 1, init, [&](Value d, ValueRange carried) {
    if (rows == 8) { // each group of rows brings its share of the next panels, and of the values nearer
      int64_t share = panels * kPanel / kRowTile, u = plan.valueWords();
      prefetch(at(panelAt, add(add(mul(r, share * w), mul(d, share * rows)), panels * kPanel * w), f32()));
      Value soon = at(valuesOfPanels, add(mul(r, share * u), mul(d, std::max<int64_t>(1, share * rows * u / w))), f32());
      LLVM::Prefetch::create(b, soon, /*rw=*/0, /*level 2=*/2, /*data=*/1);
    }
    return multiply(d, Values(carried.begin(), carried.end()));
  });
  if (step.whole() < step.depth())
    sums = multiply(constant(step.whole()), sums);
  // With dots the queries were rounded as they are, and the scale comes behind the sum.
  if (plan.arithmetic.dots)
    for (Value &sum : sums)
      sum = mulf(sum, real(vec(f32()), plan.op.getScale().convertToDouble() * kLog2E));
  Value scores = at(floats(plan.atScores), add(mul(r, kScoreStride), column), f32());
  for (int64_t i = 0, n = panels * perPanel; i < rows; ++i)
    for (int64_t v = 0; v < n; ++v)
      store(sums[i * n + v], at(scores, constant(i * kScoreStride + v * lanes), f32()));
}

//===-- 2. maxima --------------------------------------------------------------------===//

void AttentionKernel::emitMaxima(const Tile &tile) {
  Value none = real(vec(f32()), -INFINITY);
  loop(constant(0), count, 1, [&](Value r) {
    Value packedRow = add(firstRow, r);
    Row row{r, rowOf(packedRow), {}, ownOf(packedRow), headOf(packedRow), {}};
    row.position = add(length(plan.past), row.row);
    Value scores = at(floats(plan.atScores), add(mul(r, kScoreStride), kScoreFront), f32());
    Value counts = plan.counted ? at(floats(plan.atCounts), add(mul(r, kScoreStride), kScoreFront), f32()) : Value();
    auto load = [&](OpBuilder &at, Value operand, ArrayRef<Value> index) { return element(at, operand, index); };
    auto lengthOf = [&](const Size &n) { return length(n); };

    auto seenKeys = tile.partial ? keysSeen(tile, row) : std::pair<Value, Value>();
    auto scoreAt = [&](Value column) {
      Value s = loadVec(scores, column), firstKey = add(tile.at, column);
      if (plan.op.getSoftcap())
        s = softcap(s);
      if (Value bias = plan.op.getBias())
        s = fma(biasAt(bias, row, firstKey, column), real(vec(f32()), kLog2E), s);
      if (tile.partial) {
        Value keys = iota(firstKey);
        using Compare = arith::CmpIPredicate;
        Value seen = arith::CmpIOp::create(b, Compare::slt, keys, splatWord(seenKeys.second));
        seen = arith::AndIOp::create(b, seen, Value(arith::CmpIOp::create(b, Compare::sge, keys, splatWord(seenKeys.first))));
        if (Value mask = plan.op.getMask(); mask && !tile.bounds) {
          mask::Emitter e = emitter();
          e.head = row.head;
          e.first = e.last = row.position;
          e.load = load;
          e.lengthOf = lengthOf;
          e.tile.restoreInsertionPoint(row.before);
          mask::Residuals root = mask::residuals(mask);
          if (plan.counted || !root.conjunction)
            seen = arith::AndIOp::create(b, seen, mask::emitContains(e, mask, row.position, keys));
          for (const mask::Residual &operand : root.operands)
            if (!plan.counted && root.conjunction && !operand.isBound())
              seen = arith::AndIOp::create(b, seen, mask::emitContains(e, operand, row.position, keys));
          if (plan.counted) {
            Value n = mask::emitCount(e, mask, row.position, keys);
            store(arith::SIToFPOp::create(b, vec(f32()), n), at(counts, column, f32()));
          }
        }
        s = select(seen, s, none);
      }
      if (tile.partial || plan.op.getSoftcap() || plan.op.getBias())
        store(s, at(scores, column, f32()));
      return s;
    };

    Values greatest = {none, none};
    if (tile.partial) {
      auto [begin, end] = boundsOf(tile, r);
      begin = tripFloor(sub(begin, tile.at), 2 * lanes);
      greatest = loop(begin, sub(end, tile.at), 2 * lanes, greatest, [&](Value column, ValueRange c) -> Values {
        OpBuilder outside(b);
        outside.setInsertionPoint(b.getInsertionBlock()->getParentOp());
        row.before = outside.saveInsertionPoint();
        return {larger(scoreAt(column), c[0]), larger(scoreAt(add(column, lanes)), c[1])};
      });
    } else {
      for (int64_t column = 0; column < kKeyTile; column += lanes)
        greatest[column / lanes % 2] = larger(scoreAt(constant(column)), greatest[column / lanes % 2]);
    }
    Value maxAt = at(floats(plan.atMax), r, f32()), before = this->load(f32(), maxAt);
    Value now = larger(largestLane(larger(greatest[0], greatest[1])), before);
    store(now, maxAt);
    store(subf(before, now), at(floats(plan.atScale), r, f32()));
  });
  for (int64_t r = 0; r < kRowTile; r += lanes) {
    Value scale = at(floats(plan.atScale), constant(r), f32());
    store(exp2(this->load(vec(f32()), scale)), scale);
  }
}

//===-- 3. weights: a loop of its own, so that the reductions above overlap ------------===//

void AttentionKernel::addToSum(Value r, Value sum) {
  Value sumAt = at(floats(plan.atSum), mul(r, 16), f32());
  Value scale = splat(loadF32(floats(plan.atScale), r));
  store(fma(this->load(vec(f32()), sumAt), scale, sum), sumAt);
}

/// Each row brings its share of the tile's values, which are read next, and a row of the next block of
/// queries: rows of one head lie far apart, and all at once they would be waited for.
void AttentionKernel::fetchAhead(Value values, Value row) {
  Value next = queryOf(add(add(firstRow, kRowTile), row));
  for (int64_t j = 0; j < plan.width; j += 16)
    prefetch(at(next, constant(j), f32()));
  constexpr int64_t share = kKeyTile / kRowTile;
  for (int64_t j = 0; j < share * plan.valueWords(); j += 16)
    prefetch(at(values, add(mul(row, share * plan.valueWords()), j), f32()));
}

void AttentionKernel::emitWeights(const Tile &tile) {
  if (plan.arithmetic.dots)
    return emitPairWeights(tile);
  if (!tile.partial && machine.registers >= 32 && lanes == 16 && !plan.counted)
    return emitAllWeights(tile);
  Value zero = real(vec(f32()), 0.0);
  loop(constant(0), count, 1, [&](Value r) {
    Value scores = at(floats(plan.atScores), add(mul(r, kScoreStride), kScoreFront), f32());
    Value greatest = splat(loadF32(floats(plan.atMax), r));
    auto weightAt = [&](Value column) {
      Value p = exp2(subf(loadVec(scores, column), greatest));
      if (plan.counted)
        p = mulf(p, loadVec(floats(plan.atCounts), add(add(mul(r, kScoreStride), kScoreFront), column)));
      store(p, at(scores, column, f32()));
      return p;
    };
    // Lane sums of even and of odd vectors: trimming a tile adds or leaves out zeros.
    Values sums = {zero, zero};
    if (tile.partial) {
      auto [begin, end] = boundsOf(tile, r);
      begin = tripFloor(sub(begin, tile.at), 2 * lanes);
      sums = loop(begin, sub(end, tile.at), 2 * lanes, sums, [&](Value column, ValueRange c) -> Values {
        return {addf(c[0], weightAt(column)), addf(c[1], weightAt(add(column, lanes)))};
      });
    } else {
      for (int64_t column = 0; column < kKeyTile; column += lanes)
        sums[column / lanes % 2] = addf(sums[column / lanes % 2], weightAt(constant(column)));
    }
    addToSum(r, addf(sums[0], sums[1]));
  });
}

/// The same for a whole tile, one row ahead: the additions of a row's splits stand between the
/// multiplications of the polynomials of the row before, which other units execute.
void AttentionKernel::emitAllWeights(const Tile &tile) {
  constexpr int64_t n = kKeyTile / 16;
  auto scoresOf = [&](Value r) { return at(floats(plan.atScores), add(mul(r, kScoreStride), kScoreFront), f32()); };
  auto splitAt = [&](Value r, int64_t v) {
    return split(subf(loadVec(scoresOf(r), constant(v * lanes)), splat(loadF32(floats(plan.atMax), r))));
  };
  Value values = valuesAt(tile.at);
  Values first;
  for (int64_t v = 0; v < n; ++v) {
    auto [r, shifted] = splitAt(constant(0), v);
    first.append({r, shifted});
  }
  (void)loop(constant(0), count, 1, first, [&](Value row, ValueRange parts) {
    Values next, sums = {real(vec(f32()), 0.0), real(vec(f32()), 0.0)};
    for (int64_t v = 0; v < n; ++v) {
      auto [r, shifted] = splitAt(add(row, 1), v); // behind the last row: read, never used
      next.append({r, shifted});
      Value p = exp2(std::pair(parts[2 * v], parts[2 * v + 1]));
      store(p, at(scoresOf(row), constant(v * lanes), f32()));
      sums[v % 2] = addf(sums[v % 2], p);
    }
    addToSum(row, addf(sums[0], sums[1]));
    fetchAhead(values, row);
    return next;
  });
}

//===-- 4. output --------------------------------------------------------------------===//

void AttentionKernel::emitOutput(const Tile &tile) {
  auto all = [&](bool guard) {
    byRowGroups([&](Value from, Value to, int64_t rows) { outputRows(tile, guard, from, to, rows); });
  };
  if (plan.arithmetic.dots)
    emitPairs(tile);
  when(guarded, [&] { all(true); }, [&] { all(false); });
}

void AttentionKernel::outputRows(const Tile &tile, bool guard, Value from, Value to, int64_t rows) {
  int64_t u = plan.valueWidth, stride = (u + 15) / 16 * 16;
  int64_t most = std::clamp<int64_t>((machine.registers >= 32 ? 16 : 8) / rows, 1, 4);
  Value values = valuesAt(constant(0));

  // `n` vectors of the output of rows `r`.. from `d` on; the last has `tail` lanes (0: all).
  auto chunk = [&](Value r, Value begin, Value end, Value d, int64_t n, int64_t tail) {
    Value mask;
    if (tail)
      mask = vector::CreateMaskOp::create(b, vec(b.getI1Type()), ValueRange{constant(tail)});
    auto maskOf = [&](int64_t v) { return v == n - 1 ? mask : Value(); };
    Value out = at(floats(plan.atOutput), add(mul(r, stride), d), f32());
    Value scale = at(floats(plan.atScale), r, f32());
    Value weights = at(floats(plan.atScores), add(sub(mul(r, kScoreStride), tile.at), kScoreFront), f32());
    Value column = at(values, d, valueType());
    Values init;
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t v = 0; v < n; ++v)
        init.push_back(mulf(loadVec(out, constant(i * stride + v * lanes)), splat(loadF32(scale, constant(i)))));
    if (plan.arithmetic.dots) {
      weights = at(floats(plan.atScores), add(mul(r, kScoreStride), kScoreFront), f32());
      std::tie(begin, end) = pairsOf(tile, begin, end);
    }
    Values sums = loop(begin, end, 1, init, [&](Value k, ValueRange carried) {
      Values next(carried.begin(), carried.end()), x;
      if (plan.arithmetic.dots)
        return addPair(weights, k, d, rows, n, guard, next);
      Value row = mul(k, valuePitch());
      for (int64_t v = 0; v < n; ++v)
        x.push_back(loadValue(column, add(row, v * lanes), maskOf(v)));
      for (int64_t i = 0; i < rows; ++i) {
        Value p = splat(loadF32(weights, add(k, i * kScoreStride)));
        // Compared as a vector: the choice is then a mask of the multiplication, not a branch.
        Value counts = guard ? Value(arith::CmpFOp::create(b, arith::CmpFPredicate::UNE, p, real(vec(f32()), 0.0))) : Value();
        for (int64_t v = 0; v < n; ++v) {
          Value y = fma(p, x[v], next[i * n + v]);
          next[i * n + v] = guard ? select(counts, y, next[i * n + v]) : y;
        }
      }
      return next;
    });
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t v = 0; v < n; ++v)
        store(sums[i * n + v], at(out, constant(i * stride + v * lanes), f32()));
  };
  int64_t whole = u / (lanes * most), rest = u % (lanes * most);
  loop(from, to, rows, [&](Value r) {
    auto [begin, end] = boundsOf(tile, r);
    // A group that sees nothing here keeps its output: alpha is 1.
    when(less(begin, end), [&, begin = begin, end = end] {
      if (whole)
        loop(constant(0), constant(whole * lanes * most), lanes * most, [&](Value d) { chunk(r, begin, end, d, most, 0); });
      if (rest)
        chunk(r, begin, end, constant(whole * lanes * most), (rest + lanes - 1) / lanes, rest % lanes);
    });
  });
}
