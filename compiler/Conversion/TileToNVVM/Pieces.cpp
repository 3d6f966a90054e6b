//===- Pieces.cpp - matrices in shared memory -----------------------------===//
//
// The images of !tile.shared as index arithmetic, and how they are filled: cp.async of 16 bytes where four words of a
// row are neighbours on both sides, else of 4. A copy of no bytes writes zeros.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/TileToNVVM/TileCode.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace heddle::tile;

Type TileCode::sharedPointer() {
  return LLVM::LLVMPointerType::get(b.getContext(), unsigned(NVVM::NVVMMemorySpace::Shared));
}

Value TileCode::behind(Value base, Value words) {
  if (known(words) == 0)
    return base;
  return LLVM::GEPOp::create(b, sharedPointer(), f32(), base, ArrayRef<LLVM::GEPArg>{toI64(words)});
}

/// x xor y of indices.
static Value crossed(TileCode &c, Value x, Value y) { return arith::XOrIOp::create(c.b, x, y); }

Value TileCode::wordAt(const Piece &piece, Value row, Value column) {
  int64_t pitch = piece.type.pitch();
  switch (piece.type.getImage()) {
  case Image::plain: return behind(piece.base, add(mul(row, pitch), column));
  case Image::turned: return behind(piece.base, add(mul(column, pitch), row));
  case Image::chunks: {
    bool lines = piece.type.getColumns() % 32 == 0; // rows begin at the same bank
    Value turn = lines ? rem(row, constant(8)) : rem(div(row, constant(2)), constant(4)),
          chunk = div(column, constant(4));
    Value word = add({mul(crossed(*this, chunk, turn), 4), rem(column, constant(4))});
    return behind(piece.base, add(mul(row, pitch), word));
  }
  case Image::woven: {
    Value turn = mul(rem(row, constant(4)), 8);
    return behind(piece.base, add({mul(row, pitch), crossed(*this, column, turn)}));
  }
  case Image::left: {
    Value group = mul(div(column, constant(4)), pitch), word = add({mul(row, 4), rem(column, constant(4))});
    return behind(piece.base, add(group, word));
  }
  case Image::right: {
    Value group = mul(div(row, constant(4)), pitch), word = add({mul(column, 4), rem(row, constant(4))});
    return behind(piece.base, add(group, word));
  }
  }
  llvm_unreachable("all images are there");
}

void TileCode::copy(const Window &w, const Piece &piece) {
  std::optional<int64_t> all = known(w.columns);
  bool turned = piece.type.getImage() == Image::turned || piece.type.getImage() == Image::right;
  bool wide = w.groups || (!turned && piece.type.getColumns() % 4 == 0 && (w.panels || (all && *all % 4 == 0)));
  if (!wide || !w.anywhere)
    return copyParts(w, piece, wide ? 4 : 1);
  Value first = rem(w.column, constant(4));
  when(equal(first, constant(0)), [&] { copyParts(w, piece, 4); }, [&] { copyParts(w, piece, 1); });
}

/// `words` words at a time. In rows and panels, what a thread copies in its next turn is a constant number of rows
/// and columns further, so that one address and constants serve all turns, and few questions whether a row is inside:
/// registers that a tall tile of f32 needs for its sums. In groups each copy has an address of its own.
void TileCode::copyParts(const Window &w, const Piece &piece, int64_t words) {
  constexpr int64_t kWrittenOut = 8; // copies of a thread that are in the code one by one
  constexpr int64_t kNear = 4;       // words of a row that are fetched side by side where the next row's follow
  int64_t rows = piece.type.getRows(), columns = piece.type.getColumns(), count = rows * columns / words;
  bool left = w.groups && piece.type.getImage() == Image::left, right = w.groups && !left;
  // Rows into groups: eight rows side by side, whose words are side by side in shared memory and meet no bank twice.
  bool parted = !w.groups && piece.type.getImage() == Image::left && !piece.type.getWord().isF32();
  int64_t together = parted ? 8 : 1;
  bool turned = piece.type.getImage() == Image::turned && columns % kNear == 0;
  Type global = LLVM::LLVMPointerType::get(b.getContext(), unsigned(NVVM::NVVMMemorySpace::Global));
  Value from = LLVM::AddrSpaceCastOp::create(b, global, w.from);
  auto modifier = words == 4 ? NVVM::LoadCacheModifierKind::CG : NVVM::LoadCacheModifierKind::CA;
  // What is side by side in groups is asked for side by side.
  int64_t across = turned ? kNear : !w.groups ? columns / words : left ? rows : columns;
  // The copy of a part, `down` rows and `aside` columns further.
  auto one = [&](Value part, int64_t down, int64_t aside) {
    Value first = div(part, constant(together)), inside = rem(part, constant(together));
    Value line = add(mul(div(first, constant(across)), together), inside), side = rem(first, constant(across));
    Value row = line, column = side;
    if (turned) {
      row = rem(line, constant(rows));
      column = add(side, mul(div(line, constant(rows)), across));
    } else if (left) {
      row = side;
      column = mul(line, words);
    } else if (right) {
      row = mul(line, words);
    } else {
      column = mul(side, words);
    }
    Value r = add(w.row, row), c = add(w.column, column);
    Value low = less(add(r, down), w.rows), front = less(add(c, aside), w.columns);
    Value there = arith::AndIOp::create(b, low, front), index, further;
    if (w.groups) {
      Value group = div(left ? c : r, constant(words)), across = left ? w.rows : w.columns, place = left ? r : c;
      if (w.panels) { // of a right side: groups of a panel are one after the other
        across = constant(w.panels);
        group = add(mul(div(c, across), div(w.rows, constant(words))), group);
        place = rem(c, across);
      }
      index = mul(add(mul(group, across), place), words);
    } else if (w.panels) {
      Value panel = div(c, constant(w.panels)), place = rem(c, constant(w.panels));
      Value before = mul(panel, w.rows);
      index = add({mul(add(before, r), w.panels), place});
      further = constant(down * w.panels);
    } else {
      index = add({mul(r, w.columns), c});
      further = add(mul(w.columns, down), aside);
    }
    Value source = LLVM::GEPOp::create(b, global, f32(), from, ArrayRef<LLVM::GEPArg>{toI64(index)});
    if (down || aside)
      source = LLVM::GEPOp::create(b, global, f32(), source, ArrayRef<LLVM::GEPArg>{toI64(further)});
    source = select(there, source, from); // an address of the matrix, also where nothing is read
    Value full = arith::ConstantOp::create(b, b.getI32IntegerAttr(int32_t(4 * words)));
    Value none = arith::ConstantOp::create(b, b.getI32IntegerAttr(0)), bytes = select(there, full, none);
    Value to = wordAt(piece, add(row, down), add(column, aside));
    NVVM::CpAsyncOp::create(b, to, source, b.getI32IntegerAttr(int32_t(4 * words)),
                            NVVM::LoadCacheModifierKindAttr::get(b.getContext(), modifier), bytes);
  };
  if (count > kWrittenOut * threads)
    return loop(thread, constant(count), threads, [&](Value part) { one(part, 0, 0); });
  bool further = !w.groups && threads % (across * together) == 0 && (!turned || rows % (threads / across) == 0);
  for (int64_t first = 0; first < count; first += threads) {
    int64_t lines = first / across;
    auto copied = [&] {
      if (!further)
        one(add(thread, first), 0, 0);
      else if (turned)
        one(thread, lines % rows, lines / rows * across);
      else
        one(thread, lines, 0);
    };
    if (first + threads <= count)
      copied();
    else
      when(less(add(thread, first), constant(count)), copied);
  }
}
