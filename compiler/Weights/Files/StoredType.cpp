// Conversions work on bits, so they are the same for every compiler and every
// NaN, and elements may have any alignment.
#include "compiler/Weights/Files/StoredType.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/bit.h"
#include <cassert>
#include <cstring>

namespace heddle {

std::optional<StoredType> storedTypeOf(llvm::StringRef word) {
  return llvm::StringSwitch<std::optional<StoredType>>(word)
      .Case("F64", StoredType::F64)
      .Case("F32", StoredType::F32)
      .Case("F16", StoredType::F16)
      .Case("BF16", StoredType::BF16)
      .Case("F8_E4M3", StoredType::F8_E4M3)
      .Case("F8_E5M2", StoredType::F8_E5M2)
      .Case("F8_E8M0", StoredType::F8_E8M0)
      .Case("I64", StoredType::I64)
      .Case("I32", StoredType::I32)
      .Case("I16", StoredType::I16)
      .Case("I8", StoredType::I8)
      .Case("U8", StoredType::U8)
      .Case("BOOL", StoredType::Bool)
      .Default(std::nullopt);
}

llvm::StringRef spelling(StoredType type) {
  static constexpr const char *words[] = {"F64", "F32", "F16", "BF16", "F8_E4M3", "F8_E5M2", "F8_E8M0",
                                          "I64", "I32", "I16", "I8",   "U8",      "BOOL"};
  return words[unsigned(type)];
}

unsigned width(StoredType type) {
  static constexpr unsigned char widths[] = {8, 4, 2, 2, 1, 1, 1, 8, 4, 2, 1, 1, 1};
  return widths[unsigned(type)];
}

bool isReal(StoredType type) { return type <= StoredType::F8_E8M0; }

template <typename T> static T load(const uint8_t *from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

static float fromF16(uint16_t half) {
  uint32_t sign = uint32_t(half & 0x8000) << 16;
  uint32_t exponent = (half >> 10) & 31, fraction = half & 0x3ff;
  if (exponent == 31)
    return llvm::bit_cast<float>(sign | 0x7f800000u | (fraction << 13));
  if (exponent == 0) {
    // A subnormal half is a normal float: fraction * 2^-24, exact.
    float magnitude = float(fraction) * 0x1p-24f;
    return llvm::bit_cast<float>(sign | llvm::bit_cast<uint32_t>(magnitude));
  }
  return llvm::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
}

static float fromE4M3(uint8_t bits) {
  uint32_t sign = uint32_t(bits & 0x80) << 24, exponent = (bits >> 3) & 15, fraction = bits & 7;
  if (exponent == 15 && fraction == 7)
    return llvm::bit_cast<float>(sign | 0x7fc00000u);
  if (exponent == 0) {
    float magnitude = float(fraction) * 0x1p-9f;
    return llvm::bit_cast<float>(sign | llvm::bit_cast<uint32_t>(magnitude));
  }
  return llvm::bit_cast<float>(sign | ((exponent + 120) << 23) | (fraction << 20));
}

static float fromE5M2(uint8_t bits) { return fromF16(uint16_t(bits << 8)); }

static float fromE8M0(uint8_t exponent) {
  // 2^-127 is a subnormal float, and 255 is NaN.
  return llvm::bit_cast<float>(exponent == 0 ? 0x00400000u : exponent == 255 ? 0x7fc00000u : uint32_t(exponent) << 23);
}

static float fromBF16(uint16_t value) { return llvm::bit_cast<float>(uint32_t(value) << 16); }

uint16_t toBF16(float value) {
  uint32_t bits = llvm::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return uint16_t((bits >> 16) | 0x40);
  return uint16_t((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

uint16_t toF16(float value) {
  uint32_t bits = llvm::bit_cast<uint32_t>(value);
  uint16_t sign = uint16_t((bits >> 16) & 0x8000);
  bits &= 0x7fffffff;
  if (bits > 0x7f800000)
    return uint16_t(sign | 0x7e00 | ((bits >> 13) & 0x3ff));
  // 65520 is the first value that rounds to 65536, which is infinity.
  if (bits >= 0x477ff000)
    return uint16_t(sign | 0x7c00);
  if (bits < 0x38800000) {
    // Adding 0.5 makes the addition round off exactly the bits that a subnormal
    // half does not have.
    float shifted = llvm::bit_cast<float>(bits) + 0.5f;
    return uint16_t(sign | (llvm::bit_cast<uint32_t>(shifted) - 0x3f000000u));
  }
  bits += 0xc8000fffu + ((bits >> 13) & 1);
  return uint16_t(sign | (bits >> 13));
}

template <typename T, typename To> static void convert(const uint8_t *from, llvm::MutableArrayRef<To> to) {
  for (size_t i = 0; i < to.size(); ++i)
    to[i] = static_cast<To>(load<T>(from + i * sizeof(T)));
}

/// Converts integers and bool.
template <typename To> static void convertWhole(StoredType type, const uint8_t *from, llvm::MutableArrayRef<To> to) {
  switch (type) {
  case StoredType::I64: return convert<int64_t>(from, to);
  case StoredType::I32: return convert<int32_t>(from, to);
  case StoredType::I16: return convert<int16_t>(from, to);
  case StoredType::I8: return convert<int8_t>(from, to);
  case StoredType::U8: return convert<uint8_t>(from, to);
  case StoredType::Bool:
    for (size_t i = 0; i < to.size(); ++i)
      to[i] = from[i] ? 1 : 0;
    return;
  case StoredType::F64:
  case StoredType::F32:
  case StoredType::F16:
  case StoredType::BF16:
  case StoredType::F8_E4M3:
  case StoredType::F8_E5M2:
  case StoredType::F8_E8M0: assert(false && "real tensors do not become integers");
  }
}

void widenToF32(StoredType type, const uint8_t *from, llvm::MutableArrayRef<float> to) {
  switch (type) {
  case StoredType::F64: {
    for (size_t i = 0; i < to.size(); ++i)
      to[i] = static_cast<float>(load<double>(from + 8 * i));
    return;
  }
  case StoredType::F32:
    if (!to.empty())
      std::memcpy(to.data(), from, to.size() * 4);
    return;
  case StoredType::F16:
    for (size_t i = 0; i < to.size(); ++i)
      to[i] = fromF16(load<uint16_t>(from + 2 * i));
    return;
  case StoredType::BF16:
    for (size_t i = 0; i < to.size(); ++i)
      to[i] = fromBF16(load<uint16_t>(from + 2 * i));
    return;
  case StoredType::F8_E4M3:
    for (size_t i = 0; i < to.size(); ++i)
      to[i] = fromE4M3(from[i]);
    return;
  case StoredType::F8_E5M2:
    for (size_t i = 0; i < to.size(); ++i)
      to[i] = fromE5M2(from[i]);
    return;
  case StoredType::F8_E8M0:
    for (size_t i = 0; i < to.size(); ++i)
      to[i] = fromE8M0(from[i]);
    return;
  default: return convertWhole(type, from, to);
  }
}

void widenToI64(StoredType type, const uint8_t *from, llvm::MutableArrayRef<int64_t> to) {
  convertWhole(type, from, to);
}

} // namespace heddle
