//===- ShortestRealTest.cpp - shortestReal() against std::to_chars --------===//
#include "runtime/Template/ShortestReal.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <random>

namespace heddle {

static std::string standard(double value) {
  char digits[64];
  return std::string(digits, std::to_chars(digits, digits + sizeof digits, value, std::chars_format::scientific).ptr);
}

static void same(double value) { ASSERT_EQ(rt::chat::shortestReal(value), standard(value)); }

// 2^-44 among them, where the closest 16 digits are below and read back as another number.
TEST(ShortestReal, PowersOfTwoAndTen) {
  for (int power = -1074; power < 1024; ++power) {
    double value = std::ldexp(1.0, power);
    for (double one : {value, -value, std::nextafter(value, 0.0), std::nextafter(value, INFINITY)})
      if (std::isfinite(one))
        same(one);
  }
  for (int power = -320; power < 309; ++power)
    same(std::pow(10.0, power));
}

TEST(ShortestReal, OfAnyBits) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20000; ++i) {
    uint64_t bits = random();
    double value;
    memcpy(&value, &bits, sizeof value);
    if (std::isfinite(value))
      same(value);
    same(double(int64_t(random() >> 20)) / 1000);
  }
}

} // namespace heddle
