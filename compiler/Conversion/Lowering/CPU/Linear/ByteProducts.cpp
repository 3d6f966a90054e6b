//===- ByteProducts.cpp - products of codes and rows of 8 bits -------------===//

#include "compiler/Conversion/Lowering/CPU/Linear/ByteProducts.h"
#include "compiler/Conversion/Lowering/Language/CodeNumbers.h"
#include "dialects/Model/IR/ModelPlanAttrs.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using namespace heddle::model;

Products heddle::loops::productsOf(Operation *op) {
  TargetAttr target = targetOf(op);
  if (!target || !target.getNeeds())
    return Products::Plain;
  SmallVector<StringRef> words;
  target.getNeeds().getValue().split(words, ' ');
  auto has = [&](StringRef word) { return llvm::is_contained(words, word); };
  if (target.getLanes() == 16)
    return has("avx512vnni") ? Products::Quads : has("avx512bw") ? Products::Pairs : Products::Plain;
  if (target.getLanes() == 8)
    return has("avxvnni") ? Products::Quads : has("avx2") ? Products::Pairs : Products::Plain;
  return has("i8mm") ? Products::Quads : has("dotprod") ? Products::SignedQuads : Products::Plain;
}

bool heddle::loops::bytesAreSigned(const CodeFormat &format, Products products) {
  bool table = format.table != CodeTable::None;
  return products == Products::SignedQuads ? table || format.bits == 8 : products == Products::Pairs && table;
}

int64_t heddle::loops::offsetOfBytes(const CodeFormat &format, Products products) {
  bool isSigned = bytesAreSigned(format, products);
  if (format.table != CodeTable::None)
    return isSigned ? 0 : 128;
  return format.offset() - (isSigned ? 128 : 0);
}

static Type bytesOf(Code &c) { return VectorType::get({4 * c.lanes}, c.b.getI8Type()); }
static Type shortsOf(Code &c) { return VectorType::get({2 * c.lanes}, c.b.getI16Type()); }
static Value as(Code &c, Type type, Value x) { return LLVM::BitcastOp::create(c.b, type, x); }
static Value intrinsic(Code &c, Type type, StringRef name, ValueRange operands) {
  return LLVM::CallIntrinsicOp::create(c.b, type, c.b.getStringAttr(name), operands).getResult(0);
}

Value heddle::loops::quads(Code &c, Products products, Value sums, Value codes, Value rows) {
  Value x = as(c, bytesOf(c), codes), y = as(c, bytesOf(c), rows);
  StringRef name = products == Products::SignedQuads ? "llvm.aarch64.neon.sdot"
                   : c.lanes == 4                    ? "llvm.aarch64.neon.usdot"
                   : c.lanes == 8                    ? "llvm.x86.avx512.vpdpbusd.256"
                                                     : "llvm.x86.avx512.vpdpbusd.512";
  return intrinsic(c, sums.getType(), name, {sums, x, y});
}

/// Rows with the signs of codes; 0 where a code is 0 or anything, since its size is 0.
static Value withSigns(Code &c, Value rows, Value codes) {
  if (c.lanes == 8)
    return intrinsic(c, bytesOf(c), "llvm.x86.avx2.psign.b", {rows, codes});
  Value none = c.integer(bytesOf(c), 0), minus = arith::SubIOp::create(c.b, none, rows);
  Value below = arith::CmpIOp::create(c.b, arith::CmpIPredicate::slt, codes, none);
  return arith::SelectOp::create(c.b, below, minus, rows);
}

Value heddle::loops::pairsOfBytes(Code &c, Value codes, Value rows, Value sizes) {
  Value x = as(c, bytesOf(c), sizes ? sizes : codes), y = as(c, bytesOf(c), rows);
  if (sizes)
    y = withSigns(c, y, as(c, bytesOf(c), codes));
  StringRef name = c.lanes == 16 ? "llvm.x86.avx512.pmaddubs.w.512" : "llvm.x86.avx2.pmadd.ub.sw";
  return intrinsic(c, shortsOf(c), name, {x, y});
}

Value heddle::loops::pairs(Code &c, Value x, Value y) {
  Value a = as(c, shortsOf(c), x), b = as(c, shortsOf(c), y);
  StringRef name = c.lanes == 16 ? "llvm.x86.avx512.pmaddw.d.512" : "llvm.x86.avx2.pmadd.wd";
  return intrinsic(c, c.vec(c.b.getI32Type()), name, {a, b});
}

Value heddle::loops::lookedUp(Code &c, Products products, ArrayRef<int8_t> entries, Value indices) {
  Type words = indices.getType();
  if (products == Products::Plain) {
    Value all;
    for (int64_t b = 0; b < 4; ++b) {
      Value byte = bytesAt(c, entries, masked(c, shifted(c, indices, 8 * b), 15));
      Value word = shifted(c, Value(arith::ExtUIOp::create(c.b, words, byte)), -8 * b);
      all = all ? Value(arith::OrIOp::create(c.b, all, word)) : word;
    }
    return all;
  }
  SmallVector<int8_t> repeated; // a shuffle stays within 16 bytes
  for (int64_t i = 0; i < 4 * c.lanes; ++i)
    repeated.push_back(entries[i % 16]);
  auto all = DenseElementsAttr::get(cast<ShapedType>(bytesOf(c)), ArrayRef<int8_t>(repeated));
  Value table = arith::ConstantOp::create(c.b, all);
  StringRef name = c.lanes == 16  ? "llvm.x86.avx512.pshuf.b.512"
                   : c.lanes == 8 ? "llvm.x86.avx2.pshuf.b"
                                  : "llvm.aarch64.neon.tbl1.v16i8";
  return as(c, words, intrinsic(c, bytesOf(c), name, {table, as(c, bytesOf(c), indices)}));
}

Value heddle::loops::masked(Code &c, Value x, int64_t bits) {
  return arith::AndIOp::create(c.b, x, c.integer(x.getType(), bits));
}
Value heddle::loops::shifted(Code &c, Value x, int64_t by) {
  if (by < 0)
    return arith::ShLIOp::create(c.b, x, c.integer(x.getType(), -by));
  return by ? Value(arith::ShRUIOp::create(c.b, x, c.integer(x.getType(), by))) : x;
}
Value heddle::loops::flipped(Code &c, Value x) {
  return arith::XOrIOp::create(c.b, x, c.integer(x.getType(), int32_t(0x80808080)));
}
