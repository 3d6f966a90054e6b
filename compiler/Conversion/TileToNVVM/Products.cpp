//===- Products.cpp - left * right on what threads hold -------------------===//
//
// f32: each thread multiplies what it has of a column by what it has of a row; every element is one chain of fused
// products, k ascending. Pairs of bf16: units of 16 x 8 with 16 products each; a unit's left side comes by ldmatrix,
// its right side lies in the blob as its registers want it, or in groups and comes by ldmatrix too. Groups of warps
// (wgmma) are another file, Groups.cpp.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/TileToNVVM/TileCode.h"
#include "compiler/Conversion/ToLoops/Gpu/WarpLanes.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace heddle::tile;
using heddle::loops::kWarp;

Values TileCode::multiply(const Piece &left, const Piece &right, FragType type, Values sums, int64_t depth) {
  switch (type.getSpread()) {
  case Spread::block: return multiplyReals(left, right, type, std::move(sums), depth);
  case Spread::mma: return multiplyPairs(left, right, type, std::move(sums), depth);
  case Spread::wgmma: return multiplyGroups(left, right, type, std::move(sums), depth);
  }
  llvm_unreachable("all spreads are there");
}

/// Four f32 that are neighbours in shared memory.
static void loadFour(TileCode &c, Value address, Values &to) {
  auto four = VectorType::get({4}, c.f32());
  Value all = LLVM::LoadOp::create(c.b, four, address, /*alignment=*/16);
  for (int64_t i = 0; i < 4; ++i) {
    Value one = vector::ExtractOp::create(c.b, all, ArrayRef<int64_t>{i});
    to.push_back(one);
  }
}

/// A few k at a time stand in the code: enough to be multiplied while the next are fetched, and no more than compilers
/// like.
Values TileCode::multiplyReals(const Piece &left, const Piece &right, FragType type, Values sums, int64_t depth) {
  constexpr int64_t kTogether = 4;
  int64_t rows = type.heldRows(), columns = type.heldColumns(), whole = depth / kTogether * kTogether;
  auto together = [&](Value first, int64_t count, Values now) {
    for (int64_t k = 0; k < count; ++k) {
      Values x, w;
      Value at = add(first, k);
      for (int64_t i = 0; i < rows; i += 4)
        loadFour(*this, wordAt(left, rowOf(type, constant(i)), at), x);
      for (int64_t j = 0; j < columns; j += 4)
        loadFour(*this, wordAt(right, at, columnOf(type, j)), w);
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

Values TileCode::multiplyPairs(const Piece &left, const Piece &right, FragType type, Values sums, int64_t depth) {
  constexpr int64_t kWords = 8; // of a unit along k
  int64_t rows = type.heldRows(), columns = type.heldColumns();
  Type i32 = b.getI32Type(), real = f32();
  Type fourWords = LLVM::LLVMStructType::getLiteral(b.getContext(), {i32, i32, i32, i32});
  Type fourReals = LLVM::LLVMStructType::getLiteral(b.getContext(), {real, real, real, real});
  Value lane = rem(thread, constant(kWarp)), group = div(lane, constant(4)), place = rem(lane, constant(4));
  // Lane l says where row l % 8 of matrix l / 8 begins: the matrices are upper and lower rows, first and second half of
  // k.
  Value upper = sub(rowOf(type, constant(0)), group), line = rem(lane, constant(16)),
        second = mul(div(lane, constant(16)), 4);
  Value across = sub(columnOf(type, 0), mul(place, 2));
  auto element = [&](Value aggregate, int64_t i) -> Value {
    return LLVM::ExtractValueOp::create(b, aggregate, ArrayRef<int64_t>{i});
  };
  auto shape = NVVM::LdStMatrixShapeAttr::get(b.getContext(), 8, 8);
  auto halves = NVVM::LdStMatrixEltTypeAttr::get(b.getContext(), NVVM::LdStMatrixEltType::B16);
  auto rowMajor = NVVM::MMALayoutAttr::get(b.getContext(), NVVM::MMALayout::row);
  for (int64_t k = 0; k < depth; k += kWords) {
    SmallVector<Values> x, w;
    for (int64_t i = 0; i < rows; i += 2) {
      Value row = add({upper, add(line, i / 2 * 16)}), word = add(second, k), address = wordAt(left, row, word);
      Value all = NVVM::LdMatrixOp::create(b, fourWords, address, b.getI32IntegerAttr(4), rowMajor, shape, halves);
      Values &words = x.emplace_back();
      for (int64_t n = 0; n < 4; ++n)
        words.push_back(element(all, n));
    }
    // Two pieces at a time, of each the first and the second half of k.
    bool grouped = right.type.getImage() == Image::right;
    for (int64_t j = 0; grouped && j < columns; j += 4) {
      Value column = add({across, add(add(rem(lane, constant(8)), mul(div(lane, constant(16)), 8)), j / 2 * 8)});
      Value row = add(mul(rem(div(lane, constant(8)), constant(2)), 4), k), address = wordAt(right, row, column);
      Value all = NVVM::LdMatrixOp::create(b, fourWords, address, b.getI32IntegerAttr(4), rowMajor, shape, halves);
      for (int64_t n = 0; n < 4; n += 2)
        w.push_back({element(all, n), element(all, n + 1)});
    }
    for (int64_t j = 0; !grouped && j < columns; j += 2) {
      Value column = add({across, add(group, j / 2 * 8)});
      Values &words = w.emplace_back();
      for (int64_t half = 0; half < kWords; half += kWords / 2) {
        Value row = add(place, k + half), address = wordAt(right, row, column),
              word = LLVM::LoadOp::create(b, i32, address, /*alignment=*/4);
        words.push_back(word);
      }
    }
    for (int64_t i = 0; i < rows; i += 2)
      for (int64_t j = 0; j < columns; j += 2) {
        int64_t top = i * columns + j, low = top + columns;
        Values now{sums[top], sums[top + 1], sums[low], sums[low + 1]};
        Value next =
            NVVM::MmaOp::create(b, fourReals, x[i / 2], w[j / 2], now, ArrayRef<int64_t>{16, 8, 16}, std::nullopt,
                                std::nullopt, std::array{NVVM::MMATypes::bf16, NVVM::MMATypes::bf16},
                                std::array{NVVM::MMALayout::row, NVVM::MMALayout::col});
        sums[top] = element(next, 0);
        sums[top + 1] = element(next, 1);
        sums[low] = element(next, 2);
        sums[low + 1] = element(next, 3);
      }
  }
  return sums;
}
