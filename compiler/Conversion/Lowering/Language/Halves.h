//===- Halves.h - numbers stored in 16 bits ---------------------*- C++ -*-===//
//
// bf16 is the upper half of an f32 and is made by integer arithmetic (Bf16.cpp): the same bits on
// every processor. f16 is the business of the processor's own conversions (f16c), which round as
// IEEE 754 says; what is beyond 65504 becomes infinite. Both are alike: two neighbours along the
// axis that is summed share a word, the even one in the lower half. Scalar or vector.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_LANGUAGE_HALVES_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_LANGUAGE_HALVES_H

#include "compiler/Conversion/Lowering/Language/Code.h"
#include "dialects/Model/IR/Arithmetic.h"

namespace heddle::loops {

using model::Stored;

//===-- bf16 (Bf16.cpp) -----------------------------------------------------------===//

/// i32 whose upper half is x rounded to bf16 (nearest, ties to even; a NaN stays one), lower half 0.
Value bf16Word(Code &c, Value x);
Value toBf16(Code &c, Value x);   ///< i16
Value fromBf16(Code &c, Value x); ///< i16 -> f32
/// i32: two numbers, `even` in the lower half; and both of them widened.
Value bf16Pair(Code &c, Value even, Value odd);
std::pair<Value, Value> fromBf16Pair(Code &c, Value pairs);
/// sum + even * even + odd * odd in every lane of two vectors of pairs (vdpbf16ps, 16 lanes).
Value dot(Code &c, Value sum, Value x, Value y);

//===-- either (Halves.cpp) -------------------------------------------------------===//

/// f32 -> i16, rounded to the nearest bf16 or f16, ties to even; a NaN stays one.
Value halfOf(Code &c, Stored stored, Value x);
/// i16 -> f32.
Value widened(Code &c, Stored stored, Value x);
/// i32: two numbers, `even` in the lower half; and both of them widened.
Value pairWord(Code &c, Stored stored, Value even, Value odd);
std::pair<Value, Value> widenedPair(Code &c, Stored stored, Value pairs);
/// Scales or zeros of codes that are stored in 16 bits (i16, scalar or vector) as f32; they are finite numbers.
Value widenedScale(Code &c, PackedType type, Value half);

} // namespace heddle::loops

#endif
