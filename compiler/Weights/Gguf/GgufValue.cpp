// Bytes to numbers. Every read is inside of `raw`, whose size the reader of the header has checked.
#include "compiler/Weights/Gguf/GgufValue.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"
#include <charconv>
#include <cmath>
#include <cstring>

namespace heddle {

static_assert(llvm::endianness::native == llvm::endianness::little, "GGUF files are little endian");

static constexpr llvm::StringLiteral words[ggufKinds] = {"u8",   "i8",   "u16",   "i16", "u32", "i32", "f32",
                                                         "bool", "text", "array", "u64", "i64", "f64"};

unsigned widthOf(GgufKind kind) {
  static constexpr uint8_t widths[ggufKinds] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  return widths[uint32_t(kind)];
}

llvm::StringRef wordOf(GgufKind kind) { return words[uint32_t(kind)]; }

static uint64_t bitsAt(const char *from, unsigned width) {
  uint64_t bits = 0;
  std::memcpy(&bits, from, width);
  return bits;
}

static std::optional<int64_t> integerAt(GgufKind kind, const char *from) {
  unsigned width = widthOf(kind);
  switch (kind) {
  case GgufKind::U8:
  case GgufKind::U16:
  case GgufKind::U32:
  case GgufKind::U64: {
    uint64_t bits = bitsAt(from, width);
    return bits <= uint64_t(INT64_MAX) ? std::optional<int64_t>(int64_t(bits)) : std::nullopt;
  }
  case GgufKind::I8:
  case GgufKind::I16:
  case GgufKind::I32:
  case GgufKind::I64: return llvm::SignExtend64(bitsAt(from, width), width * 8);
  default: return std::nullopt;
  }
}

/// The double that the shortest decimal of an f32 means.
static double shortest(float value) {
  char digits[64];
  auto [end, error] = std::to_chars(digits, digits + sizeof digits, value);
  double read = value;
  if (std::isfinite(value) && error == std::errc())
    std::from_chars(digits, end, read);
  return read;
}

static std::optional<double> numberAt(GgufKind kind, const char *from) {
  switch (kind) {
  case GgufKind::F32: return shortest(llvm::bit_cast<float>(uint32_t(bitsAt(from, 4))));
  case GgufKind::F64: return llvm::bit_cast<double>(bitsAt(from, 8));
  case GgufKind::U64: return double(bitsAt(from, 8));
  default:
    if (std::optional<int64_t> whole = integerAt(kind, from))
      return double(*whole);
    return std::nullopt;
  }
}

std::optional<int64_t> GgufValue::integer() const { return integerAt(of, raw.data()); }
std::optional<double> GgufValue::number() const { return numberAt(of, raw.data()); }

std::optional<bool> GgufValue::boolean() const {
  return of == GgufKind::Bool ? std::optional<bool>(raw[0] != 0) : std::nullopt;
}

std::optional<llvm::StringRef> GgufValue::text() const {
  return of == GgufKind::Text ? std::optional<llvm::StringRef>(raw) : std::nullopt;
}

/// Every element of an array by `read`, or none if one of them is of another kind or does not fit.
template <typename T, typename Read>
static std::optional<std::vector<T>> elementsOf(GgufKind element, uint64_t count, llvm::StringRef raw, Read read) {
  unsigned width = widthOf(element);
  if (!width)
    return std::nullopt;
  std::vector<T> all;
  all.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    std::optional<T> one = read(element, raw.data() + i * width);
    if (!one)
      return std::nullopt;
    all.push_back(*one);
  }
  return all;
}

std::optional<std::vector<int64_t>> GgufValue::integers() const {
  return isArray() ? elementsOf<int64_t>(inner, count, raw, integerAt) : std::nullopt;
}

std::optional<std::vector<double>> GgufValue::numbers() const {
  return isArray() ? elementsOf<double>(inner, count, raw, numberAt) : std::nullopt;
}

std::optional<std::vector<bool>> GgufValue::booleans() const {
  if (!isArray())
    return std::nullopt;
  return elementsOf<bool>(inner, count, raw, [](GgufKind kind, const char *from) {
    return kind == GgufKind::Bool ? std::optional<bool>(*from != 0) : std::nullopt;
  });
}

std::optional<std::vector<llvm::StringRef>> GgufValue::texts() const {
  if (!isArray() || inner != GgufKind::Text)
    return std::nullopt;
  std::vector<llvm::StringRef> all;
  all.reserve(count);
  llvm::StringRef rest = raw;
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t length = bitsAt(rest.data(), 8);
    all.push_back(rest.substr(8, length));
    rest = rest.drop_front(8 + length);
  }
  return all;
}

std::string GgufValue::what() const {
  if (isArray())
    return "an array of " + std::to_string(count) + " " + wordOf(inner).str();
  if (of == GgufKind::Text)
    return "a text";
  if (of == GgufKind::Bool)
    return raw[0] ? "true" : "false";
  if (std::optional<int64_t> whole = integer())
    return "the number " + std::to_string(*whole);
  char digits[64];
  auto [end, error] = std::to_chars(digits, digits + sizeof digits, *number());
  return "the number " + std::string(digits, end);
}

} // namespace heddle
