//===- IntegerRows.h - rows rounded to 8 bits -------------------*- C++ -*-===//
//
// The left side of a linear whose weight is coded and whose products are integers (ModelOps.td, linear). A row is
// rounded once, before panels pass over it, and becomes one record:
//
//   codes    a signed byte a feature, with zeros behind K; i16 for `Pairs` of 8 bits, four of them as 0, 2, 1, 3
//   scales   f32 for each block of 128 or 32 features (Arithmetic::rows)
//   offsets  i32 a unit: -offset * sum of its codes, by which unsigned codes of the weight become signed ones
//   sums     f32 a unit: -sum of its codes, which a zero multiplies; only where groups have zeros
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_CPU_LINEAR_INTEGERROWS_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_CPU_LINEAR_INTEGERROWS_H

#include "compiler/Conversion/Lowering/Frame/Lowering.h"
#include "dialects/Model/IR/Arithmetic.h"

namespace heddle::loops {

/// How a target multiplies unsigned bytes by signed ones and adds neighbours: Quads four at once (vpdpbusd, usdot),
/// Pairs two (vpmaddubsw, vpmaddwd), Plain in words of 32 bits. SignedQuads (sdot) wants both signed: codes of 8 bits
/// less 128, which are the integers that they mean. All give the same integers.
enum class Products { Plain, Pairs, Quads, SignedQuads };
Products productsOf(mlir::Operation *op);

struct IntegerRow {
  IntegerRow(const model::Arithmetic &arithmetic, int64_t k, Products products);
  Coding coding;
  Products products;
  int64_t k, features;                        ///< features: with what fills the last group up
  int64_t block;                              ///< features that share a scale of the row
  int64_t unit, units, scales;                ///< features of a unit; units and scales of a row
  int64_t codeBytes;                          ///< of one code
  int64_t scalesAt, offsetsAt, sumsAt, bytes; ///< byte offsets, and the length of a record

  /// Whether codes are multiplied as the integers that they mean: no offset then.
  bool codesAreSigned() const { return products == Products::SignedQuads && coding.bits == 8; }
  /// Makes a record at `to` of the K features at `from`.
  void round(Code &c, Value from, Value to) const;

private:
  void roundBlock(Code &c, Value from, Value to, Value number, int64_t count, bool masked) const;
};

/// Rows of `op` as records, in its scratch, after a barrier; where a linear before it has left them there, these.
Value integerRows(Lowering &l, model::LinearOp op);

} // namespace heddle::loops

#endif
