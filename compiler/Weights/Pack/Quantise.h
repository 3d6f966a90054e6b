// Rounding an ordinary matrix to 8 or 4 bits while it is packed, without data: for each group of features the scale is
// searched that leaves the least squared error. The same numbers give the same codes on every processor.
#ifndef HEDDLE_COMPILER_WEIGHTS_PACK_QUANTISE_H
#define HEDDLE_COMPILER_WEIGHTS_PACK_QUANTISE_H

#include "compiler/Weights/Coded/CodedMatrix.h"
#include "llvm/ADT/ArrayRef.h"
#include <optional>

namespace heddle {

/// What rounding changed: sums over the numbers of a matrix, of (w - value)^2 and of w^2.
struct CodingError {
  double squared = 0, whole = 0;

  void add(const CodingError &other) {
    squared += other.squared;
    whole += other.whole;
  }
  /// The root of the mean square of the error over that of the numbers; 0 where all numbers are 0.
  double relative() const;
};

/// Rounds rows W[rows, k], row-major, to codes. `form`: bits, group and scale type; no zeros and no order. Adds what
/// that changed to `error`. Returns the index in `rows` of a number that has no code: a NaN, an infinity, or one whose
/// scale is beyond f16; `to` is then unspecified.
std::optional<size_t> quantiseRows(const CodedForm &form, llvm::ArrayRef<float> rows, int64_t k, CodedRows &to,
                                   CodingError &error);

} // namespace heddle

#endif // HEDDLE_COMPILER_WEIGHTS_PACK_QUANTISE_H
