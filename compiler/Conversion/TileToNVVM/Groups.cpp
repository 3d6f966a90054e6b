//===- Groups.cpp - products by groups of four warps ------------------------===//
//
// wgmma.m64nNk16: 128 threads multiply 64 rows by N columns, 16 products at a time, and both sides are read from shared
// memory by the unit itself, while threads go on. A descriptor says where a side lies: in 8 x 8 matrices of halves, 128
// bytes each, `leading` bytes from one to the next along k and `stride` bytes along rows or columns. LLVM knows sums
// that are under way as values of the assembly that made them; that nobody touches them before they are there is what
// `settle` sees to, which takes them and gives them back.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/TileToNVVM/TileCode.h"
#include "compiler/Conversion/ToLoops/Gpu/WarpLanes.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace heddle::tile;
using heddle::loops::WarpLanes;

static constexpr int64_t kMatrix = 128; ///< bytes of 8 x 8 halves

/// `asm` on registers that it changes, with `others` as further operands behind them.
static Values change(TileCode &c, const llvm::Twine &text, ValueRange changed, ValueRange others) {
  MLIRContext *context = c.b.getContext();
  size_t count = changed.size();
  std::string constraints;
  for (size_t i = 0; i < count; ++i)
    constraints += "=f,";
  for (size_t i = 0; i < others.size(); ++i)
    constraints += "l,";
  for (size_t i = 0; i < count; ++i)
    constraints += std::to_string(i) + ",";
  constraints += "~{memory}";
  Values operands(others.begin(), others.end());
  operands.append(changed.begin(), changed.end());
  Type all = LLVM::LLVMStructType::getLiteral(context, SmallVector<Type>(count, c.f32()));
  Value next = LLVM::InlineAsmOp::create(c.b, TypeRange{all}, operands, text.str(), constraints,
                                         /*has_side_effects=*/true, /*is_align_stack=*/false, LLVM::TailCallKind::None,
                                         LLVM::AsmDialectAttr::get(context, LLVM::AsmDialect::AD_ATT), ArrayAttr())
                   .getResult(0);
  Values results;
  for (size_t i = 0; i < count; ++i) {
    Value one = LLVM::ExtractValueOp::create(c.b, next, ArrayRef<int64_t>{int64_t(i)});
    results.push_back(one);
  }
  return results;
}

/// What says where the rows (columns) from `first` on of a piece in groups lie.
static Value descriptor(TileCode &c, Value address, Value first, int64_t pitch) {
  auto number = [&](int64_t n) -> Value { return arith::ConstantOp::create(c.b, c.b.getI64IntegerAttr(n)); };
  constexpr int64_t kWindow = (1 << 18) - 1, kUnit = 16;
  Value place = arith::AddIOp::create(c.b, address, c.toI64(c.mul(first, kUnit)));
  Value inWindow = arith::AndIOp::create(c.b, place, number(kWindow));
  Value begin = arith::ShRUIOp::create(c.b, inWindow, number(4));
  int64_t leading = 4 * pitch / kUnit, stride = kMatrix / kUnit;
  return arith::OrIOp::create(c.b, begin, number(leading << 16 | stride << 32));
}

Values TileCode::multiplyGroups(const Piece &left, const Piece &right, FragType type, Values sums, int64_t depth) {
  constexpr int64_t kWords = 8; // of a unit along k
  int64_t rows = type.heldRows(), columns = type.heldColumns(), width = type.getColumns() / type.getAcross();
  // The same in all lanes, and known to be.
  Value number = arith::IndexCastOp::create(b, b.getI32Type(), owner(type));
  Value group = arith::IndexCastUIOp::create(b, b.getIndexType(), WarpLanes::fromLane(*this, number, constant(0)));
  Value down = mul(div(group, constant(type.getAcross())), type.getRows() / type.getDown());
  Value across = mul(rem(group, constant(type.getAcross())), width);
  Value x = address(left.base), w = descriptor(*this, address(right.base), across, right.type.pitch());
  NVVM::WgmmaFenceAlignedOp::create(b);
  std::string registers;
  for (int64_t i = 0; i < 2 * columns; ++i)
    registers += (i ? ", $" : "$") + std::to_string(i);
  auto text = llvm::formatv("wgmma.mma_async.sync.aligned.m64n{0}k16.f32.bf16.bf16 {{{1}}, ${2}, ${3}, 1, 1, 1, 0, 0;",
                            width, registers, 2 * columns, 2 * columns + 1);
  auto later = [&](Value first, int64_t pitch, int64_t k) -> Value {
    Value further = arith::ConstantOp::create(b, b.getI64IntegerAttr(k / 4 * pitch / 4));
    return arith::AddIOp::create(b, first, further);
  };
  for (int64_t i = 0; i < rows; i += 2) {
    Value mine = descriptor(*this, x, add(down, i / 2 * 64), left.type.pitch());
    // A unit's registers take the rows of a thread by turns, two columns of each.
    Values held;
    for (int64_t j = 0; j < columns; j += 2)
      for (int64_t place : {i * columns + j, (i + 1) * columns + j})
        held.append({sums[place], sums[place + 1]});
    for (int64_t k = 0; k < depth; k += kWords) {
      Value a = later(mine, left.type.pitch(), k), bb = later(w, right.type.pitch(), k);
      held = change(*this, text.str(), held, {a, bb});
    }
    size_t at = 0;
    for (int64_t j = 0; j < columns; j += 2)
      for (int64_t place : {i * columns + j, (i + 1) * columns + j})
        for (int64_t n = 0; n < 2; ++n)
          sums[place + n] = held[at++];
  }
  NVVM::WgmmaGroupSyncAlignedOp::create(b);
  return sums;
}

Values TileCode::settle(ValueRange sums) { return change(*this, "wgmma.wait_group.sync.aligned 0;", sums, {}); }
