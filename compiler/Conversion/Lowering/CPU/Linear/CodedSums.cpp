//===- CodedSums.cpp - tiles of codes --------------------------------------===//
//
// Integer sums of a unit stay in registers, those of f32 pass over a unit in registers or on the stack, as there is
// room: they are touched once in 16 to 128 features.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/CPU/Linear/CodedSums.h"
#include "compiler/Conversion/Lowering/Language/Halves.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;

static constexpr int64_t kLine = 64; ///< bytes of a cache line

//===-- integers ---------------------------------------------------------------===//

/// sums + the products of four bytes of codes by four of rows, in every lane; only codes of Quads are unsigned.
static Value quads(Code &c, Products products, Value sums, Value codes, Value rows) {
  Type words = sums.getType(), bytes = VectorType::get({4 * c.lanes}, c.b.getI8Type());
  Value x = LLVM::BitcastOp::create(c.b, bytes, codes), y = LLVM::BitcastOp::create(c.b, bytes, rows);
  StringRef name = products == Products::SignedQuads ? "llvm.aarch64.neon.sdot"
                   : c.lanes == 4                    ? "llvm.aarch64.neon.usdot"
                   : c.lanes == 8                    ? "llvm.x86.avx512.vpdpbusd.256"
                                                     : "llvm.x86.avx512.vpdpbusd.512";
  return LLVM::CallIntrinsicOp::create(c.b, words, c.b.getStringAttr(name), ValueRange{sums, x, y}).getResult(0);
}

/// In every half of a lane the sum of the products of two unsigned bytes by two signed ones.
static Value pairsOfBytes(Code &c, Value codes, Value rows) {
  Type bytes = VectorType::get({4 * c.lanes}, c.b.getI8Type()),
       shorts = VectorType::get({2 * c.lanes}, c.b.getI16Type());
  Value x = LLVM::BitcastOp::create(c.b, bytes, codes), y = LLVM::BitcastOp::create(c.b, bytes, rows);
  StringRef name = c.lanes == 16 ? "llvm.x86.avx512.pmaddubs.w.512" : "llvm.x86.avx2.pmadd.ub.sw";
  return LLVM::CallIntrinsicOp::create(c.b, shorts, c.b.getStringAttr(name), ValueRange{x, y}).getResult(0);
}

/// In every lane the sum of the products of two halves, both signed.
static Value pairs(Code &c, Value x, Value y) {
  Type shorts = VectorType::get({2 * c.lanes}, c.b.getI16Type()), words = c.vec(c.b.getI32Type());
  Value a = LLVM::BitcastOp::create(c.b, shorts, x), b = LLVM::BitcastOp::create(c.b, shorts, y);
  StringRef name = c.lanes == 16 ? "llvm.x86.avx512.pmaddw.d.512" : "llvm.x86.avx2.pmadd.wd";
  return LLVM::CallIntrinsicOp::create(c.b, words, c.b.getStringAttr(name), ValueRange{a, b}).getResult(0);
}

static Value masked(Code &c, Value x, int64_t bits) {
  return arith::AndIOp::create(c.b, x, c.integer(x.getType(), bits));
}
static Value shifted(Code &c, Value x, int64_t by) {
  return by ? Value(arith::ShRUIOp::create(c.b, x, c.integer(x.getType(), by))) : x;
}
/// The bytes of every lane less 128.
static Value flipped(Code &c, Value x) {
  return arith::XOrIOp::create(c.b, x, c.integer(x.getType(), int32_t(0x80808080)));
}
static Value added(Code &c, Value x, Value y) { return arith::AddIOp::create(c.b, x, y); }

int64_t CodedSums::stepsOfTurn() const {
  int64_t steps = row.unit / row.coding.perWord();
  if (row.products != Products::Pairs || row.coding.bits != 4)
    return steps <= 4 ? steps : 1;
  // 4 words of 4 bits: 8 * 2 * 15 * 127 = 30480 is less than 2^15.
  int64_t most = 4;
  while (steps % most)
    --most;
  return most;
}

/// What is `behind` bytes after `at` in the record of row `i`, in all lanes.
Value CodedSums::word(const Tile &tile, int64_t i, Value at, int64_t behind, Type type) {
  return c.splat(c.load(type, byte(byte(tile.left, at), i * row.bytes + behind)));
}

/// sums += codes * rows over the features of the words at `codes`, which are those from `k` on.
void CodedSums::step(const Tile &tile, Value k, Value codes, Values &sums, Values &shorts) {
  Type i32 = c.b.getI32Type(), i8 = c.b.getI8Type();
  int64_t vectors = tile.panels * tile.count;
  Values words;
  for (int64_t j = 0; j < vectors; ++j)
    words.push_back(
        c.loadLanes(i32, byte(codes, j / tile.count * panelBytes() + (tile.first + j % tile.count) * c.lanes * 4)));
  Value at = c.mul(k, row.codeBytes);
  bool four = row.coding.bits == 4, signs = row.codesAreSigned();
  for (int64_t half = 0; half < (four ? 2 : 1); ++half) {
    Values mine;
    for (Value w : words)
      mine.push_back(four ? masked(c, shifted(c, w, 4 * half), 0x0f0f0f0f) : signs ? flipped(c, w) : w);
    if (row.products == Products::Plain) {
      for (int64_t b = 0; b < 4; ++b) {
        Values bytes;
        for (Value w : mine)
          bytes.push_back(masked(c, shifted(c, w, 8 * b), 255));
        for (int64_t i = 0; i < tile.rows; ++i) {
          Value x = c.load(i8, byte(byte(tile.left, at), i * row.bytes + 4 * half + b));
          x = c.splat(arith::ExtSIOp::create(c.b, i32, x));
          for (int64_t j = 0; j < vectors; ++j) {
            Value product = arith::MulIOp::create(c.b, x, bytes[j]);
            sums[i * vectors + j] = added(c, sums[i * vectors + j], product);
          }
        }
      }
      continue;
    }
    if (row.products == Products::Pairs && !four) { // codes 0 and 2 of a word, then 1 and 3
      Type halves = VectorType::get({2 * c.lanes}, c.b.getI16Type());
      for (int64_t odd = 0; odd < 2; ++odd) {
        Values two;
        for (Value w : mine) {
          Value both = LLVM::BitcastOp::create(c.b, halves, w);
          two.push_back(odd ? shifted(c, both, 8) : masked(c, both, 255));
        }
        for (int64_t i = 0; i < tile.rows; ++i) {
          Value x = word(tile, i, at, 4 * odd, i32);
          for (int64_t j = 0; j < vectors; ++j)
            sums[i * vectors + j] = added(c, sums[i * vectors + j], pairs(c, two[j], x));
        }
      }
      continue;
    }
    for (int64_t i = 0; i < tile.rows; ++i) {
      Value x = word(tile, i, at, 4 * half, i32);
      for (int64_t j = 0; j < vectors; ++j) {
        Value &sum = sums[i * vectors + j];
        if (row.products == Products::Quads || row.products == Products::SignedQuads) {
          sum = quads(c, row.products, sum, mine[j], x);
          continue;
        }
        Value &part = shorts[i * vectors + j], product = pairsOfBytes(c, mine[j], x);
        part = part ? added(c, part, product) : product;
      }
    }
  }
}

void CodedSums::fetch(const Tile &tile, Value address, int64_t bytes) {
  for (int64_t p = 0; tile.ahead && p < tile.panels; ++p)
    for (int64_t at = 0; at < bytes; at += kLine)
      c.prefetch(byte(address, p * panelBytes() + at));
}

/// One turn of the inner loop, the `number`-th of its unit.
void CodedSums::turn(const Tile &tile, Value unit, Value codes, Value number, Values &sums) {
  int64_t steps = stepsOfTurn(), line = panel * 4;
  Value begin = byte(codes, c.mul(number, steps * line));
  Value k = c.add({c.mul(unit, row.unit), c.mul(number, steps * row.coding.perWord())});
  if (!tile.few && tile.next) {
    Value turn = c.add(c.mul(unit, row.unit / row.coding.perWord() / steps), number);
    c.prefetch(byte(tile.next, c.mul(turn, tile.share)));
  }
  Values shorts(sums.size());
  for (int64_t s = 0; s < steps; ++s) {
    Value words = byte(begin, s * line);
    if (tile.few)
      fetch(tile, byte(words, tile.ahead), line);
    step(tile, c.add(k, s * row.coding.perWord()), words, sums, shorts);
  }
  if (!shorts.front())
    return;
  Value ones = c.integer(VectorType::get({2 * c.lanes}, c.b.getI16Type()), 1);
  for (size_t q = 0; q < sums.size(); ++q)
    sums[q] = added(c, sums[q], pairs(c, shorts[q], ones));
}

/// The integer sums of unit `number` of the row, whose codes begin at `codes`.
Values CodedSums::unit(const Tile &tile, Value number, Value codes) {
  int64_t vectors = tile.panels * tile.count, turns = row.unit / row.coding.perWord() / stepsOfTurn();
  Values sums;
  Value at = c.mul(number, 4);
  for (int64_t i = 0; i < tile.rows; ++i)
    sums.append(vectors, row.codesAreSigned() ? c.integer(c.vec(c.b.getI32Type()), 0)
                                              : word(tile, i, at, row.offsetsAt, c.b.getI32Type()));
  if (turns == 1) {
    turn(tile, number, codes, c.constant(0), sums);
    return sums;
  }
  return c.loop(c.constant(0), c.constant(turns), 1, sums, [&](Value t, ValueRange carried) {
    Values mine(carried.begin(), carried.end());
    turn(tile, number, codes, t, mine);
    return mine;
  });
}

//===-- reals ------------------------------------------------------------------===//

Value heddle::loops::loadedReals(Code &c, PackedType type, Value address) {
  if (type == PackedType::F32)
    return c.loadLanes(c.f32(), address);
  Value half = c.loadLanes(c.b.getI16Type(), address);
  return widenedScale(c, type, half);
}

Values CodedSums::scalesOf(const Tile &tile, Value group, int64_t at, PackedType type) {
  Values all;
  for (int64_t j = 0; j < tile.panels * tile.count; ++j)
    all.push_back(loadedReals(c, type,
                              byte(group, j / tile.count * panelBytes() + at +
                                              (tile.first + j % tile.count) * c.lanes * int64_t(width(type)))));
  return all;
}

/// The sums of a unit as f32, exactly; `group` is where its group begins.
Values CodedSums::reals(const Tile &tile, Value number, Value group, const Values &sums) {
  int64_t vectors = tile.panels * tile.count;
  Type f32 = c.f32(), reals = c.vec(f32);
  Values t, zeros;
  for (Value sum : sums)
    t.push_back(arith::SIToFPOp::create(c.b, reals, sum));
  if (!row.coding.zeros)
    return t;
  zeros = scalesOf(tile, group, panel * int64_t(width(row.coding.scale)), PackedType::F16);
  Value at = c.mul(number, 4);
  for (int64_t i = 0; i < tile.rows; ++i) {
    Value minus = word(tile, i, at, row.sumsAt, f32);
    for (int64_t j = 0; j < vectors; ++j)
      t[i * vectors + j] = c.fma(zeros[j], minus, t[i * vectors + j]);
  }
  return t;
}

/// sums + t * the scale of each column.
Values CodedSums::scaled(const Tile &tile, const Values &t, const Values &scales, const Values &sums) {
  Values all;
  for (size_t q = 0; q < t.size(); ++q)
    all.push_back(c.fma(t[q], scales[q % scales.size()], sums[q]));
  return all;
}

/// sums + t * the scale of each row, the `number`-th of its record.
Values CodedSums::byRow(const Tile &tile, const Values &t, Value number, const Values &sums) {
  int64_t vectors = tile.panels * tile.count;
  Value at = c.mul(number, 4);
  Values all;
  for (int64_t i = 0; i < tile.rows; ++i) {
    Value scale = word(tile, i, at, row.scalesAt, c.f32());
    for (int64_t j = 0; j < vectors; ++j)
      all.push_back(c.fma(t[i * vectors + j], scale, sums[i * vectors + j]));
  }
  return all;
}

Values CodedSums::sums(const Tile &tile) {
  const Coding &coding = row.coding;
  int64_t head = coding.headBytes(panel), groupBytes = coding.groupBytes(panel, row.k);
  int64_t unitBytes = panel * row.unit * coding.bits / 8, inGroup = coding.features(row.k) / row.unit;
  Values none(tile.rows * tile.panels * tile.count, c.real(c.vec(c.f32()), 0.0));
  auto groupAt = [&](Value number) {
    Value group = byte(tile.stream, c.mul(number, groupBytes));
    if (tile.few) // no step fetches the line of scales
      fetch(tile, byte(group, tile.ahead), head);
    return group;
  };
  if (inGroup > 1) // groups of more features than share a scale of a row
    return c.loop(c.constant(0), c.constant(coding.groups(row.k)), 1, none, [&](Value number, ValueRange carried) {
      Value group = groupAt(number), first = c.mul(number, inGroup);
      Values inner = c.loop(c.constant(0), c.constant(inGroup), 1, none, [&](Value v, ValueRange mine) {
        if (tile.meanwhile)
          tile.meanwhile(c.add(first, v), coding.groups(row.k) * inGroup);
        Value u = c.add(first, v), codes = byte(byte(group, c.mul(v, unitBytes)), head);
        Values integers = unit(tile, u, codes), t = reals(tile, u, group, integers);
        return byRow(tile, t, u, Values(mine.begin(), mine.end()));
      });
      Values scales = scalesOf(tile, group, 0, coding.scale);
      return scaled(tile, inner, scales, Values(carried.begin(), carried.end()));
    });
  int64_t many = std::max<int64_t>(row.block / row.unit, 1), whole = row.units / many;
  auto group = [&](Value u, const Values &sums) {
    Value group = groupAt(u);
    Values integers = unit(tile, u, byte(group, head)), t = reals(tile, u, group, integers);
    Values scales = scalesOf(tile, group, 0, coding.scale);
    return scaled(tile, t, scales, sums);
  };
  // A block of a row, of `count` groups.
  auto stretch = [&](Value number, int64_t count, ValueRange carried) {
    Value first = c.mul(number, many);
    if (tile.meanwhile)
      tile.meanwhile(number, std::max<int64_t>(whole, 1));
    Values inner = count == 1 ? group(first, none)
                              : c.loop(c.constant(0), c.constant(count), 1, none, [&](Value v, ValueRange mine) {
                                  return group(c.add(first, v), Values(mine.begin(), mine.end()));
                                });
    return byRow(tile, inner, number, Values(carried.begin(), carried.end()));
  };
  Values all = none;
  if (whole)
    all = c.loop(c.constant(0), c.constant(whole), 1, all,
                 [&](Value number, ValueRange carried) { return stretch(number, many, carried); });
  if (row.units % many)
    all = stretch(c.constant(whole), row.units % many, all);
  return all;
}

//===-- what codes mean ----------------------------------------------------------===//

void heddle::loops::decodePanel(Code &c, const Coding &coding, int64_t k, int64_t width, Value from, Value panel,
                                Value to) {
  Type i8 = c.b.getI8Type(), i32 = c.b.getI32Type(), f32 = c.f32(), reals = c.vec(f32);
  int64_t per = coding.perWord(), features = coding.features(k), groupBytes = coding.groupBytes(width, k);
  auto byte = [&](Value base, Value at) { return c.at(base, at, i8); };
  Value panels = byte(from, c.constant(coding.orderBytes(k)));
  Value stream = byte(panels, c.mul(panel, coding.panelBytes(width, k)));
  Value offset = c.real(reals, double(coding.offset()));
  c.loop(c.constant(0), c.constant(coding.groups(k)), 1, [&](Value number) {
    Value group = byte(stream, c.mul(number, groupBytes));
    Values scales, zeros;
    for (int64_t n = 0; n < width; n += c.lanes) {
      int64_t bytes = int64_t(heddle::width(coding.scale));
      scales.push_back(loadedReals(c, coding.scale, byte(group, c.constant(n * bytes))));
      if (coding.zeros)
        zeros.push_back(loadedReals(c, PackedType::F16, byte(group, c.constant(width * bytes + n * 2))));
    }
    c.loop(c.constant(0), c.constant(features / per), 1, [&](Value s) {
      Value line = byte(byte(group, c.mul(s, width * 4)), c.constant(coding.headBytes(width)));
      Value first = c.add({c.mul(number, features), c.mul(s, per)});
      Values words;
      for (int64_t n = 0; n < width; n += c.lanes)
        words.push_back(c.loadLanes(i32, byte(line, c.constant(n * 4))));
      for (int64_t f = 0; f < per; ++f) {
        int64_t shift = coding.bits == 8 ? 8 * f : 8 * (f % 4) + 4 * (f / 4);
        Value place = c.add(first, f);
        auto write = [&](Value feature) {
          for (auto [j, word] : llvm::enumerate(words)) {
            Value code = masked(c, shifted(c, word, shift), (1 << coding.bits) - 1);
            Value x = c.subf(Value(arith::SIToFPOp::create(c.b, reals, code)), offset);
            if (coding.zeros)
              x = c.subf(x, zeros[j]);
            Value at = c.add(c.mul(feature, width), int64_t(j) * c.lanes);
            c.storeLanes({c.mulf(x, scales[j]), c.at(to, at, f32)});
          }
        };
        if (!coding.ordered) {
          write(place);
          continue;
        }
        c.when(c.less(place, c.constant(k)), [&] {
          Value feature = c.load(i32, c.at(from, place, i32));
          write(c.toIndex(arith::ExtSIOp::create(c.b, c.b.getI64Type(), feature)));
        });
      }
    });
  });
}
