//===- IntegerRows.h - rows rounded to 8 bits -------------------*- C++ -*-===//
//
// The left side of a linear whose weight is coded and whose products are integers (ModelOps.td, linear). A row is
// rounded once, before panels pass over it, and becomes one record:
//
//   codes    a signed byte a feature, with zeros behind K; i16 for `Pairs` of 8 bits, four of them as 0, 2, 1, 3
//   scales   f32 for each block of 128 or 32 features (Arithmetic::rows)
//   offsets  i32 a unit: -offset * sum of its codes, by which the bytes of the weight become what they stand for
//   sums     f32 a unit: -sum of its codes, which a zero multiplies, or the sum, which a minimum does
//   pairs    i16 a unit: the sum of its codes, which a sub-minimum multiplies; of each four units 0, 2, 1, 3
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_CPU_LINEAR_INTEGERROWS_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_CPU_LINEAR_INTEGERROWS_H

#include "compiler/Conversion/Lowering/CPU/Linear/ByteProducts.h"
#include "compiler/Conversion/Lowering/Frame/Lowering.h"
#include "dialects/Model/IR/Arithmetic.h"

namespace heddle::loops {

struct IntegerRow {
  IntegerRow(const model::Arithmetic &arithmetic, int64_t k, Products products);
  Coding coding;
  Products products;
  int64_t k, features;                                 ///< features: with what fills the last group up
  int64_t block;                                       ///< features that share a scale of the row
  int64_t unit, units, scales;                         ///< features of a unit; units and scales of a row
  int64_t codeBytes;                                   ///< of one code
  int64_t scalesAt, offsetsAt, sumsAt, pairsAt, bytes; ///< byte offsets, and the length of a record

  bool hasSums() const { return coding.zeros || (coding.minima && !coding.super); }
  bool hasPairs() const { return coding.minima && coding.super; }
  /// Whether integer sums begin with their offsets, else with 0.
  bool hasOffsets() const { return offsetOfBytes(coding, products) != 0; }
  /// The place of unit `u` among its four pairs.
  static int64_t pairOf(int64_t u) { return u % 2 * 2 + u / 2; }
  /// Makes a record at `to` of the K features at `from`.
  void round(Code &c, Value from, Value to) const;

private:
  void roundBlock(Code &c, Value from, Value to, Value number, int64_t count, bool masked) const;
};

/// Rows of `op` as records, in its scratch, after a barrier; where a linear before it has left them there, these.
Value integerRows(Lowering &l, model::LinearOp op);

} // namespace heddle::loops

#endif
