//===- HalvesTest.cpp - linears and tables stored in 16 bits --------------===//
//
// The interpreter rounds what the kernels round, so they differ by f32 sums alone. What the
// rounding itself costs is held against numbers that were never rounded: a bf16 has 8 bits, so a
// factor is off by 2^-8 at most; over evenly spread numbers that makes sums wrong by 1.5e-3 (root
// of the mean square), or by 2.1e-3 where both factors are rounded. An f16 has 11 bits: an eighth.
//
//===----------------------------------------------------------------------===//

#include "test/Numerics/KernelCases.h"
#include "test/Numerics/Kernels.h"
#include <gtest/gtest.h>

using namespace heddle;
using namespace heddle::test;

/// Whether this processor multiplies so.
static bool has(const std::string &math) {
#if defined(__x86_64__)
  return math == "dots" ? __builtin_cpu_supports("avx512bf16") : math == "f16" ? __builtin_cpu_supports("f16c") : true;
#else
  return math != "dots";
#endif
}

static std::string number(int64_t n) { return std::to_string(n); }

/// A linear [B, K] -> [B, N] with bias, as text.
static std::string linear(int64_t k, int64_t n, bool inOut) {
  std::string K = number(k), N = number(n), w = inOut ? "f[" + K + ", " + N + "]" : "f[" + N + ", " + K + "]";
  std::string x = "f[B, " + K + "]", y = "f[B, " + N + "]";
  return functionText("x: " + x + " -> y: " + y, "%w = model.param \"w\" : " + w + "\n%b = model.param \"b\" : f[" + N +
                                                     "]\n%y = model.linear %x, %w bias %b " + (inOut ? "in_out " : "") +
                                                     ": (" + x + ", " + w + ", f[" + N + "]) -> " + y);
}

/// A way of multiplying, lanes, results of a panel (0: the usual ones).
struct Way {
  const char *math;
  int lanes;
  int64_t panel = 0;
};

class Stored : public testing::TestWithParam<Way> {
protected:
  void SetUp() override {
    if (!has(GetParam().math))
      GTEST_SKIP() << "not on this processor: " << GetParam().math;
  }
  Kernels::Options options() const { return {true, GetParam().lanes, GetParam().math, GetParam().panel}; }
};

TEST_P(Stored, SmallLinears) {
  for (int64_t k : {1, 2, 3, 9, 64})
    for (int64_t n : {1, 31, 33, 65}) {
      Kernels kernels(linear(k, n, (k + n) % 2), options());
      ASSERT_TRUE(kernels.good()) << k << " " << n;
      for (int64_t m : {0, 1, 2, 3, 4, 5, 8, 9, 15, 33})
        EXPECT_LE(kernels.check({{"B", m}}, m), 2e-6) << "M " << m << " K " << k << " N " << n;
      EXPECT_TRUE(kernels.sameAlone({{"B", 13}}, 3)) << k << " " << n;
    }
}

/// Weights large enough for tiles of every height and for streaming several panels at once.
TEST_P(Stored, LargeLinears) {
  for (int64_t k : {140, 141}) {
    Kernels kernels(linear(k, 319, false), options());
    ASSERT_TRUE(kernels.good());
    for (int64_t m : {1, 2, 3, 4, 5, 6, 7, 8, 17, 257, 300})
      EXPECT_LE(kernels.check({{"B", m}}, m), 2e-6) << "M " << m;
    for (int64_t m : {3, 4, 17})
      EXPECT_TRUE(kernels.sameAlone({{"B", m}}, 3));
  }
}

/// Parts of a product with groups, whose rows are chosen before they are paired.
TEST_P(Stored, Parts) {
  Kernels kernels(
      functionText(
          "x: f[B, 7] -> p#0: f[B, 24], p#2: f[B, 12]",
          "%w = model.param \"w\" : f[48, 7]\n%b = model.param \"b\" : f[48]\n"
          "%p:3 = model.linear %x, %w bias %b parts [2, 1, 1] groups 3 : (f[B, 7], f[48, 7], f[48]) -> (f[B, 24], f[B, 12], f[B, 12])"),
      options());
  ASSERT_TRUE(kernels.good());
  for (int64_t m : {1, 5, 9})
    EXPECT_LE(kernels.check({{"B", m}}, m), 2e-6) << kernels.prepared;
}

/// A weight that is computed is rounded and paired at run time.
TEST_P(Stored, ComputedWeight) {
  for (int64_t k : {6, 7}) {
    std::string K = number(k), w = "f[35, " + K + "]", x = "f[B, " + K + "]";
    Kernels kernels(functionText("x: " + x + ", g: " + w + " -> y: f[B, 35]",
                                 "%w = model.unary neg %g : (" + w + ") -> " + w + "\n%y = model.linear %x, %w : (" +
                                     x + ", " + w + ") -> f[B, 35]"),
                    options());
    ASSERT_TRUE(kernels.good());
    for (int64_t m : {1, 9})
      EXPECT_LE(kernels.check({{"B", m}}, m), 2e-6) << kernels.prepared;
  }
}

TEST_P(Stored, Tables) {
  Kernels alone(
      functionText(
          "n: i[B, T] -> y: f[B, T, 21]",
          "%w = model.param \"w\" : f[5, 21]\n%y = model.embedding %n in %w : (i[B, T], f[5, 21]) -> f[B, T, 21]"),
      options());
  ASSERT_TRUE(alone.good());
  EXPECT_EQ(alone.check({{"B", 3}, {"T", 21}}, 1), 0) << alone.prepared;
  for (bool inOut : {false, true}) {
    // A table [37, 21] is W[N, K], a table [21, 37] with in_out W[K, N]: both halves of a pair are read.
    std::string w = inOut ? "f[21, 37]" : "f[37, 21]", x = inOut ? "f[B, T, 37]" : "f[B, T, 21]";
    std::string back = inOut ? "f[B, T, 21]" : x;
    Kernels tied(functionText("n: i[B, T] below 21, z: " + back + " -> x: " + x + ", y: f[B, T, 37]",
                              "%w = model.param \"w\" : " + w + "\n%x = model.embedding %n in %w : (i[B, T], " + w +
                                  ") -> " + x + "\n%y = model.linear %z, %w " + (inOut ? "in_out " : "") + ": (" +
                                  back + ", " + w + ") -> f[B, T, 37]"),
                 options());
    ASSERT_TRUE(tied.good());
    EXPECT_LE(tied.check({{"B", 3}, {"T", 21}}, 2), 2e-6) << tied.prepared;
  }
}

TEST_P(Stored, RoundingCostsWhatItMust) {
  Kernels kernels(linear(300, 96, false), options());
  ASSERT_TRUE(kernels.good());
  Kernels::Bytes in = kernels.inputs({{"B", 20}}, 5);
  double rms = kernels.rmsOfRounding({{"B", 20}}, in, kernels.run({{"B", 20}}, in));
  std::string math = GetParam().math;
  double part = math == "f16" ? 1.0 / 8 : 1;
  EXPECT_LE(rms, part * (math == "dots" ? 2.4e-3 : 1.7e-3));
  EXPECT_GE(rms, part * (math == "dots" ? 1.8e-3 : 1.3e-3)) << "something was not rounded";
}

INSTANTIATE_TEST_SUITE_P(Halves, Stored,
                         testing::Values(Way{"dots", 16}, Way{"wide", 16}, Way{"wide", 8}, Way{"wide", 4},
                                         Way{"f16", 16}, Way{"f16", 8}, Way{"f16", 4}, Way{"dots", 16, 16},
                                         Way{"wide", 16, 16}, Way{"f16", 8, 16}),
                         [](const auto &i) {
                           std::string panel = i.param.panel ? "_panel_" + std::to_string(i.param.panel) : "";
                           return i.param.math + ("_" + std::to_string(i.param.lanes)) + panel;
                         });
