// The search for scales against what it promises: what codes can hold exactly stays exact, every number gets a nearest
// code, the error is that of the codes, and it is not above what the rule of GGUF's Q4_0 leaves.
#include "compiler/Weights/Pack/Quantise.h"
#include "compiler/Weights/Files/StoredType.h"
#include "gtest/gtest.h"
#include <cmath>
#include <limits>
#include <random>

using namespace heddle;

namespace {

CodedForm formOf(unsigned bits, int64_t group, ScaleType scale = ScaleType::F16) {
  CodedForm form;
  form.bits = bits;
  form.group = group;
  form.scale = scale;
  return form;
}

float half(float x) {
  uint16_t bits = toF16(x);
  float wide;
  widenToF32(StoredType::F16, reinterpret_cast<const uint8_t *>(&bits), llvm::MutableArrayRef(wide));
  return wide;
}

/// The squared error of a group whose scale makes its largest number the code 0, as Q4_0 has it.
double errorOfLargest(llvm::ArrayRef<float> group, const CodedForm &form) {
  float top = 0, most = float(form.offset());
  for (float x : group)
    top = std::fabs(x) > std::fabs(top) ? x : top;
  float scale = half(top / -most);
  double error = 0;
  for (float x : group) {
    float code = scale == 0 ? 0 : std::min(std::max(std::nearbyint(x / scale), -most), most - 1);
    error += std::pow(double(x) - double(code * scale), 2);
  }
  return error;
}

TEST(Quantise, CodesOfEveryShape) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  for (unsigned bits : {4u, 8u})
    for (int64_t k : {1, 7, 32, 33, 64, 129, 300})
      for (int64_t group : {int64_t(32), int64_t(64), int64_t(128), k}) {
        CodedForm form = formOf(bits, group);
        std::vector<float> rows(size_t(3 * k));
        for (float &x : rows)
          x = normal(random) * 0.05f;
        CodedRows coded;
        CodingError error;
        ASSERT_EQ(quantiseRows(form, rows, k, coded, error), std::nullopt);
        ASSERT_EQ(coded.codes.size(), rows.size());
        ASSERT_EQ(coded.scales.size(), size_t(3 * form.groups(k)));
        EXPECT_TRUE(coded.zeros.empty());
        double squared = 0, whole = 0, bound = 0;
        for (int64_t row = 0; row < 3; ++row)
          for (int64_t i = 0; i < k; ++i) {
            float scale = coded.scales[size_t(row * form.groups(k) + i / group)], x = rows[size_t(row * k + i)];
            uint8_t code = coded.codes[size_t(row * k + i)];
            EXPECT_EQ(half(scale), scale);
            EXPECT_LT(code, 1u << bits);
            double off = std::fabs(double(x) - double((GroupNumbers{form, scale}.value(code))));
            for (int other : {code - 1, code + 1})
              if (other >= 0 && other < 1 << bits)
                EXPECT_LE(off, std::fabs(double(x) - double((GroupNumbers{form, scale}.value(uint8_t(other))))) *
                                   (1 + 1e-5));
            squared += off * off;
            whole += double(x) * double(x);
            if (i % group == 0)
              bound +=
                  errorOfLargest(llvm::ArrayRef(rows).slice(size_t(row * k + i), size_t(std::min(group, k - i))), form);
          }
        EXPECT_NEAR(error.squared, squared, 1e-9 * whole);
        EXPECT_NEAR(error.whole, whole, 1e-9 * whole);
        EXPECT_LE(squared, bound * 1.0001 + 1e-12 * whole)
            << bits << " bits, " << k << " features in groups of " << group;
      }
}

TEST(Quantise, SearchGainsOverTheLargest) {
  std::mt19937 random(11);
  std::normal_distribution<float> normal;
  std::vector<float> rows(64 * 256);
  for (float &x : rows)
    x = normal(random);
  CodedRows coded;
  CodingError error;
  CodedForm form = formOf(4, 32);
  ASSERT_EQ(quantiseRows(form, rows, 256, coded, error), std::nullopt);
  double largest = 0;
  for (size_t i = 0; i < rows.size(); i += 32)
    largest += errorOfLargest(llvm::ArrayRef(rows).slice(i, 32), form);
  EXPECT_LT(error.squared, 0.9 * largest);
  EXPECT_NEAR(error.relative(), std::sqrt(error.squared / error.whole), 1e-12);
}

TEST(Quantise, WhatCodesHoldStaysExact) {
  for (unsigned bits : {4u, 8u}) {
    CodedForm form = formOf(bits, 32);
    std::vector<float> rows;
    for (int i = 0; i < 96; ++i)
      rows.push_back(float((i * 5) % (1 << bits) - (1 << (bits - 1))) * 0.25f);
    rows[0] = rows[32] = rows[64] = -float(1 << (bits - 1)) * 0.25f; // all codes are in use
    CodedRows coded;
    CodingError error;
    ASSERT_EQ(quantiseRows(form, rows, 96, coded, error), std::nullopt);
    EXPECT_EQ(error.squared, 0);
    for (size_t i = 0; i < rows.size(); ++i)
      EXPECT_EQ((GroupNumbers{form, coded.scales[i / 32]}.value(coded.codes[i])), rows[i]);
  }
}

TEST(Quantise, ZerosAndTheVerySmall) {
  for (float number : {0.0f, 1e-9f, -3e-42f}) {
    std::vector<float> rows(40, number);
    CodedRows coded;
    CodingError error;
    ASSERT_EQ(quantiseRows(formOf(4, 32), rows, 40, coded, error), std::nullopt);
    for (uint8_t code : coded.codes)
      EXPECT_EQ(code, 8);
    EXPECT_EQ(coded.scales, std::vector<float>(2, 0.0f));
    EXPECT_EQ(error.relative(), number == 0 ? 0 : 1);
  }
  // With scales of f32 they have codes.
  std::vector<float> rows(40, 1e-9f);
  CodedRows coded;
  CodingError error;
  ASSERT_EQ(quantiseRows(formOf(8, 32, ScaleType::F32), rows, 40, coded, error), std::nullopt);
  EXPECT_LT(error.relative(), 1e-5);
}

TEST(Quantise, NumbersWithoutACode) {
  for (float number : {std::numeric_limits<float>::quiet_NaN(), INFINITY, -INFINITY, 1e6f * 9, -3e38f}) {
    std::vector<float> rows(2 * 40, 0.5f);
    rows[77] = number;
    CodedRows coded;
    CodingError error;
    EXPECT_EQ(quantiseRows(formOf(4, 32), rows, 40, coded, error), std::optional<size_t>(77)) << number;
  }
}

/// The same group gives the same codes wherever it is and whatever is beside it.
TEST(Quantise, AGroupDependsOnItselfAlone) {
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  std::vector<float> rows(2 * 96);
  for (float &x : rows)
    x = normal(random);
  std::copy(rows.begin(), rows.begin() + 32, rows.begin() + 96 + 64);
  CodedRows coded;
  CodingError error;
  ASSERT_EQ(quantiseRows(formOf(4, 32), rows, 96, coded, error), std::nullopt);
  EXPECT_EQ(coded.scales[0], coded.scales[5]);
  EXPECT_TRUE(std::equal(coded.codes.begin(), coded.codes.begin() + 32, coded.codes.begin() + 160));
}

} // namespace
