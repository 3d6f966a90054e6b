//===- Groups.cpp - products by groups of four warps ------------------------===//
//
// wgmma.m64nNk16: 128 threads multiply 64 rows by N columns, 16 products at a time, and both sides are read from shared
// memory by the unit itself, while threads go on; or the left side is what the threads hold. A descriptor says where a
// side is: in 8 x 8 matrices of halves, 128 bytes each, `leading` bytes from one to the next along k and `stride`
// bytes along rows or columns. A line of a matrix has 8 halves along k, or along the columns (turned). LLVM knows sums
// that are under way as values of the assembly that made them; that no op touches them before they are ready is what
// `settle` sees to, which takes them and gives them back.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/GPU/WarpLanes.h"
#include "compiler/Conversion/TileToNVVM/TileCode.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace heddle::tile;
using heddle::loops::WarpLanes;

static constexpr int64_t kMatrix = 8; ///< lines of 8 x 8 halves

/// `asm` on registers that it changes, with `others` as further operands after them.
static Values change(TileCode &c, const llvm::Twine &text, ValueRange changed, ValueRange others) {
  MLIRContext *context = c.b.getContext();
  size_t count = changed.size();
  std::string constraints;
  for (size_t i = 0; i < count; ++i)
    constraints += "=f,";
  for (Value other : others)
    constraints += other.getType().isInteger(32) ? "r," : "l,";
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

static constexpr int64_t kUnit = 16; ///< bytes that descriptors count in: a line of a matrix

/// What says where a side is that begins `first` lines after `address`; steps in lines.
static Value descriptor(TileCode &c, Value address, Value first, int64_t leading, int64_t stride) {
  auto number = [&](int64_t n) -> Value { return arith::ConstantOp::create(c.b, c.b.getI64IntegerAttr(n)); };
  constexpr int64_t kWindow = (1 << 18) - 1;
  Value place = arith::AddIOp::create(c.b, address, c.toI64(c.mul(first, kUnit)));
  Value inWindow = arith::AndIOp::create(c.b, place, number(kWindow));
  Value begin = arith::ShRUIOp::create(c.b, inWindow, number(4));
  return arith::OrIOp::create(c.b, begin, number(leading << 16 | stride << 32));
}

/// The same `lines` further.
static Value later(TileCode &c, Value descriptor, int64_t lines) {
  Value further = arith::ConstantOp::create(c.b, c.b.getI64IntegerAttr(lines));
  return arith::AddIOp::create(c.b, descriptor, further);
}

/// The product of one unit along k with `count` registers of sums; `sides`: what is after them.
static std::string product(int64_t count, StringRef sides) {
  std::string registers;
  for (int64_t i = 0; i < count; ++i)
    registers += (i ? ", $" : "$") + std::to_string(i);
  return llvm::formatv("wgmma.mma_async.sync.aligned.m64n{0}k16.f32.bf16.bf16 {{{1}}, {2}", 2 * count, registers,
                       sides);
}

/// The sums of rows `i` and `i + 1` of a thread in the order of a unit's registers, which take these rows by turns, two
/// columns of each: `visit` gets their places.
static void inTurns(FragType type, int64_t i, llvm::function_ref<void(int64_t)> visit) {
  int64_t columns = type.heldColumns();
  for (int64_t j = 0; j < columns; j += 2)
    for (int64_t place : {i * columns + j, (i + 1) * columns + j})
      for (int64_t n = 0; n < 2; ++n)
        visit(place + n);
}

Values TileCode::multiplyGroups(const Piece &left, const Piece &right, FragType type, Values sums, int64_t depth) {
  constexpr int64_t kWords = 8; // of a unit along k
  int64_t rows = type.heldRows(), width = type.getColumns() / type.getAcross(), count = width / 2;
  // The same in all lanes, and known to be.
  Value number = arith::IndexCastOp::create(b, b.getI32Type(), owner(type));
  Value group = arith::IndexCastUIOp::create(b, b.getIndexType(), WarpLanes::fromLane(*this, number, constant(0)));
  Value down = mul(div(group, constant(type.getAcross())), type.getRows() / type.getDown());
  Value across = mul(rem(group, constant(type.getAcross())), width);
  // Of a group, which is four words of k: how many lines it has.
  int64_t xLines = left.type.pitch() / 4, wLines = right.type.pitch() / 4;
  Value x = address(left.base), w = descriptor(*this, address(right.base), across, wLines, kMatrix);
  NVVM::WgmmaFenceAlignedOp::create(b);
  std::string text = product(count, llvm::formatv("${0}, ${1}, 1, 1, 1, 0, 0;", count, count + 1).str());
  for (int64_t i = 0; i < rows; i += 2) {
    Value mine = descriptor(*this, x, add(down, i / 2 * 64), xLines, kMatrix);
    Values held;
    inTurns(type, i, [&](int64_t place) { held.push_back(sums[place]); });
    for (int64_t k = 0; k < depth; k += kWords)
      held = change(*this, text, held, {later(*this, mine, k / 4 * xLines), later(*this, w, k / 4 * wLines)});
    size_t at = 0;
    inTurns(type, i, [&](int64_t place) { sums[place] = held[at++]; });
  }
  NVVM::WgmmaGroupSyncAlignedOp::create(b);
  return sums;
}

/// The left side is a fragment; all its words are there before the first product begins, since units read registers
/// while threads go on. The right side is in groups of eight columns, and is turned.
Values TileCode::multiplyHeldGroups(const Values &left, int64_t depth, const Piece &right, FragType type, Values sums) {
  constexpr int64_t kKeys = 16; // of a unit along k
  int64_t rows = type.heldRows(), count = type.getColumns() / 2;
  SmallVector<Values> words;
  for (int64_t i = 0; i < rows; i += 2)
    for (int64_t k = 0; k < depth; k += kKeys)
      words.push_back(heldWords(left, depth, i, k));
  Value w = descriptor(*this, address(right.base), constant(0), kMatrix, right.type.pitch() / 4);
  NVVM::WgmmaFenceAlignedOp::create(b);
  auto sides =
      llvm::formatv("{{${0}, ${1}, ${2}, ${3}}, ${4}, 1, 1, 1, 1;", count, count + 1, count + 2, count + 3, count + 4);
  std::string text = product(count, sides.str());
  size_t unit = 0;
  for (int64_t i = 0; i < rows; i += 2) {
    Values held;
    inTurns(type, i, [&](int64_t place) { held.push_back(sums[place]); });
    for (int64_t k = 0; k < depth; k += kKeys) {
      Values others = words[unit++];
      others.push_back(later(*this, w, k));
      held = change(*this, text, held, others);
    }
    size_t at = 0;
    inTurns(type, i, [&](int64_t place) { sums[place] = held[at++]; });
  }
  NVVM::WgmmaGroupSyncAlignedOp::create(b);
  return sums;
}

void TileCode::showUnits() {
  LLVM::InlineAsmOp::create(b, TypeRange{}, ValueRange{}, "fence.proxy.async.shared::cta;", "~{memory}",
                            /*has_side_effects=*/true, /*is_align_stack=*/false, LLVM::TailCallKind::None,
                            LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT), ArrayAttr());
}

Values TileCode::settle(ValueRange sums) { return change(*this, "wgmma.wait_group.sync.aligned 0;", sums, {}); }
