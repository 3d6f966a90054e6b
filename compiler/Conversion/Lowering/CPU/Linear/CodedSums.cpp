//===- CodedSums.cpp - tiles of codes --------------------------------------===//
//
// Integer sums of a unit stay in registers, those of f32 pass over a unit in registers or on the stack, as there is
// room: they are touched once in 16 to 128 features.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/CPU/Linear/CodedSums.h"
#include "compiler/Conversion/Lowering/Language/CodeNumbers.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;

static constexpr int64_t kLine = 64; ///< bytes of a cache line

//===-- integers ---------------------------------------------------------------===//

/// How many quads fit in sums of 16 bits: of codes of 4 bits 8 * 2 * 15 * 127 = 30480, which is less than 2^15.
int64_t CodedSums::mostQuads() const {
  int64_t largest = (int64_t(1) << row.coding.bits) - 1;
  if (row.coding.table != CodeTable::None)
    largest = std::abs(
        *llvm::max_element(integersOf(row.coding.table), [](int x, int y) { return std::abs(x) < std::abs(y); }));
  return std::min<int64_t>(8, 32767 / (2 * largest * 127));
}

int64_t CodedSums::blocksOfTurn() const {
  int64_t blocks = row.unit / row.coding.blockFeatures();
  if (row.products != Products::Pairs || multipliesHalves())
    return blocks * row.coding.blockLines() <= 5 ? blocks : 1;
  int64_t most = std::max<int64_t>(4 / row.coding.blockLines(), 1);
  while (blocks % most)
    --most;
  return most;
}

/// What is `behind` bytes after `at` in the record of row `i`, in all lanes.
Value CodedSums::word(const Tile &tile, int64_t i, Value at, int64_t behind, Type type) {
  return c.splat(c.load(type, byte(byte(tile.left, at), i * row.bytes + behind)));
}

/// Words of four bytes, one of each result.
Values CodedSums::wordsAt(const Tile &tile, Value address) {
  Values words;
  for (int64_t j = 0; j < vectors(tile); ++j)
    words.push_back(c.loadLanes(c.b.getI32Type(), byte(address, vectorAt(tile, j, 4))));
  return words;
}

/// In words of 32 bits, one feature after the other.
void CodedSums::plain(const Tile &tile, Value at, const Values &codes, Values &sums) {
  Type i32 = c.b.getI32Type(), i8 = c.b.getI8Type();
  for (int64_t b = 0; b < 4; ++b) {
    Values bytes;
    for (Value w : codes)
      bytes.push_back(masked(c, shifted(c, w, 8 * b), 255));
    for (int64_t i = 0; i < tile.rows; ++i) {
      Value x = c.load(i8, byte(byte(tile.left, at), i * row.bytes + b));
      x = c.splat(arith::ExtSIOp::create(c.b, i32, x));
      for (int64_t j = 0; j < vectors(tile); ++j) {
        Value product = arith::MulIOp::create(c.b, x, bytes[j]);
        sums[i * vectors(tile) + j] = added(c, sums[i * vectors(tile) + j], product);
      }
    }
  }
}

/// Codes 0 and 2 of a word as halves, then 1 and 3.
void CodedSums::halves(const Tile &tile, Value at, const Values &codes, Values &sums) {
  Type halves = VectorType::get({2 * c.lanes}, c.b.getI16Type());
  for (int64_t odd = 0; odd < 2; ++odd) {
    Values two;
    for (Value w : codes) {
      Value both = LLVM::BitcastOp::create(c.b, halves, w);
      two.push_back(odd ? shifted(c, both, 8) : masked(c, both, 255));
    }
    for (int64_t i = 0; i < tile.rows; ++i) {
      Value x = word(tile, i, at, 4 * odd, c.b.getI32Type());
      for (int64_t j = 0; j < vectors(tile); ++j)
        sums[i * vectors(tile) + j] = added(c, sums[i * vectors(tile) + j], pairs(c, two[j], x));
    }
  }
}

void CodedSums::bytes(const Tile &tile, Value at, const Values &codes, Values &sums, Shorts &shorts) {
  SmallVector<CodeBytes> mine;
  for (Value w : codes)
    mine.push_back(multipliedBytes(c, row.coding, row.products, w));
  for (int64_t i = 0; i < tile.rows; ++i) {
    Value x = word(tile, i, at, 0, c.b.getI32Type());
    for (int64_t j = 0; j < vectors(tile); ++j) {
      Value &sum = sums[i * vectors(tile) + j];
      if (row.products != Products::Pairs) {
        sum = quads(c, row.products, sum, mine[j].bytes, x);
        continue;
      }
      Value &part = shorts.sums[i * vectors(tile) + j], product = pairsOfBytes(c, mine[j].bytes, x, mine[j].sizes);
      part = part ? added(c, part, product) : product;
    }
  }
  if (row.products == Products::Pairs && ++shorts.count == mostQuads())
    flush(sums, shorts);
}

/// Adds sums of 16 bits to those of 32.
void CodedSums::flush(Values &sums, Shorts &shorts) {
  if (!shorts.count)
    return;
  Value ones = c.integer(VectorType::get({2 * c.lanes}, c.b.getI16Type()), 1);
  for (size_t q = 0; q < sums.size(); ++q)
    sums[q] = added(c, sums[q], pairs(c, shorts.sums[q], ones));
  shorts = {Values(sums.size())};
}

/// sums + codes * rows over the features of the block whose lines are at `codes`; they are those from `k` on.
void CodedSums::block(const Tile &tile, Value k, Value codes, Values &sums, Shorts &shorts) {
  Value at = c.mul(k, row.codeBytes);
  auto load = [&](int64_t line) { return wordsAt(tile, byte(codes, line * panel * 4)); };
  eachQuad(c, row.coding, load, [&](int64_t quad, const Values &stored) {
    Value here = c.add(at, 4 * quad * row.codeBytes);
    if (multipliesHalves())
      return halves(tile, here, stored, sums);
    if (row.products != Products::Plain)
      return bytes(tile, here, stored, sums, shorts);
    Values unsignedBytes;
    for (Value w : stored)
      unsignedBytes.push_back(multipliedBytes(c, row.coding, row.products, w).bytes);
    plain(tile, here, unsignedBytes, sums);
  });
}

void CodedSums::fetch(const Tile &tile, Value address, int64_t bytes) {
  for (int64_t p = 0; tile.ahead && p < tile.panels; ++p)
    for (int64_t at = 0; at < bytes; at += kLine)
      c.prefetch(byte(address, p * panelBytes() + at));
}

/// One turn of the inner loop, the `number`-th of its unit.
void CodedSums::turn(const Tile &tile, Value unit, Value codes, Value number, Values &sums) {
  int64_t blocks = blocksOfTurn(), features = row.coding.blockFeatures(), bytes = row.coding.blockLines() * panel * 4;
  Value begin = byte(codes, c.mul(number, blocks * bytes));
  Value k = c.add({c.mul(unit, row.unit), c.mul(number, blocks * features)});
  if (!tile.few && tile.next) {
    Value turn = c.add(c.mul(unit, row.unit / features / blocks), number);
    c.prefetch(byte(tile.next, c.mul(turn, tile.share)));
  }
  Shorts shorts{Values(sums.size())};
  for (int64_t s = 0; s < blocks; ++s) {
    Value lines = byte(begin, s * bytes);
    if (tile.few)
      fetch(tile, byte(lines, tile.ahead), bytes);
    block(tile, c.add(k, s * features), lines, sums, shorts);
  }
  flush(sums, shorts);
}

/// The integer sums of unit `number` of the row, whose codes begin at `codes`.
Values CodedSums::unit(const Tile &tile, Value number, Value codes) {
  int64_t turns = row.unit / row.coding.blockFeatures() / blocksOfTurn();
  Values sums;
  Value at = c.mul(number, 4);
  for (int64_t i = 0; i < tile.rows; ++i)
    sums.append(vectors(tile), row.hasOffsets() ? word(tile, i, at, row.offsetsAt, c.b.getI32Type())
                                                : c.integer(c.vec(c.b.getI32Type()), 0));
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

Values CodedSums::scalesOf(const Tile &tile, Value group, int64_t at, PackedType type) {
  Values all;
  for (int64_t j = 0; j < vectors(tile); ++j)
    all.push_back(loadedReals(c, type, byte(group, at + vectorAt(tile, j, int64_t(width(type))))));
  return all;
}

/// The sums of a unit as f32, exactly; `group` is where its group begins.
Values CodedSums::reals(const Tile &tile, Value number, Value group, const Values &sums) {
  Values t;
  for (Value sum : sums)
    t.push_back(arith::SIToFPOp::create(c.b, c.vec(c.f32()), sum));
  if (!row.coding.zeros)
    return t;
  Values zeros = scalesOf(tile, group, panel * int64_t(width(row.coding.scale)), PackedType::F16), all;
  for (int64_t i = 0; i < tile.rows; ++i) {
    Value minus = word(tile, i, c.mul(number, 4), row.sumsAt, c.f32());
    for (int64_t j = 0; j < vectors(tile); ++j)
      all.push_back(c.fma(zeros[j], minus, t[i * vectors(tile) + j]));
  }
  return all;
}

/// sums + t * the scale of each column.
Values CodedSums::scaled(const Tile &tile, const Values &t, const Values &scales, const Values &sums) {
  Values all;
  for (size_t q = 0; q < t.size(); ++q)
    all.push_back(c.fma(t[q], scales[q % scales.size()], sums[q]));
  return all;
}

/// sums + t * a number of each row, the `number`-th of those at `recordAt` in its record.
Values CodedSums::byRow(const Tile &tile, const Values &t, Value number, int64_t recordAt, const Values &sums) {
  Value at = c.mul(number, 4);
  Values all;
  for (int64_t i = 0; i < tile.rows; ++i) {
    Value scale = word(tile, i, at, recordAt, c.f32());
    for (int64_t j = 0; j < vectors(tile); ++j)
      all.push_back(c.fma(t[(i * vectors(tile) + j) % t.size()], scale, sums[i * vectors(tile) + j]));
  }
  return all;
}

/// Where section `number` begins. No step fetches the lines of its scales.
Value CodedSums::sectionAt(const Tile &tile, Value number) {
  Value section = byte(tile.stream, c.mul(number, row.coding.sectionBytes(panel, row.k)));
  if (tile.few)
    fetch(tile, byte(section, tile.ahead), row.coding.headBytes(panel));
  return section;
}

static Values valuesOf(ValueRange range) { return Values(range.begin(), range.end()); }

/// Groups of more features than share a scale of a row.
Values CodedSums::sumsOfLargeGroups(const Tile &tile) {
  const Coding &coding = row.coding;
  int64_t inGroup = coding.features(row.k) / row.unit, groups = coding.groups(row.k);
  int64_t unitBytes = coding.codeBytes(panel, row.unit);
  Values none(tile.rows * vectors(tile), c.real(c.vec(c.f32()), 0.0));
  return c.loop(c.constant(0), c.constant(groups), 1, none, [&](Value number, ValueRange carried) {
    Value group = sectionAt(tile, number), first = c.mul(number, inGroup);
    Values inner = c.loop(c.constant(0), c.constant(inGroup), 1, none, [&](Value v, ValueRange mine) {
      if (tile.meanwhile)
        tile.meanwhile(c.add(first, v), groups * inGroup);
      Value u = c.add(first, v), codes = byte(byte(group, c.mul(v, unitBytes)), coding.headBytes(panel));
      Values integers = unit(tile, u, codes), t = reals(tile, u, group, integers);
      return byRow(tile, t, u, row.scalesAt, valuesOf(mine));
    });
    return scaled(tile, inner, scalesOf(tile, group, 0, coding.scale), valuesOf(carried));
  });
}

Values CodedSums::sumsOfGroups(const Tile &tile) {
  const Coding &coding = row.coding;
  Values none(tile.rows * vectors(tile), c.real(c.vec(c.f32()), 0.0));
  int64_t many = std::max<int64_t>(row.block / row.unit, 1), whole = row.units / many;
  auto group = [&](Value u, const Values &sums) {
    Value group = sectionAt(tile, u);
    Values integers = unit(tile, u, byte(group, coding.headBytes(panel))), t = reals(tile, u, group, integers);
    Values all = scaled(tile, t, scalesOf(tile, group, 0, coding.scale), sums);
    if (!coding.minima)
      return all;
    Values minima = scalesOf(tile, group, panel * int64_t(width(coding.scale)), PackedType::F16);
    return byRow(tile, minima, u, row.sumsAt, all);
  };
  // A block of a row, of `count` groups.
  auto stretch = [&](Value number, int64_t count, ValueRange carried) {
    Value first = c.mul(number, many);
    if (tile.meanwhile)
      tile.meanwhile(number, std::max<int64_t>(whole, 1));
    Values inner = count == 1 ? group(first, none)
                              : c.loop(c.constant(0), c.constant(count), 1, none, [&](Value v, ValueRange mine) {
                                  return group(c.add(first, v), valuesOf(mine));
                                });
    return byRow(tile, inner, number, row.scalesAt, valuesOf(carried));
  };
  Values all = none;
  if (whole)
    all = c.loop(c.constant(0), c.constant(whole), 1, all,
                 [&](Value number, ValueRange carried) { return stretch(number, many, carried); });
  if (row.units % many)
    all = stretch(c.constant(whole), row.units % many, all);
  return all;
}

//===-- two levels -----------------------------------------------------------------===//

/// The sums of a stretch of rows in each group, weighted by the sub-minima: whole numbers below 2^24.
Values CodedSums::weightedSums(const Tile &tile, Value number, Value subMinima) {
  Type i32 = c.b.getI32Type(), i16 = c.b.getI16Type();
  int64_t groups = row.block / row.unit;
  Value at = c.mul(number, 2 * groups);
  Values sums(tile.rows * vectors(tile), c.integer(c.vec(i32), 0));
  for (int64_t w = 0; w < groups / 4; ++w) {
    Values words = wordsAt(tile, byte(subMinima, w * panel * 4));
    for (int64_t i = 0; i < tile.rows; ++i)
      for (int64_t j = 0; j < vectors(tile); ++j) {
        Value &sum = sums[i * vectors(tile) + j];
        if (c.lanes > 4 && row.products != Products::Plain) // of groups 0 and 2, then of 1 and 3
          for (int64_t odd = 0; odd < 2; ++odd) {
            Value both = LLVM::BitcastOp::create(c.b, VectorType::get({2 * c.lanes}, i16), words[j]);
            Value two = odd ? shifted(c, both, 8) : masked(c, both, 255);
            sum = added(c, sum, pairs(c, two, word(tile, i, at, row.pairsAt + 8 * w + 4 * odd, i32)));
          }
        else
          for (int64_t g = 0; g < 4; ++g) {
            Value r = c.load(i16, byte(byte(tile.left, at), i * row.bytes + row.pairsAt + 8 * w + 2 * row.pairOf(g)));
            r = c.splat(arith::ExtSIOp::create(c.b, i32, r));
            Value minimum = masked(c, shifted(c, words[j], 8 * g), 255);
            sum = added(c, sum, Value(arith::MulIOp::create(c.b, minimum, r)));
          }
      }
  }
  return sums;
}

/// Stretch `number` of the rows, whose sub-scales begin at `part`.
Values CodedSums::stretchOfTwoLevels(const Tile &tile, Value number, Value section, Value part, const Values &sums) {
  const Coding &coding = row.coding;
  Type i32 = c.b.getI32Type();
  int64_t groups = row.block / row.unit, unitBytes = coding.codeBytes(panel, row.unit);
  Values none(sums.size(), c.real(c.vec(c.f32()), 0.0)), weighted;
  auto weigh = [&] { weighted = weightedSums(tile, number, byte(part, coding.subBytes(panel))); };
  // They lie before the codes. A processor that follows a stream by itself loses it where one goes back, and more rows
  // need the registers.
  if (coding.minima && tile.few)
    weigh();
  Value codes = byte(part, coding.partHeadBytes(panel));
  Values inner = c.loop(c.constant(0), c.constant(groups), 1, none, [&](Value v, ValueRange mine) {
    Value u = c.add(c.mul(number, groups), v), mineCodes = byte(codes, c.mul(v, unitBytes));
    Values integers = unit(tile, u, mineCodes), scales, t;
    Value words = byte(part, c.mul(c.div(v, c.constant(4)), panel * 4)), bits = c.mul(c.rem(v, c.constant(4)), 8);
    Value up = c.splat(arith::IndexCastOp::create(c.b, i32, c.sub(c.constant(24), bits)).getResult());
    for (Value word : wordsAt(tile, words))
      scales.push_back(signedByte(c, word, up));
    for (Value sum : integers)
      t.push_back(arith::SIToFPOp::create(c.b, c.vec(c.f32()), sum));
    return scaled(tile, t, scales, valuesOf(mine));
  });
  Values d = scalesOf(tile, section, 0, coding.scale), all;
  for (size_t q = 0; q < inner.size(); ++q)
    all.push_back(c.mulf(inner[q], d[q % d.size()]));
  if (coding.minima) {
    Values e = scalesOf(tile, section, panel * int64_t(width(coding.scale)), PackedType::F16), t;
    if (!tile.few)
      weigh();
    for (Value sum : weighted)
      t.push_back(arith::SIToFPOp::create(c.b, c.vec(c.f32()), sum));
    all = scaled(tile, t, e, all);
  }
  return byRow(tile, all, number, row.scalesAt, sums);
}

Values CodedSums::sumsOfTwoLevels(const Tile &tile) {
  const Coding &coding = row.coding;
  int64_t parts = coding.parts(row.k), sections = coding.sections(row.k);
  Values none(tile.rows * vectors(tile), c.real(c.vec(c.f32()), 0.0));
  return c.loop(c.constant(0), c.constant(sections), 1, none, [&](Value s, ValueRange carried) {
    Value section = sectionAt(tile, s);
    return c.loop(c.constant(0), c.constant(parts), 1, valuesOf(carried), [&](Value h, ValueRange mine) {
      Value number = c.add(c.mul(s, parts), h);
      Value part = byte(byte(section, c.mul(h, coding.partBytes(panel, row.k))), coding.headBytes(panel));
      if (tile.meanwhile)
        tile.meanwhile(number, sections * parts);
      if (tile.few)
        fetch(tile, byte(part, tile.ahead), coding.partHeadBytes(panel));
      return stretchOfTwoLevels(tile, number, section, part, valuesOf(mine));
    });
  });
}

Values CodedSums::sums(const Tile &tile) {
  if (row.coding.super)
    return sumsOfTwoLevels(tile);
  return row.coding.features(row.k) > row.unit ? sumsOfLargeGroups(tile) : sumsOfGroups(tile);
}
