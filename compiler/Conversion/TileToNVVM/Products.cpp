//===- Products.cpp - left * right on what threads hold -------------------===//
//
// f32: each thread multiplies what it has of a column by what it has of a row; every element is one chain of fused
// products, k ascending, however its fragment is spread. Pairs of bf16: units of 16 x 8 with 16 products each; a unit's
// left side comes by ldmatrix, its right side is in the blob as its registers want it, or in groups and comes by
// ldmatrix too. Groups of warps (wgmma) are another file, Groups.cpp.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/GPU/WarpLanes.h"
#include "compiler/Conversion/TileToNVVM/TileCode.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace heddle::tile;
using heddle::loops::kWarp;

Values TileCode::multiply(const Piece &left, const Piece &right, FragType type, Values sums, int64_t depth) {
  switch (type.getSpread()) {
  case Spread::block: return multiplySquares(left, right, type, std::move(sums), depth);
  case Spread::cyclic: return multiplyChains(left, right, type, std::move(sums), depth);
  case Spread::mma:
    if (left.type.getWord().isF32())
      return multiplyReals(left, right, type, std::move(sums), depth);
    return multiplyPairs(left, right, type, std::move(sums), depth);
  case Spread::wgmma: return multiplyGroups(left, right, type, std::move(sums), depth);
  case Spread::rows: break; // no sum of products (mma_c2)
  }
  llvm_unreachable("all spreads are there");
}

Values TileCode::multiply(const Values &left, int64_t depth, const Piece &right, FragType type, Values sums) {
  if (type.getSpread() == Spread::wgmma)
    return multiplyHeldGroups(left, depth, right, type, std::move(sums));
  if (right.type.getWord().isF32())
    return multiplyHeldReals(left, depth, right, type, std::move(sums));
  return multiplyHeldPairs(left, depth, right, type, std::move(sums));
}

/// f32 that are neighbours in shared memory.
static void loadNeighbours(TileCode &c, Value address, int64_t count, Values &to) {
  auto type = VectorType::get({count}, c.f32());
  Value all = LLVM::LoadOp::create(c.b, type, address, /*alignment=*/4 * count);
  for (int64_t i = 0; i < count; ++i) {
    Value one = vector::ExtractOp::create(c.b, all, ArrayRef<int64_t>{i});
    to.push_back(one);
  }
}

/// A few k at a time are in the code: enough to be multiplied while the next are fetched, and no more than compilers
/// like.
Values TileCode::multiplySquares(const Piece &left, const Piece &right, FragType type, Values sums, int64_t depth) {
  constexpr int64_t kTogether = 4;
  int64_t rows = type.heldRows(), columns = type.heldColumns(), whole = depth / kTogether * kTogether;
  auto together = [&](Value first, int64_t count, Values now) {
    for (int64_t k = 0; k < count; ++k) {
      Values x, w;
      Value at = add(first, k);
      for (int64_t i = 0; i < rows; i += 4)
        loadNeighbours(*this, wordAt(left, rowOf(type, constant(i)), at), 4, x);
      for (int64_t j = 0; j < columns; j += 4)
        loadNeighbours(*this, wordAt(right, at, columnOf(type, j)), 4, w);
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < columns; ++j)
          now[i * columns + j] = fma(x[i], w[j], now[i * columns + j]);
    }
    return now;
  };
  sums = loop(constant(0), constant(whole), kTogether, sums,
              [&](Value first, ValueRange now) { return together(first, kTogether, Values(now.begin(), now.end())); });
  return together(constant(whole), depth - whole, sums);
}

/// Both sides are in groups of four along k, which are fetched at once. So many are in the code that fetches of one
/// warp alone are under way while it multiplies.
Values TileCode::multiplyChains(const Piece &left, const Piece &right, FragType type, Values sums, int64_t depth) {
  constexpr int64_t kTogether = 32;
  int64_t rows = type.heldRows(), columns = type.heldColumns(), whole = depth / kTogether * kTogether;
  auto together = [&](Value first, int64_t count, Values now) {
    for (int64_t k = 0; k < count; k += 4) {
      Value at = add(first, k);
      SmallVector<Values> x(rows), w(columns);
      for (int64_t i = 0; i < rows; ++i)
        loadNeighbours(*this, wordAt(left, rowOf(type, constant(i)), at), 4, x[i]);
      for (int64_t j = 0; j < columns; ++j)
        loadNeighbours(*this, wordAt(right, at, columnOf(type, j)), 4, w[j]);
      for (int64_t n = 0; n < std::min<int64_t>(4, count - k); ++n)
        for (int64_t i = 0; i < rows; ++i)
          for (int64_t j = 0; j < columns; ++j)
            now[i * columns + j] = fma(x[i][n], w[j][n], now[i * columns + j]);
    }
    return now;
  };
  sums = loop(constant(0), constant(whole), kTogether, sums,
              [&](Value first, ValueRange now) { return together(first, kTogether, Values(now.begin(), now.end())); });
  return together(constant(whole), depth - whole, sums);
}

void TileCode::multiplyColumn(const Values &x, const Piece &right, Value at, FragType type, Values &sums) {
  int64_t columns = type.heldColumns();
  Values w;
  for (int64_t j = 0; j < columns; j += 2)
    loadNeighbours(*this, wordAt(right, at, columnOf(type, j)), 2, w);
  for (size_t i = 0; i < x.size(); ++i)
    for (int64_t j = 0; j < columns; ++j)
      sums[i * columns + j] = fma(x[i], w[j], sums[i * columns + j]);
}

/// Elements are spread as a unit of pairs has them. The left side is in groups of four along k, which are fetched at
/// once; the four threads of a row read other columns, and all rows the same ones.
Values TileCode::multiplyReals(const Piece &left, const Piece &right, FragType type, Values sums, int64_t depth) {
  constexpr int64_t kTogether = 4;
  int64_t rows = type.heldRows(), whole = depth / kTogether * kTogether;
  auto together = [&](Value first, int64_t count, Values now) {
    SmallVector<Values> x(rows);
    for (int64_t i = 0; count && i < rows; ++i)
      loadNeighbours(*this, wordAt(left, rowOf(type, constant(i)), first), 4, x[i]);
    for (int64_t k = 0; k < count; ++k) {
      Values column;
      for (const Values &row : x)
        column.push_back(row[k]);
      multiplyColumn(column, right, add(first, k), type, now);
    }
    return now;
  };
  sums = loop(constant(0), constant(whole), kTogether, sums,
              [&](Value first, ValueRange now) { return together(first, kTogether, Values(now.begin(), now.end())); });
  return together(constant(whole), depth - whole, sums);
}

/// Column k of a fragment is held by one of the four threads of a row, which gives it to the others. Eight columns, two
/// of each thread, are in the code; their weights take turns in the loop's variables.
Values TileCode::multiplyHeldReals(const Values &left, int64_t depth, const Piece &right, FragType type, Values sums) {
  constexpr int64_t kColumns = 8;
  int64_t rows = type.heldRows(), held = depth / 4;
  size_t count = sums.size();
  Type i32 = b.getI32Type();
  Value lane = rem(thread, constant(kWarp)), first = sub(lane, rem(lane, constant(4)));
  sums.append(left);
  sums = loop(constant(0), constant(depth), kColumns, sums, [&](Value at, ValueRange now) {
    Values next(now.take_front(count)), weights(now.drop_front(count));
    for (int64_t k = 0; k < kColumns; ++k) {
      Value from = arith::IndexCastOp::create(b, i32, add(first, k / 2));
      Values column;
      for (int64_t i = 0; i < rows; ++i) {
        Value all = integer(i32, -1), clamp = integer(i32, kWarp - 1), mine = weights[i * held + k % 2];
        column.push_back(NVVM::ShflOp::create(b, f32(), all, mine, from, clamp, NVVM::ShflKind::idx, UnitAttr()));
      }
      multiplyColumn(column, right, add(at, k), type, next);
    }
    std::rotate(weights.begin(), weights.begin() + 2, weights.end());
    next.append(weights);
    return next;
  });
  sums.truncate(count);
  return sums;
}

static Value wordOf(TileCode &c, Value aggregate, int64_t i) {
  return LLVM::ExtractValueOp::create(c.b, aggregate, ArrayRef<int64_t>{i});
}

Values TileCode::loadMatrices(Value address, bool turned) {
  Type i32 = b.getI32Type(), fourWords = LLVM::LLVMStructType::getLiteral(b.getContext(), {i32, i32, i32, i32});
  Value all =
      NVVM::LdMatrixOp::create(b, fourWords, address, 4u, turned ? NVVM::MMALayout::col : NVVM::MMALayout::row,
                               NVVM::LdStMatrixShapeAttr::get(b.getContext(), 8, 8), NVVM::LdStMatrixEltType::B16);
  Values words;
  for (int64_t n = 0; n < 4; ++n)
    words.push_back(wordOf(*this, all, n));
  return words;
}

void TileCode::multiplyUnit(ArrayRef<Value> left, ArrayRef<Value> right, FragType type, int64_t i, int64_t j,
                            Values &sums) {
  Type fourReals = LLVM::LLVMStructType::getLiteral(b.getContext(), {f32(), f32(), f32(), f32()});
  int64_t top = i * type.heldColumns() + j, low = top + type.heldColumns();
  Values now{sums[top], sums[top + 1], sums[low], sums[low + 1]};
  Value next = NVVM::MmaOp::create(b, fourReals, left, right, now, ArrayRef<int64_t>{16, 8, 16}, std::nullopt,
                                   std::nullopt, std::array{NVVM::MMATypes::bf16, NVVM::MMATypes::bf16},
                                   std::array{NVVM::MMALayout::row, NVVM::MMALayout::col});
  sums[top] = wordOf(*this, next, 0);
  sums[top + 1] = wordOf(*this, next, 1);
  sums[low] = wordOf(*this, next, 2);
  sums[low + 1] = wordOf(*this, next, 3);
}

Values TileCode::multiplyPairs(const Piece &left, const Piece &right, FragType type, Values sums, int64_t depth) {
  constexpr int64_t kWords = 8; // of a unit along k
  int64_t rows = type.heldRows(), columns = type.heldColumns();
  Value lane = rem(thread, constant(kWarp)), group = div(lane, constant(4)), place = rem(lane, constant(4));
  // Lane l says where row l % 8 of matrix l / 8 begins: the matrices are upper and lower rows, first and second half of
  // k.
  Value upper = sub(rowOf(type, constant(0)), group), line = rem(lane, constant(16)),
        second = mul(div(lane, constant(16)), 4);
  Value across = sub(columnOf(type, 0), mul(place, 2));
  Values odd;
  for (int64_t k = 0; k < depth; k += kWords) {
    SmallVector<Values> x, w;
    for (int64_t i = 0; i < rows; i += 2) {
      Value row = add({upper, add(line, i / 2 * 16)}), word = add(second, k);
      x.push_back(loadMatrices(wordAt(left, row, word), /*turned=*/false));
    }
    // Two pieces at a time, of each the first and the second half of k; of one that is left over, those of two units.
    bool grouped = right.type.getImage() == Image::right;
    for (int64_t j = 0; grouped && j + 2 < columns; j += 4) {
      Value column = add({across, add(add(rem(lane, constant(8)), mul(div(lane, constant(16)), 8)), j / 2 * 8)});
      Value row = add(mul(rem(div(lane, constant(8)), constant(2)), 4), k), address = wordAt(right, row, column);
      Values all = loadMatrices(address, /*turned=*/false);
      for (int64_t n = 0; n < 4; n += 2)
        w.push_back({all[n], all[n + 1]});
    }
    if (grouped && columns % 4) {
      if (k % (2 * kWords) == 0) {
        Value column = add({across, add(rem(lane, constant(8)), (columns - 2) / 2 * 8)});
        Value row = add(mul(div(lane, constant(8)), 4), k), address = wordAt(right, row, column);
        odd = loadMatrices(address, /*turned=*/false);
      }
      int64_t half = k % (2 * kWords) / 4;
      w.push_back({odd[half], odd[half + 1]});
    }
    for (int64_t j = 0; !grouped && j < columns; j += 2) {
      Value column = add({across, add(group, j / 2 * 8)});
      Values &words = w.emplace_back();
      for (int64_t half = 0; half < kWords; half += kWords / 2) {
        Value row = add(place, k + half), address = wordAt(right, row, column),
              word = LLVM::LoadOp::create(b, b.getI32Type(), address, /*alignment=*/4);
        words.push_back(word);
      }
    }
    for (int64_t i = 0; i < rows; i += 2)
      for (int64_t j = 0; j < columns; j += 2)
        multiplyUnit(x[i / 2], w[j / 2], type, i, j, sums);
  }
  return sums;
}

/// The upper halves of two numbers, `even` in the lower half.
static Value upperHalves(TileCode &c, Value even, Value odd) {
  Type i32 = c.b.getI32Type();
  Value low = arith::BitcastOp::create(c.b, i32, even), high = arith::BitcastOp::create(c.b, i32, odd);
  low = arith::ShRUIOp::create(c.b, low, c.integer(i32, 16));
  high = arith::AndIOp::create(c.b, high, c.integer(i32, -65536));
  return arith::OrIOp::create(c.b, low, high);
}

/// Two pieces of 16 x 8 of a fragment are, as they are in registers, the left side of a unit.
Values TileCode::heldWords(const Values &left, int64_t depth, int64_t i, int64_t k) {
  Values words;
  for (int64_t half = 0; half < 2; ++half)
    for (int64_t low = 0; low < 2; ++low) {
      int64_t at = (i + low) * (depth / 4) + k / 4 + 2 * half;
      words.push_back(upperHalves(*this, left[at], left[at + 1]));
    }
  return words;
}

/// The right side is stored row by row and comes turned: matrices are first and second half of k, of 8 columns and of
/// the 8 after.
Values TileCode::multiplyHeldPairs(const Values &left, int64_t depth, const Piece &right, FragType type, Values sums) {
  int64_t rows = type.heldRows(), columns = type.heldColumns();
  Value lane = rem(thread, constant(kWarp)), line = rem(lane, constant(16)), chunk = mul(div(lane, constant(16)), 4);
  for (int64_t k = 0; k < depth; k += 16) {
    SmallVector<Values> x;
    for (int64_t i = 0; i < rows; i += 2)
      x.push_back(heldWords(left, depth, i, k));
    for (int64_t j = 0; j < columns; j += 4) {
      Value row = add(line, k), word = add(chunk, 2 * j);
      Values w = loadMatrices(wordAt(right, row, word), /*turned=*/true);
      for (int64_t i = 0; i < rows; i += 2) {
        multiplyUnit(x[i / 2], ArrayRef(w).take_front(2), type, i, j, sums);
        multiplyUnit(x[i / 2], ArrayRef(w).drop_front(2), type, i, j + 2, sums);
      }
    }
  }
  return sums;
}
