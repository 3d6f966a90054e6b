//===- MatrixTiles.h - matrix registers -------------------------*- C++ -*-===//
//
// AMX: eight registers of up to 16 rows of 64 bytes, and products of two of them that are added to a third one. What
// a register is, is said once by a configuration, which every thread loads before it uses one (`configure`) and gives
// back (`release`), so that the system does not save them for nothing.
//
//   pairs   sums[16, 16] f32 += rows[16, 16 pairs of bf16] * weights[16 pairs, 16]: in each element the products of
//           the even halves are summed with fma, k ascending and from 0, those of the odd ones alike, then both are
//           added and their sum is added to the element (Intel's description of TDPBF16PS). Numbers below 2^-126 are 0
//   bytes   sums[16, 16] i32 += rows[16, 64 signed bytes] * weights[64 unsigned bytes, 16], exactly
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_CPU_LINEAR_MATRIXTILES_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_CPU_LINEAR_MATRIXTILES_H

#include "compiler/Conversion/Lowering/Language/Code.h"

namespace heddle::loops {

struct MatrixTiles {
  static constexpr int64_t rows = 16, bytes = 64, results = 16;
  static constexpr int64_t words = bytes / 4; ///< of a row
  static constexpr int64_t size = rows * bytes;
  /// Which register is what: sums are 0 to 3, the left side 4 and 5, weights 6 and 7.
  static constexpr int64_t sums = 4, firstLeft = 4, firstWeights = 6;

  /// Whether the processor that `op` is made for has these registers, and products of `what` ("amx-bf16", "amx-int8").
  static bool has(mlir::Operation *op, llvm::StringRef what);

  /// Left sides and sums of so many rows (index, 1 to 16); `area`: 64 bytes of memory of this thread.
  static void configure(Code &c, Value area, Value leftRows);
  static void release(Code &c);
  static void zero(Code &c, int64_t tile);
  /// Rows that are `pitch` bytes apart.
  static void load(Code &c, int64_t tile, Value address, int64_t pitch);
  static void store(Code &c, int64_t tile, Value address, int64_t pitch);
  static void multiplyPairs(Code &c, int64_t sums, int64_t left, int64_t weights);
  static void multiplyBytes(Code &c, int64_t sums, int64_t left, int64_t weights);
};

} // namespace heddle::loops

#endif
