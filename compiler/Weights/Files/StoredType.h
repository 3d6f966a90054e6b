// The element types of safetensors files, and their conversions. Real types
// widen to f32 and integers to i64. Only f64 -> f32 and 64-bit integers -> f32
// round (to nearest even). The 8-bit floats are those of the Open Compute
// Project: E4M3 has no infinity, E5M2 is the upper byte of an f16, E8M0 is a
// power of two.
#ifndef HEDDLE_COMPILER_WEIGHTS_FILES_STOREDTYPE_H
#define HEDDLE_COMPILER_WEIGHTS_FILES_STOREDTYPE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>

namespace heddle {

enum class StoredType : uint8_t { F64, F32, F16, BF16, F8_E4M3, F8_E5M2, F8_E8M0, I64, I32, I16, I8, U8, Bool };

/// "F32" and so on, as the file spells it.
std::optional<StoredType> storedTypeOf(llvm::StringRef word);
llvm::StringRef spelling(StoredType type);
/// Bytes of one element.
unsigned width(StoredType type);
bool isReal(StoredType type);

/// Converts `to.size()` elements of `type`; `from` may have any alignment.
void widenToF32(StoredType type, const uint8_t *from, llvm::MutableArrayRef<float> to);
/// Integers and bool only (see isReal).
void widenToI64(StoredType type, const uint8_t *from, llvm::MutableArrayRef<int64_t> to);

/// Rounds to nearest even; a NaN stays a NaN. toF16 gives infinity from 65520
/// on.
uint16_t toBF16(float value);
uint16_t toF16(float value);

} // namespace heddle

#endif // HEDDLE_COMPILER_WEIGHTS_FILES_STOREDTYPE_H
