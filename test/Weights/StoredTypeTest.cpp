// Widening is exact: every f16 and bf16 pattern against arithmetic on its fields, and
// rounding back is the nearest, ties to even, for every pattern and its neighbours.
#include "compiler/Weights/Files/StoredType.h"
#include "runtime/Base/TensorHeader.h"
#include "test/Weights/Support.h"
#include "llvm/ADT/bit.h"
#include <cmath>
#include <limits>

using namespace heddle;
using namespace heddle::test;

namespace {

float widen(StoredType type, uint16_t bits) {
  float result;
  widenToF32(type, reinterpret_cast<const uint8_t *>(&bits), result);
  return result;
}

double halfByFields(uint16_t bits) {
  int exponent = (bits >> 10) & 31, fraction = bits & 1023;
  double magnitude = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

TEST(StoredType, EveryHalf) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    float value = widen(StoredType::F16, uint16_t(bits));
    if ((bits & 0x7c00) != 0x7c00) {
      ASSERT_EQ(double(value), halfByFields(uint16_t(bits))) << bits;
      ASSERT_EQ(std::signbit(value), bool(bits & 0x8000)) << bits;
    } else if (bits & 0x3ff) {
      ASSERT_TRUE(std::isnan(value)) << bits;
    } else {
      ASSERT_TRUE(std::isinf(value)) << bits;
    }
    if (!std::isnan(value)) {
      ASSERT_EQ(toF16(value), bits);
    } else {
      ASSERT_TRUE(std::isnan(widen(StoredType::F16, toF16(value))));
    }
  }
}

TEST(StoredType, EveryBFloat) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    float value = widen(StoredType::BF16, uint16_t(bits));
    ASSERT_EQ(llvm::bit_cast<uint32_t>(value), bits << 16);
    if (!std::isnan(value)) {
      ASSERT_EQ(toBF16(value), bits);
    } else {
      ASSERT_TRUE(std::isnan(widen(StoredType::BF16, toBF16(value))));
    }
  }
}

float widenByte(StoredType type, uint8_t bits) {
  float result;
  widenToF32(type, &bits, result);
  return result;
}

TEST(StoredType, EveryEightBitFloat) {
  for (unsigned bits = 0; bits < 256; ++bits) {
    int exponent = (bits >> 3) & 15, fraction = bits & 7;
    float e4m3 = widenByte(StoredType::F8_E4M3, uint8_t(bits));
    if ((bits & 127) == 127)
      EXPECT_TRUE(std::isnan(e4m3)) << bits;
    else
      EXPECT_EQ(double(e4m3),
                std::ldexp(exponent ? 8 + fraction : fraction, std::max(exponent, 1) - 10) * (bits & 128 ? -1 : 1))
          << bits;
    EXPECT_EQ(std::signbit(e4m3), bits >= 128) << bits;

    exponent = (bits >> 2) & 31, fraction = bits & 3;
    float e5m2 = widenByte(StoredType::F8_E5M2, uint8_t(bits));
    if (exponent == 31 && fraction)
      EXPECT_TRUE(std::isnan(e5m2)) << bits;
    else if (exponent == 31)
      EXPECT_TRUE(std::isinf(e5m2)) << bits;
    else
      EXPECT_EQ(double(e5m2),
                std::ldexp(exponent ? 4 + fraction : fraction, std::max(exponent, 1) - 17) * (bits & 128 ? -1 : 1))
          << bits;
    EXPECT_EQ(std::signbit(e5m2), bits >= 128) << bits;

    float e8m0 = widenByte(StoredType::F8_E8M0, uint8_t(bits));
    if (bits == 255)
      EXPECT_TRUE(std::isnan(e8m0));
    else
      EXPECT_EQ(double(e8m0), std::ldexp(1.0, int(bits) - 127)) << bits;
  }
  EXPECT_EQ(widenByte(StoredType::F8_E4M3, 0x7e), 448.0f);
}

/// Between two neighbouring patterns a float goes to the nearer one, the middle to the
/// even one.
void checkRounding(StoredType type, uint16_t (*narrow)(float), uint16_t last) {
  for (uint32_t bits = 0; bits < last; ++bits) {
    float low = widen(type, uint16_t(bits)), high = widen(type, uint16_t(bits + 1));
    float middle = float((double(low) + double(high)) / 2);
    ASSERT_EQ(narrow(middle), bits & 1 ? bits + 1 : bits) << bits;
    ASSERT_EQ(narrow(std::nextafter(middle, 0.0f)), bits) << bits;
    ASSERT_EQ(narrow(std::nextafter(middle, high)), bits + 1) << bits;
    ASSERT_EQ(narrow(-middle), (bits & 1 ? bits + 1 : bits) | 0x8000) << bits;
  }
}

TEST(StoredType, RoundsToNearestEven) {
  checkRounding(StoredType::F16, toF16, 0x7bff);
  checkRounding(StoredType::BF16, toBF16, 0x7f7f);
  EXPECT_EQ(toF16(65519.996f), 0x7bff);
  EXPECT_EQ(toF16(65520.0f), 0x7c00);
  EXPECT_EQ(toF16(1e30f), 0x7c00);
  EXPECT_EQ(toBF16(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_EQ(toBF16(-INFINITY), 0xff80);
}

template <typename T> void checkAtAnyAlignment(StoredType type, const std::vector<T> &values) {
  std::string bytes = "x" + bytesOf(values);
  const auto *from = reinterpret_cast<const uint8_t *>(bytes.data()) + 1;
  std::vector<float> reals(values.size());
  widenToF32(type, from, reals);
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ(reals[i], float(values[i]));
  if (isReal(type))
    return;
  std::vector<int64_t> integers(values.size());
  widenToI64(type, from, integers);
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ(integers[i], int64_t(values[i]));
}

template <typename T> std::vector<T> edges() {
  return {std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max(), T(0), T(1), T(-1), T(77)};
}

TEST(StoredType, OthersAtAnyAlignment) {
  checkAtAnyAlignment(StoredType::F64, std::vector<double>{1e300, -0.0, 1 + 1e-9, 0.1});
  checkAtAnyAlignment(StoredType::F32, edges<float>());
  checkAtAnyAlignment(StoredType::I64, edges<int64_t>());
  checkAtAnyAlignment(StoredType::I32, edges<int32_t>());
  checkAtAnyAlignment(StoredType::I16, edges<int16_t>());
  checkAtAnyAlignment(StoredType::I8, edges<int8_t>());
  checkAtAnyAlignment(StoredType::U8, edges<uint8_t>());
  std::vector<uint8_t> bools{0, 1, 2, 255};
  std::vector<int64_t> integers(4);
  widenToI64(StoredType::Bool, bools.data(), integers);
  EXPECT_EQ(integers, (std::vector<int64_t>{0, 1, 1, 1}));
}

TEST(StoredType, WordsAndWidths) {
  for (StoredType type : {StoredType::F64, StoredType::F32, StoredType::F16, StoredType::BF16, StoredType::F8_E4M3,
                          StoredType::F8_E5M2, StoredType::F8_E8M0, StoredType::I64, StoredType::I32, StoredType::I16,
                          StoredType::I8, StoredType::U8, StoredType::Bool})
    EXPECT_EQ(storedTypeOf(spelling(type)), type);
  EXPECT_EQ(storedTypeOf("F8_E4M3FNUZ"), std::nullopt);
  EXPECT_EQ(base::bitsOfType("F8_E4M3FNUZ"), 8u);
  EXPECT_EQ(base::bitsOfType("Q31"), std::nullopt);
}

} // namespace
