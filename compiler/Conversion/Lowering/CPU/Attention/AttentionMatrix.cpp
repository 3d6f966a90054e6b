//===- AttentionMatrix.cpp - scores and outputs in matrix registers -------===//
//
// Steps 1 and 4 of dots where the processor has matrix registers (MatrixTiles.h). A tile's scores are 16 rows by 16
// keys at a time, of as many rows as an item has or garbage after them, each the sum over all features of the head;
// outputs are 16 rows by 16 features, over 32 keys at a time from the tile's first key on. Weights of keys that a row
// does not see are 0 there, and so are values that do not exist. Few rows take the same way, since sums of pairs in
// matrix registers have bits of their own.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/CPU/Attention/AttentionKernel.h"
#include "compiler/Conversion/Lowering/CPU/Linear/MatrixTiles.h"
#include "compiler/Conversion/Lowering/Language/Halves.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;

using Tiles = MatrixTiles;

/// Keys, or features, that a register takes in at once.
static constexpr int64_t kAtOnce = 2 * Tiles::words;

namespace {
class MatrixSteps : ItemCode {
public:
  MatrixSteps(const ItemCode &item, const Tile &tile) : ItemCode(item), tile(tile) {}
  void scores();
  void outputs(Value pairs, Value guarded);

private:
  const Tile tile;
  void byHeight(llvm::function_ref<void(Value row, int64_t high)> body);
  void scoresOf(Value row, int64_t high);
  void outputsOf(Value pairs, Value row, int64_t high);
  void shrink();
  void hiddenValues(Value pairs);
  Value cleaned(Value pairs);
  Value isFinite(Value words);
};
} // namespace

/// body(row, high) for blocks of 32 rows of the item, or 16 where it has no more.
void MatrixSteps::byHeight(llvm::function_ref<void(Value row, int64_t high)> body) {
  if (plan.rowTile <= Tiles::rows)
    return body(constant(0), 1);
  loop(constant(0), item.count, 2 * Tiles::rows,
       [&](Value row) { when(less(add(row, Tiles::rows), item.count), [&] { body(row, 2); }, [&] { body(row, 1); }); });
}

//===-- scores -------------------------------------------------------------------------===//

void MatrixSteps::scores() {
  byHeight([&](Value row, int64_t high) { scoresOf(row, high); });
}

/// Two panels of keys at a time, all that some row of the item may see.
void MatrixSteps::scoresOf(Value row, int64_t high) {
  const int64_t atOnce = 2, panelWords = kPanel * plan.keyWords();
  Value keys = keysOf(tile), query = area.query(row);
  Value first = tripFloor(div(tile.begin, constant(kPanel)), atOnce);
  Value last = div(add(tile.end, kPanel - 1), constant(kPanel));
  loop(first, last, atOnce, [&](Value panel) {
    Value panelAt = at(keys, mul(panel, panelWords), f32());
    for (int64_t i = 0; i < high * atOnce; ++i)
      Tiles::zero(*this, i);
    for (int64_t d = 0; d < plan.queryWords(); d += Tiles::words) {
      for (int64_t a = 0; a < high; ++a)
        Tiles::load(*this, Tiles::firstLeft + a, at(query, constant(a * Tiles::rows * plan.queryWords() + d), f32()),
                    plan.queryWords() * 4);
      for (int64_t p = 0; p < atOnce; ++p) {
        Tiles::load(*this, Tiles::firstWeights + p, at(panelAt, constant(p * panelWords + d * kPanel), f32()),
                    kPanel * 4);
        for (int64_t a = 0; a < high; ++a)
          Tiles::multiplyPairs(*this, a * atOnce + p, Tiles::firstLeft + a, Tiles::firstWeights + p);
      }
    }
    Value to = area.scores(row, add(sub(mul(panel, kPanel), tile.at), kScoreFront));
    for (int64_t a = 0; a < high; ++a)
      for (int64_t p = 0; p < atOnce; ++p)
        Tiles::store(*this, a * atOnce + p, at(to, constant(a * Tiles::rows * plan.scoreStride() + p * kPanel), f32()),
                     plan.scoreStride() * 4);
  });
}

//===-- outputs ------------------------------------------------------------------------===//

void MatrixSteps::outputs(Value pairs, Value guarded) {
  shrink();
  auto all = [&](Value pairs) { byHeight([&](Value row, int64_t high) { outputsOf(pairs, row, high); }); };
  when(
      guarded,
      [&] {
        hiddenValues(pairs);
        all(cleaned(pairs));
      },
      [&] { all(pairs); });
}

/// Outputs of the tiles before times each row's factor.
void MatrixSteps::shrink() {
  loop(constant(0), item.count, 1, [&](Value r) {
    Value out = area.output(r), scale = splat(load(f32(), area.scale(r)));
    for (int64_t j = 0; j < area.outputStride(); j += lanes) {
      Value place = at(out, constant(j), f32());
      store(mulf(load(vec(f32()), place), scale), place);
    }
  });
}

/// 32 features at a time, or the 16 that are left.
void MatrixSteps::outputsOf(Value pairs, Value row, int64_t high) {
  Value from = div(sub(tile.begin, tile.at), constant(kAtOnce)),
        to = div(add(sub(tile.end, tile.at), kAtOnce - 1), constant(kAtOnce));
  Value weights = area.scores(row);
  for (int64_t d = 0; d < plan.valueWidth; d += 2 * Tiles::results) {
    int64_t count = std::min<int64_t>(2, (plan.valueWidth - d) / Tiles::results);
    auto sums = [&](llvm::function_ref<void(int64_t tile, Value place)> each) {
      for (int64_t a = 0; a < high; ++a)
        for (int64_t q = 0; q < count; ++q)
          each(a * count + q,
               at(area.output(row), constant(a * Tiles::rows * area.outputStride() + d + q * Tiles::results), f32()));
    };
    int64_t pitch = area.outputStride() * 4;
    sums([&](int64_t i, Value place) { Tiles::load(*this, i, place, pitch); });
    loop(from, to, 1, [&](Value step) {
      Value left = at(weights, mul(step, Tiles::words), f32()),
            right = at(pairs, add(mul(step, Tiles::words * plan.pairStride()), d), f32());
      for (int64_t a = 0; a < high; ++a)
        Tiles::load(*this, Tiles::firstLeft + a, at(left, constant(a * Tiles::rows * plan.scoreStride()), f32()),
                    plan.scoreStride() * 4);
      for (int64_t q = 0; q < count; ++q) {
        Tiles::load(*this, Tiles::firstWeights + q, at(right, constant(q * Tiles::results), f32()),
                    plan.pairStride() * 4);
        for (int64_t a = 0; a < high; ++a)
          Tiles::multiplyPairs(*this, a * count + q, Tiles::firstLeft + a, Tiles::firstWeights + q);
      }
    });
    sums([&](int64_t i, Value place) { Tiles::store(*this, i, place, pitch); });
  }
}

//===-- values that are no numbers -------------------------------------------------------===//

/// i1 for each half of a word.
Value MatrixSteps::isFinite(Value words) {
  auto halves = VectorType::get({2 * lanes}, b.getI16Type());
  Value bits = vector::BitCastOp::create(b, halves, words), exponent = integer(halves, 0x7f80);
  Value mine = arith::AndIOp::create(b, bits, exponent);
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, mine, exponent);
}

/// Adds to outputs the products of values that are infinite or no numbers with weights that are not 0.
void MatrixSteps::hiddenValues(Value pairs) {
  auto halves = VectorType::get({2 * lanes}, b.getI16Type());
  Value none = integer(halves, 0);
  Value from = div(sub(tile.begin, tile.at), constant(2)), to = div(add(sub(tile.end, tile.at), 1), constant(2));
  auto bits = [&](Value words) -> Value { return vector::BitCastOp::create(b, halves, words); };
  loop(constant(0), item.count, 1, [&](Value r) {
    loop(constant(0), constant(area.outputStride()), lanes, [&](Value d) {
      Value place = at(area.output(r), d, f32());
      Values sum = loop(from, to, 1, load(vec(f32()), place), [&](Value pair, ValueRange carried) -> Values {
        Value p = splat(load(b.getI32Type(), at(area.scores(r), pair, b.getI32Type())));
        Value x = load(words(), at(pairs, add(mul(pair, plan.pairStride()), d), b.getI32Type()));
        Value seen = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, bits(p), none);
        Value hidden = arith::XOrIOp::create(b, seen, integer(seen.getType(), 1)), finite = isFinite(x);
        Value whole = arith::OrIOp::create(b, finite, hidden);
        Value odd = vector::BitCastOp::create(b, words(), select(whole, none, bits(x)));
        Value any = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, odd, integer(words(), 0));
        return {select(any, dot(*this, carried[0], p, odd), carried[0])};
      });
      store(sum[0], place);
    });
  });
}

/// The pairs of the tile with 0 instead of what is not finite.
Value MatrixSteps::cleaned(Value pairs) {
  Value all = area.pairs();
  auto halves = VectorType::get({2 * lanes}, b.getI16Type());
  int64_t step = Tiles::words * plan.pairStride();
  Value from = mul(div(sub(tile.begin, tile.at), constant(kAtOnce)), step),
        to = mul(div(add(sub(tile.end, tile.at), kAtOnce - 1), constant(kAtOnce)), step);
  loop(from, to, lanes, [&](Value at) {
    Value x = load(words(), this->at(pairs, at, b.getI32Type()));
    Value finite = isFinite(x), bits = vector::BitCastOp::create(b, halves, x);
    Value clean = select(finite, bits, integer(halves, 0));
    store({vector::BitCastOp::create(b, words(), clean), this->at(all, at, b.getI32Type())});
  });
  return all;
}

void heddle::loops::emitMatrixScores(const ItemCode &item, const Tile &tile) { MatrixSteps(item, tile).scores(); }
void heddle::loops::emitMatrixOutput(const ItemCode &item, const Tile &tile, Value pairs, Value guarded) {
  MatrixSteps(item, tile).outputs(pairs, guarded);
}
