//===- MatrixTiles.cpp - matrix registers ---------------------------------===//

#include "compiler/Conversion/Lowering/CPU/Linear/MatrixTiles.h"
#include "dialects/Model/IR/ModelPlanAttrs.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace heddle::loops;

static void intrinsic(Code &c, StringRef name, ValueRange operands) {
  LLVM::CallIntrinsicOp::create(c.b, c.b.getStringAttr(name), operands);
}

/// The number of a register, which is part of the instruction.
static Value number(Code &c, int64_t tile) {
  return LLVM::ConstantOp::create(c.b, c.b.getI8Type(), c.b.getI8IntegerAttr(int8_t(tile)));
}

bool MatrixTiles::has(Operation *op, StringRef what) {
  model::TargetAttr target = model::targetOf(op);
  if (!target || !target.getNeeds() || target.getLanes() != results)
    return false;
  SmallVector<StringRef> words;
  target.getNeeds().getValue().split(words, ' ');
  return llvm::is_contained(words, "amx-tile") && llvm::is_contained(words, what);
}

void MatrixTiles::configure(Code &c, Value area, Value leftRows) {
  // Byte 0 says which kind of configuration this is, the only one there is; from 16 on are 16 widths in bytes of 16
  // bits each, from 48 on 16 heights. What registers 8 to 15 would be stays 0.
  Type i8 = c.b.getI8Type(), i16 = c.b.getI16Type(), i64 = c.b.getI64Type();
  auto place = [&](int64_t at) { return c.at(area, c.constant(at), i8); };
  for (int64_t at = 0; at < bytes; at += 8)
    c.store(c.integer(i64, 0), place(at));
  c.store(c.integer(i8, 1), place(0));
  Value high = arith::TruncIOp::create(c.b, i8, c.toI64(leftRows));
  for (int64_t tile = 0; tile < 8; ++tile) {
    c.store(c.integer(i16, bytes), place(16 + 2 * tile));
    c.store(tile < firstWeights ? high : c.integer(i8, rows), place(48 + tile));
  }
  intrinsic(c, "llvm.x86.ldtilecfg", area);
}

void MatrixTiles::release(Code &c) { intrinsic(c, "llvm.x86.tilerelease", {}); }

void MatrixTiles::zero(Code &c, int64_t tile) { intrinsic(c, "llvm.x86.tilezero", number(c, tile)); }

void MatrixTiles::load(Code &c, int64_t tile, Value address, int64_t pitch) {
  Value mine = number(c, tile);
  intrinsic(c, "llvm.x86.tileloadd64", {mine, address, c.integer(c.b.getI64Type(), pitch)});
}

void MatrixTiles::store(Code &c, int64_t tile, Value address, int64_t pitch) {
  Value mine = number(c, tile);
  intrinsic(c, "llvm.x86.tilestored64", {mine, address, c.integer(c.b.getI64Type(), pitch)});
}

static void multiply(Code &c, StringRef name, int64_t sums, int64_t left, int64_t weights) {
  Value to = number(c, sums), x = number(c, left), y = number(c, weights);
  intrinsic(c, name, {to, x, y});
}

void MatrixTiles::multiplyPairs(Code &c, int64_t sums, int64_t left, int64_t weights) {
  multiply(c, "llvm.x86.tdpbf16ps", sums, left, weights);
}
void MatrixTiles::multiplyBytes(Code &c, int64_t sums, int64_t left, int64_t weights) {
  multiply(c, "llvm.x86.tdpbsud", sums, left, weights);
}
