//===- CodeNumbers.h - what codes of a matrix mean, as code -----*- C++ -*-===//
//
// The emitted counterpart of GroupNumbers (compiler/Weights/Coded/CodedMatrix.h): scalar or vector, on every target.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_LANGUAGE_CODENUMBERS_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_LANGUAGE_CODENUMBERS_H

#include "compiler/Conversion/Lowering/Language/Code.h"
#include "dialects/Model/IR/Coding.h"

namespace heddle::loops {

/// The bytes, i8, whose indices among `entries` (16 bytes) are `indices`, i32.
Value bytesAt(Code &c, llvm::ArrayRef<int8_t> entries, Value indices);

/// What turns the codes of a group into numbers, f32; null where the format has none.
struct GroupValues {
  Value scale, zero, minimum;

  /// Of a super-group: its group with these sub-scales and sub-minima, f32. The products are exact.
  GroupValues times(Code &c, Value subScale, Value subMinimum) const;
  /// (integer - zero) * scale + minimum of codes, i32, rounded once.
  Value number(Code &c, const CodeFormat &format, Value codes) const;
};

/// A byte of words, i32, as f32: the signed one that is at the top after a shift by `up` bits, i32, and the unsigned
/// one that is at the bottom after a shift by `down` bits.
Value signedByte(Code &c, Value words, Value up);
Value unsignedByte(Code &c, Value words, Value down);

} // namespace heddle::loops

#endif
