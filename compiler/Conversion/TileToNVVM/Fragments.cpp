//===- Fragments.cpp - which thread holds what ----------------------------===//
//
// The clauses of !tile.frag as index arithmetic.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/GPU/WarpLanes.h"
#include "compiler/Conversion/TileToNVVM/TileCode.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace heddle::tile;
using heddle::loops::kWarp;

TileCode::TileCode(ImplicitLocOpBuilder &b, const loops::Lanes &lanes, int64_t threads)
    : Code(b, lanes), threads(threads) {
  Value number = NVVM::ThreadIdXOp::create(b, b.getI32Type());
  thread = arith::IndexCastUIOp::create(b, b.getIndexType(), number);
}

Apart::Apart(TileCode &c) : c(c), known(c.thread) {
  ImplicitLocOpBuilder &b = c.b;
  Type i32 = b.getI32Type();
  Value number = arith::IndexCastUIOp::create(b, i32, known);
  Value same =
      LLVM::InlineAsmOp::create(b, TypeRange{i32}, number, "", "=r,0", /*has_side_effects=*/true,
                                /*is_align_stack=*/false, LLVM::TailCallKind::None,
                                LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT), ArrayAttr())
          .getResult(0);
  c.thread = arith::IndexCastUIOp::create(b, b.getIndexType(), same);
}

Value TileCode::owner(FragType type) { return div(thread, constant(type.group())); }

Value TileCode::rowOf(FragType type, Value i) {
  Value mine = div(owner(type), constant(type.getAcross()));
  if (type.getSpread() == Spread::block) {
    Value square = mul(div(i, constant(4)), 4 * type.getDown()), first = mul(mine, 4);
    return add({add(square, first), rem(i, constant(4))});
  }
  if (type.getSpread() == Spread::cyclic)
    return add(mul(i, type.getDown()), mine);
  Value group = div(rem(thread, constant(kWarp)), constant(4)), first = mul(mine, type.getRows() / type.getDown());
  // A piece has 16 rows of each warp of a group.
  int64_t warps = type.group() / kWarp;
  if (warps > 1)
    first = add(first, mul(rem(div(thread, constant(kWarp)), constant(warps)), 16));
  Value piece = mul(div(i, constant(2)), 16 * warps), half = mul(rem(i, constant(2)), 8);
  return add({add(first, group), add(piece, half)});
}

Value TileCode::columnOf(FragType type, Value j) {
  Value mine = rem(owner(type), constant(type.getAcross()));
  switch (type.getSpread()) {
  case Spread::block: {
    Value square = mul(div(j, constant(4)), 4 * type.getAcross()), inside = rem(j, constant(4));
    return add({mul(mine, 4), add(square, inside)});
  }
  case Spread::mma:
  case Spread::wgmma: {
    Value pair = mul(rem(thread, constant(4)), 2), first = mul(mine, type.getColumns() / type.getAcross());
    Value piece = mul(div(j, constant(2)), 8), inside = rem(j, constant(2));
    return add({add(first, pair), add(piece, inside)});
  }
  case Spread::cyclic: return add(mul(j, type.getAcross()), mine);
  case Spread::rows: return constant(0);
  }
  llvm_unreachable("all spreads are there");
}
