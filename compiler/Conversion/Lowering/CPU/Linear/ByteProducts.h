//===- ByteProducts.h - products of codes and rows of 8 bits ----*- C++ -*-===//
//
// How a target multiplies bytes of codes by signed bytes of rows and adds neighbours. All ways give the same integers.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_CPU_LINEAR_BYTEPRODUCTS_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_CPU_LINEAR_BYTEPRODUCTS_H

#include "compiler/Conversion/Lowering/Language/Code.h"
#include "dialects/Model/IR/Coding.h"

namespace heddle::loops {

/// Quads: four at once, unsigned codes (vpdpbusd, usdot). SignedQuads: four at once, signed codes (sdot). Pairs: two
/// (vpmaddubsw, vpmaddwd). Plain: in words of 32 bits.
enum class Products { Plain, Pairs, Quads, SignedQuads };
Products productsOf(mlir::Operation *op);

/// What a byte that is multiplied is above the integer that it stands for. SignedQuads take codes of 8 bits less 128;
/// they and Pairs take the signed integers of a table, others these and 128.
int64_t offsetOfBytes(const CodeFormat &format, Products products);
/// Whether the bytes that are multiplied have signs.
bool bytesAreSigned(const CodeFormat &format, Products products);

/// sums + the products of four bytes of codes by four of rows, in every lane.
Value quads(Code &c, Products products, Value sums, Value codes, Value rows);
/// In every half of a lane the sum of the products of two bytes of codes by two of rows: unsigned codes, or `sizes` of
/// codes whose signs are those of `codes`.
Value pairsOfBytes(Code &c, Value codes, Value rows, Value sizes = {});
/// In every lane the sum of the products of two halves, both signed.
Value pairs(Code &c, Value x, Value y);

/// In every lane four bytes, each the entry of `entries` (16 bytes) whose index is the byte that stands there in
/// `indices`.
Value lookedUp(Code &c, Products products, llvm::ArrayRef<int8_t> entries, Value indices);

/// The bits of every lane.
Value masked(Code &c, Value x, int64_t bits);
Value shifted(Code &c, Value x, int64_t by); ///< down; a negative number: up
/// The bytes of every lane less 128.
Value flipped(Code &c, Value x);
inline Value added(Code &c, Value x, Value y) { return mlir::arith::AddIOp::create(c.b, x, y); }

} // namespace heddle::loops

#endif
