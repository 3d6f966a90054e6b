//===- AttentionOutput.cpp - weights times values --------------------------===//
//
// Step 4: weights times values. A tile of rows x vectors of features keeps its outputs in registers while keys ascend.
// With dots the sum goes over pairs of keys; a tile begins at the first visible key, so padding does not decide which
// keys are partners. Values are rows of halves, and those of a tile are joined to pairs once for all its rows (if
// `plan.paired`, already when they are packed).
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/CPU/Attention/AttentionKernel.h"
#include "compiler/Conversion/Lowering/Facts/SumStep.h"
#include "compiler/Conversion/Lowering/Language/Halves.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;

namespace {
/// Outputs summed in registers: `count` vectors of features from `d` on, for `rows` rows from `r` on.
struct Chunk {
  Value r, d;
  int64_t rows, count;
  int64_t tail;     ///< lanes of the last vector; 0: all
  Value begin, end; ///< keys
  Value source;     ///< the values from key 0 on; with dots the pairs of the tile
  bool guard;       ///< weights of 0 are left out
};

class Output : ItemCode {
public:
  Output(const ItemCode &item, const Tile &tile) : ItemCode(item), tile(tile) {}
  void emit(Value guarded);

private:
  const Tile tile;
  void rowGroup(Value pairs, bool guard, Value from, Value to, int64_t rows);
  void chunk(const Chunk &c);
  Values scaled(const Chunk &c, Value out, Value scale);
  Values overKeys(const Chunk &c, Value out, Value scale);
  Values overPairs(const Chunk &c, Value out, Value scale);
  Values overSteps(const Chunk &c, Value from, Value to, Values before,
                   llvm::function_ref<Values(Value at, int64_t behind, ValueRange carried)> step);
  std::pair<Value, Value> pairsOf(Value begin, Value end);
  Value pairs();
  void weave(Value values, Value even, Value odd, Value target, Value d, Value mask);
};
} // namespace

void heddle::loops::emitOutput(const ItemCode &item, const Tile &tile, Value guarded) {
  Output(item, tile).emit(guarded);
}

void Output::emit(Value guarded) {
  Value paired = plan.arithmetic.dots ? pairs() : Value();
  if (plan.matrix)
    return emitMatrixOutput(*this, tile, paired, guarded);
  auto all = [&](bool guard) {
    byRowGroups([&](Value from, Value to, int64_t rows) { rowGroup(paired, guard, from, to, rows); });
  };
  when(guarded, [&] { all(true); }, [&] { all(false); });
}

void Output::rowGroup(Value pairs, bool guard, Value from, Value to, int64_t rows) {
  int64_t most = std::clamp<int64_t>(accumulators() / rows, 1, 4), width = lanes * most;
  int64_t whole = plan.valueWidth / width, rest = plan.valueWidth % width;
  Value source = pairs ? pairs : valuesOf(tile, constant(0));
  loop(from, to, rows, [&](Value r) {
    auto [begin, end] = seenBy(tile, r);
    // A group that sees no key here keeps its output: its factor is 1.
    when(less(begin, end), [&, begin = begin, end = end] {
      if (whole)
        loop(constant(0), constant(whole * width), width,
             [&](Value d) { chunk({r, d, rows, most, 0, begin, end, source, guard}); });
      if (rest)
        chunk({r, constant(whole * width), rows, (rest + lanes - 1) / lanes, rest % lanes, begin, end, source, guard});
    });
  });
}

void Output::chunk(const Chunk &c) {
  Value out = area.output(c.r, c.d), scale = area.scale(c.r);
  Values sums = plan.arithmetic.dots ? overPairs(c, out, scale) : overKeys(c, out, scale);
  for (int64_t i = 0; i < c.rows; ++i)
    for (int64_t v = 0; v < c.count; ++v)
      store(sums[i * c.count + v], at(out, constant(i * area.outputStride() + v * lanes), f32()));
}

/// The sums over earlier tiles times the row's factor.
Values Output::scaled(const Chunk &c, Value out, Value scale) {
  Values sums;
  for (int64_t i = 0; i < c.rows; ++i)
    for (int64_t v = 0; v < c.count; ++v) {
      Value before = loadVec(out, constant(i * area.outputStride() + v * lanes));
      sums.push_back(mulf(before, splat(loadF32(scale, constant(i)))));
    }
  return sums;
}

Values Output::overKeys(const Chunk &c, Value out, Value scale) {
  Value tail;
  if (c.tail)
    tail = firstLanes(constant(c.tail));
  Value weights =
      at({area.floats(plan.atScores), add(sub(mul(c.r, plan.scoreStride()), tile.at), kScoreFront)}, f32()); // of key 0
  Value column = at(c.source, c.d, valueType());
  auto step = [&](Value k, int64_t behind, ValueRange carried) {
    Values next(carried.begin(), carried.end()), x;
    Value row = mul(k, valuePitch());
    for (int64_t v = 0; v < c.count; ++v)
      x.push_back(loadValue(column, add(row, behind * valuePitch() + v * lanes), v == c.count - 1 ? tail : Value()));
    for (int64_t i = 0; i < c.rows; ++i) {
      Value p = splat(loadF32(weights, add(k, i * plan.scoreStride() + behind))), counts;
      if (c.guard) // as a vector compare, which becomes a mask of the multiplication instead of a branch
        counts = arith::CmpFOp::create(b, arith::CmpFPredicate::UNE, p, real(vec(f32()), 0.0));
      for (int64_t v = 0; v < c.count; ++v) {
        Value &sum = next[i * c.count + v], y = fma(p, x[v], sum);
        sum = c.guard ? select(counts, y, sum) : y;
      }
    }
    return next;
  };
  return overSteps(c, c.begin, c.end, scaled(c, out, scale), step);
}

/// A loop over keys or pairs of keys. (A mask takes the last of 16 registers, which several steps in a turn would
/// want.)
Values Output::overSteps(const Chunk &c, Value from, Value to, Values before,
                         llvm::function_ref<Values(Value, int64_t, ValueRange)> step) {
  bool few = c.rows < groupRows() || c.guard || (c.tail && machine.registers < 32);
  int64_t steps = few ? 1 : kStepsInTurn;
  return loopInTurns(from, to, steps, steps == 1, before, step);
}

//===-- pairs of keys ----------------------------------------------------------------===//

/// The pairs that contain keys [begin, end), counted from the tile's first key.
std::pair<Value, Value> Output::pairsOf(Value begin, Value end) {
  Value first = div(sub(begin, tile.at), constant(2));
  return {first, div(add(sub(end, tile.at), 1), constant(2))};
}

Values Output::overPairs(const Chunk &c, Value out, Value scale) {
  Values before = scaled(c, out, scale);
  Type i32 = b.getI32Type();
  auto halves = VectorType::get({2 * lanes}, b.getI16Type());
  Value weights = area.scores(c.r);
  auto [from, to] = pairsOf(c.begin, c.end);
  auto step = [&](Value pair, int64_t behind, ValueRange carried) {
    Values sums(carried.begin(), carried.end()), x;
    Value row = at(c.source, add(mul(pair, plan.pairStride()), c.d), i32);
    for (int64_t v = 0; v < c.count; ++v)
      x.push_back(load(words(), at(row, constant(behind * plan.pairStride() + v * lanes), i32)));
    Value none = c.guard ? integer(halves, 0) : Value();
    for (int64_t i = 0; i < c.rows; ++i) {
      Value p = splat(load(i32, at(weights, add(pair, i * plan.scoreStride() + behind), i32))), counts;
      if (c.guard) {
        Value both = vector::BitCastOp::create(b, halves, p);
        counts = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, both, none);
      }
      for (int64_t v = 0; v < c.count; ++v) {
        Value y = x[v];
        if (c.guard)
          y = vector::BitCastOp::create(b, words(), select(counts, vector::BitCastOp::create(b, halves, y), none));
        sums[i * c.count + v] = dot(*this, sums[i * c.count + v], p, y);
      }
    }
    return sums;
  };
  return overSteps(c, from, to, before, step);
}

/// Joins the tile's values to rows of pairs, [64][u][2]. A key missing at the end is replaced by its partner: its
/// weight is 0, and nothing is read outside of the values.
Value Output::pairs() {
  if (plan.paired)
    return valuesOf(tile, tile.at);
  Value all = area.pairs(), values = valuesOf(tile, constant(0)), last = sub(tile.end, constant(1));
  auto [from, to] = pairsOf(tile.begin, tile.end);
  if (plan.matrix) { // takes in 32 keys at a time
    auto nothing = [&](Value pair) {
      Value line = at(all, mul(pair, plan.pairStride()), b.getI32Type());
      for (int64_t d = 0; d < plan.pairStride(); d += lanes)
        store({integer(words(), 0), at(line, constant(d), b.getI32Type())});
    };
    loop(tripFloor(from, 16), from, 1, nothing);
    loop(to, tripFloor(add(to, 15), 16), 1, nothing);
  }
  loop(from, to, 1, [&](Value pair) {
    Value key = add(tile.at, mul(pair, 2));
    Value even = mul(max(key, tile.begin), valuePitch()), odd = mul(min(add(key, 1), last), valuePitch());
    Value target = at(all, mul(pair, plan.pairStride()), b.getI32Type());
    int64_t rest = plan.valueWidth % (2 * lanes), whole = plan.valueWidth - rest;
    loop(constant(0), constant(whole), 2 * lanes, [&](Value d) { weave(values, even, odd, target, d, {}); });
    if (rest) {
      auto bits = VectorType::get({2 * lanes}, b.getI1Type());
      weave(values, even, odd, target, constant(whole),
            vector::CreateMaskOp::create(b, bits, ValueRange{constant(rest)}));
    }
  });
  return all;
}

/// 32 features of the rows that begin at elements `even` and `odd`, as two vectors of words.
void Output::weave(Value values, Value even, Value odd, Value target, Value d, Value mask) {
  auto halves = VectorType::get({2 * lanes}, valueType());
  auto half = [&](Value row) { return load(halves, at(values, add(row, d), valueType()), mask); };
  Value low = half(even), high = half(odd);
  for (int64_t part = 0; part < 2; ++part) {
    SmallVector<int64_t> order;
    for (int64_t i = part * lanes; i < (part + 1) * lanes; ++i)
      order.append({i, 2 * lanes + i});
    Value pairs = vector::ShuffleOp::create(b, low, high, order);
    Value line = vector::BitCastOp::create(b, words(), pairs);
    store(line, at(target, add(d, part * lanes), b.getI32Type()));
  }
}
