//===- Reals.h - the reals of a softmax -------------------------*- C++ -*-===//
//
// Arithmetic of softmax, on scalars or vectors. Scores are in units of log2, so that a weight is 2^(s - m), m the
// maximum.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_LANGUAGE_REALS_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_LANGUAGE_REALS_H

#include "compiler/Conversion/Lowering/Language/Code.h"

namespace heddle::loops {

constexpr double kLog2E = 1.44269504088896340736;
constexpr double kLowest = -3.4028234663852886e38;

/// An exponent x <= 0 as n + rest, n an integer: `shifted` is 1.5*2^23 + n, with n in its low bits. n is at least -127.
struct Exponent {
  Value rest, shifted;
};
Exponent splitExponent(Code &c, Value x);
/// 2^x of a split exponent; -inf gives exactly 0: the bits of 1.0 and of -127 cancel.
Value exp2(Code &c, Exponent x);
inline Value exp2(Code &c, Value x) { return exp2(c, splitExponent(c, x)); }

/// The maximum, ignoring a NaN in `x`: one instruction. A NaN still appears in its weight.
inline Value larger(Code &c, Value x, Value y) { return c.select(c.lessf(y, x), x, y); }
Value largestLane(Code &c, Value x);

/// cap * tanh(s / cap) by a rational approximation (13/6, within a few ulp), a third of the instructions of Code's
/// tanh. A NaN stays a NaN.
Value softcap(Code &c, Value score, double cap);

} // namespace heddle::loops

#endif
