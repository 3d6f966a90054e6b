//===- AttentionStored.cpp - how keys and values are stored ---------------===//

#include "compiler/Conversion/Lowering/CPU/Attention/AttentionStored.h"
#include "compiler/Conversion/Lowering/Facts/AttentionShape.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;

/// Swaps halves of ever smaller blocks: log2(lanes) steps of two-operand shuffles.
Values heddle::loops::transpose(Code &c, Values rows) {
  int64_t n = c.lanes;
  for (int64_t d = 1; d < n; d *= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t lane = 0; lane < n; ++lane) {
      low.push_back(lane & d ? n + lane - d : lane);
      high.push_back(lane & d ? n + lane : lane + d);
    }
    for (int64_t i = 0; i < n; ++i) {
      if (i & d)
        continue;
      Value x = rows[i], y = rows[i + d];
      rows[i] = vector::ShuffleOp::create(c.b, x, y, low);
      rows[i + d] = vector::ShuffleOp::create(c.b, x, y, high);
    }
  }
  return rows;
}

void heddle::loops::packPanel(Code &c, Stored stored, llvm::function_ref<Value(int64_t)> rowAt, int64_t w,
                              Value target) {
  for (int64_t half = 0; half < kPanel; half += c.lanes) {
    Values rows;
    for (int64_t i = 0; i < c.lanes; ++i)
      rows.push_back(rowAt(half + i));
    c.vectors(c.constant(w), [&](Value d, Value mask) {
      Values block;
      for (Value row : rows)
        block.push_back(c.loadVec(row, d, mask));
      block = transpose(c, block); // masked lanes are 0: so is what an odd width lacks
      int64_t valid = mask ? w % c.lanes : c.lanes;
      bool halves = stored != Stored::f32;
      Value line = halves ? c.div(d, c.constant(2)) : d;
      for (int64_t i = 0, at = 0; i < valid; i += halves ? 2 : 1, ++at) {
        Value words = halves ? pairWord(c, stored, block[i], block[i + 1]) : block[i];
        c.store(words, c.at(target, c.add(c.mul(c.add(line, at), kPanel), half), c.f32()));
      }
    });
  }
}

void heddle::loops::packPanel(Code &c, Stored stored, Value source, int64_t stride, int64_t w, Value target,
                              Value rows) {
  // Missing rows repeat the last one: finite, and never used.
  Value last = c.sub(rows, c.constant(1));
  packPanel(
      c, stored, [&](int64_t i) { return c.at(source, c.mul(c.min(c.constant(i), last), stride), c.f32()); }, w,
      target);
}

void heddle::loops::packKey(Code &c, Stored stored, Value source, int64_t w, Value panel, Value lane) {
  if (stored == Stored::f32) {
    c.loop(c.constant(0), c.constant(w), 1,
           [&](Value d) { c.store({c.loadF32(source, d), c.at(panel, c.add(c.mul(d, kPanel), lane), c.f32())}); });
    return;
  }
  auto put = [&](Value even, Value odd, Value pair) {
    c.store({pairWord(c, stored, even, odd), c.at(panel, c.add(c.mul(pair, kPanel), lane), c.f32())});
  };
  c.loop(c.constant(0), c.constant(w / 2), 1, [&](Value pair) {
    Value d = c.mul(pair, 2), even = c.loadF32(source, d), odd = c.loadF32(source, c.add(d, 1));
    put(even, odd, pair);
  });
  if (w % 2)
    put(c.loadF32(source, c.constant(w - 1)), c.real(0.0), c.constant(w / 2));
}

void heddle::loops::packValue(Code &c, Stored stored, Value source, int64_t u, Value target) {
  bool halves = stored != Stored::f32;
  Type element = halves ? Type(c.b.getI16Type()) : c.f32();
  c.vectors(c.constant(u), [&](Value d, Value mask) {
    Value x = c.loadVec(source, d, mask);
    c.store({halves ? halfOf(c, stored, x) : x, c.at(target, d, element)}, mask);
  });
}

void heddle::loops::packPair(Code &c, Value even, Value odd, int64_t u, Value target) {
  c.vectors(c.constant(u), [&](Value d, Value mask) {
    Value low = c.loadVec(even, d, mask), high = c.loadVec(odd, d, mask);
    c.store({bf16Pair(c, low, high), c.at(target, d, c.b.getI32Type())});
  });
}
