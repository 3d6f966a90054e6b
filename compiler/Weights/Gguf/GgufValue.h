// A value of the metadata of a GGUF file with its kind, and the byte where it stands. Arrays keep the bytes of the file
// and are taken apart when they are asked for, so a value takes no more memory than the file has bytes.
#ifndef HEDDLE_COMPILER_WEIGHTS_GGUF_GGUFVALUE_H
#define HEDDLE_COMPILER_WEIGHTS_GGUF_GGUFVALUE_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heddle {

/// Kinds of values, as files number them.
enum class GgufKind : uint32_t { U8, I8, U16, I16, U32, I32, F32, Bool, Text, Array, U64, I64, F64 };
constexpr uint32_t ggufKinds = 13;

/// Bytes of a value of a fixed size; 0 for texts and arrays.
unsigned widthOf(GgufKind kind);
/// "u32", "text" and so on.
llvm::StringRef wordOf(GgufKind kind);

class GgufValue {
public:
  /// A number, a truth value or a text: `raw` is its bytes, those of a text without its length.
  GgufValue(GgufKind kind, uint64_t byte, std::string raw) : of(kind), at(byte), raw(std::move(raw)) {}
  /// An array of `count` elements, whose bytes `raw` has as the file has them.
  GgufValue(GgufKind element, uint64_t count, uint64_t byte, std::string raw)
      : of(GgufKind::Array), inner(element), count(count), at(byte), raw(std::move(raw)) {}

  GgufKind kind() const { return of; }
  /// Where it stands in its file.
  uint64_t byte() const { return at; }

  /// A whole number that fits; none for truth values, floats, texts and arrays.
  std::optional<int64_t> integer() const;
  /// Any number. Of an f32: the double nearest to the shortest decimal that reads back as that f32 (0.00001, not
  /// 0.00000999999974), so that numbers are those of the original config.json. May be infinite or no number.
  std::optional<double> number() const;
  std::optional<bool> boolean() const;
  /// The bytes as they stand, which need not be UTF-8.
  std::optional<llvm::StringRef> text() const;

  bool isArray() const { return of == GgufKind::Array; }
  /// Of an array; arrays of arrays have no elements that can be asked for.
  GgufKind element() const { return inner; }
  uint64_t size() const { return count; }
  std::optional<std::vector<int64_t>> integers() const;
  std::optional<std::vector<double>> numbers() const;
  std::optional<std::vector<bool>> booleans() const;
  /// They live as long as the value.
  std::optional<std::vector<llvm::StringRef>> texts() const;

  /// For messages: "a text", "the number 7", "true", "an array of 5 u32".
  std::string what() const;

private:
  GgufKind of, inner = GgufKind::U8;
  uint64_t count = 0, at = 0;
  std::string raw;
};

} // namespace heddle

#endif // HEDDLE_COMPILER_WEIGHTS_GGUF_GGUFVALUE_H
