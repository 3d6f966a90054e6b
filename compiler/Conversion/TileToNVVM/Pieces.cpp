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

/// `words` words at a time.
void TileCode::copyParts(const Window &w, const Piece &piece, int64_t words) {
  constexpr int64_t kWrittenOut = 8; // copies of a thread that stand in the code one by one
  int64_t rows = piece.type.getRows(), columns = piece.type.getColumns(), count = rows * columns / words;
  bool left = w.groups && piece.type.getImage() == Image::left, right = w.groups && !left;
  Type global = LLVM::LLVMPointerType::get(b.getContext(), unsigned(NVVM::NVVMMemorySpace::Global));
  Value from = LLVM::AddrSpaceCastOp::create(b, global, w.from);
  auto modifier = words == 4 ? NVVM::LoadCacheModifierKind::CG : NVVM::LoadCacheModifierKind::CA;
  auto one = [&](Value part) {
    // What lies side by side in groups is asked for side by side.
    int64_t across = !w.groups ? columns / words : left ? rows : columns;
    Value row = div(part, constant(across)), column = rem(part, constant(across));
    if (left)
      std::swap(row, column);
    row = right ? mul(row, words) : row;
    column = right ? column : mul(column, words);
    Value r = add(w.row, row), c = add(w.column, column);
    Value low = less(r, w.rows), front = less(c, w.columns);
    Value inside = arith::AndIOp::create(b, low, front);
    Value index;
    if (w.groups) {
      Value group = div(left ? c : r, constant(words)), before = mul(group, left ? w.rows : w.columns);
      index = mul(add(before, left ? r : c), words);
    } else {
      index = add({mul(r, w.columns), c});
    }
    if (w.panels) {
      Value panel = div(c, constant(w.panels)), place = rem(c, constant(w.panels));
      Value before = mul(panel, w.rows);
      index = add({mul(add(before, r), w.panels), place});
    }
    // Where nothing is read the address is one that could be.
    index = toI64(select(inside, index, constant(0)));
    Value source = LLVM::GEPOp::create(b, global, f32(), from, ArrayRef<LLVM::GEPArg>{index});
    Value full = arith::ConstantOp::create(b, b.getI32IntegerAttr(int32_t(4 * words)));
    Value none = arith::ConstantOp::create(b, b.getI32IntegerAttr(0)), bytes = select(inside, full, none);
    Value to = wordAt(piece, row, column);
    NVVM::CpAsyncOp::create(b, to, source, b.getI32IntegerAttr(int32_t(4 * words)),
                            NVVM::LoadCacheModifierKindAttr::get(b.getContext(), modifier), bytes);
  };
  if (count > kWrittenOut * threads)
    return loop(thread, constant(count), threads, one);
  for (int64_t first = 0; first < count; first += threads) {
    Value part = add(thread, first);
    if (first + threads <= count)
      one(part);
    else
      when(less(part, constant(count)), [&] { one(part); });
  }
}
