//===- HalvesTest.cpp - linears and tables stored in 16 bits --------------===//
//
// The interpreter rounds what the kernels round, so they differ by f32 sums alone. What the
// rounding itself costs is held against numbers that were never rounded: a bf16 has 8 bits, so a
// factor is off by 2^-8 at most; over evenly spread numbers that makes sums wrong by 1.5e-3 (root
// of the mean square), or by 2.1e-3 where both factors are rounded. An f16 has 11 bits: an eighth.
//
//===----------------------------------------------------------------------===//

#include "test/Numerics/JitModule.h"
#include "test/Numerics/KernelCases.h"
#include "test/Numerics/Kernels.h"
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace heddle;
using namespace heddle::test;

/// Whether this processor multiplies so.
static bool has(const std::string &math) {
  if (math == "matrix")
    return hasMatrixRegisters();
#if defined(__x86_64__)
  return math == "dots" ? __builtin_cpu_supports("avx512bf16") : math == "f16" ? __builtin_cpu_supports("f16c") : true;
#else
  return math != "dots";
#endif
}

static std::string number(int64_t n) { return std::to_string(n); }

/// A linear [B, K] -> [B, N] with bias, as text.
static std::string linearText(int64_t k, int64_t n, bool inOut) {
  std::string K = number(k), N = number(n), w = inOut ? "f[" + K + ", " + N + "]" : "f[" + N + ", " + K + "]";
  std::string x = "f[B, " + K + "]", y = "f[B, " + N + "]";
  return functionText("x: " + x + " -> y: " + y, "%w = model.param \"w\" : " + w + "\n%b = model.param \"b\" : f[" + N +
                                                     "]\n%y = model.linear %x, %w bias %b " + (inOut ? "in_out " : "") +
                                                     ": (" + x + ", " + w + ", f[" + N + "]) -> " + y);
}

/// A way of multiplying ("matrix": dots in matrix registers), lanes, results of a panel (0: the usual ones).
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
  bool dots() const { return GetParam().math == std::string("dots") || matrix(); }
  bool matrix() const { return GetParam().math == std::string("matrix"); }
  Kernels::Options options() const {
    Kernels::Options options{true, GetParam().lanes, matrix() ? "dots" : GetParam().math, GetParam().panel};
    if (matrix())
      options.needs = kMatrixNeeds;
    return options;
  }
};

TEST_P(Stored, SmallLinears) {
  for (int64_t k : {1, 2, 3, 9, 64})
    for (int64_t n : {1, 31, 33, 65}) {
      Kernels kernels(linearText(k, n, (k + n) % 2), options());
      ASSERT_TRUE(kernels.good()) << k << " " << n;
      for (int64_t m : {0, 1, 2, 3, 4, 5, 8, 9, 15, 33})
        EXPECT_LE(kernels.check({{"B", m}}, m), 2e-6) << "M " << m << " K " << k << " N " << n;
      EXPECT_TRUE(kernels.sameAlone({{"B", 13}}, 3)) << k << " " << n;
    }
}

/// Weights large enough for tiles of every height and for streaming several panels at once.
TEST_P(Stored, LargeLinears) {
  for (int64_t k : {140, 141, 160}) {
    Kernels kernels(linearText(k, 319, false), options());
    ASSERT_TRUE(kernels.good());
    for (int64_t m : {1, 2, 3, 4, 5, 6, 7, 8, 15, 16, 17, 33, 257, 300})
      EXPECT_LE(kernels.check({{"B", m}}, m), 2e-6) << "M " << m;
    for (int64_t m : {3, 4, 17, 34, 300})
      EXPECT_TRUE(kernels.sameAlone({{"B", m}}, 3));
  }
}

/// So few steps along k that of the parts in which lines are fetched the last are empty.
TEST_P(Stored, NarrowLinears) {
  for (auto [k, n] : {std::pair<int64_t, int64_t>{33, 1001}, {66, 513}}) {
    Kernels kernels(linearText(k, n, true), options());
    ASSERT_TRUE(kernels.good());
    for (int64_t m : {8, 17})
      EXPECT_LE(kernels.check({{"B", m}}, m), 2e-6) << "M " << m << " K " << k;
    EXPECT_TRUE(kernels.sameAlone({{"B", 9}}, 3)) << k;
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
  Kernels kernels(linearText(320, 96, false), options());
  ASSERT_TRUE(kernels.good());
  Kernels::Bytes in = kernels.inputs({{"B", 20}}, 5);
  double rms = kernels.rmsOfRounding({{"B", 20}}, in, kernels.run({{"B", 20}}, in));
  std::string math = GetParam().math;
  double part = math == "f16" ? 1.0 / 8 : 1;
  EXPECT_LE(rms, part * (dots() ? 2.4e-3 : 1.7e-3));
  EXPECT_GE(rms, part * (dots() ? 1.8e-3 : 1.3e-3)) << "something was not rounded";
}

INSTANTIATE_TEST_SUITE_P(Halves, Stored,
                         testing::Values(Way{"dots", 16}, Way{"wide", 16}, Way{"wide", 8}, Way{"wide", 4},
                                         Way{"f16", 16}, Way{"f16", 8}, Way{"f16", 4}, Way{"dots", 16, 16},
                                         Way{"wide", 16, 16}, Way{"f16", 8, 16}, Way{"matrix", 16},
                                         Way{"matrix", 16, 16}, Way{"matrix", 16, 48}),
                         [](const auto &i) {
                           std::string panel = i.param.panel ? "_panel_" + std::to_string(i.param.panel) : "";
                           return i.param.math + ("_" + std::to_string(i.param.lanes)) + panel;
                         });

/// To bf16 and back: nearest, ties to even.
static float throughBf16(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, 4);
  bits = (bits + 0x7fff + ((bits >> 16) & 1)) & 0xffff0000u;
  std::memcpy(&x, &bits, 4);
  return x;
}

/// Sums in matrix registers are, bit for bit, what MatrixTiles.h says: 32 numbers at a time, even ones and odd ones
/// apart.
TEST(Matrix, SumsOfPairs) {
  if (!hasMatrixRegisters())
    GTEST_SKIP() << "not on this processor: matrix registers";
  const int64_t k = 192, n = 300;
  Kernels::Options options;
  options.math = "dots";
  options.needs = kMatrixNeeds;
  Kernels kernels(linearText(k, n, false), options);
  ASSERT_TRUE(kernels.good());
  const Tensor &w = kernels.parameterValue("w"), &b = kernels.parameterValue("b");
  for (int64_t m : {1, 7, 16, 29, 300}) {
    Kernels::Bytes in = kernels.inputs({{"B", m}}, uint64_t(m)), out = kernels.run({{"B", m}}, in, 2);
    const auto *x = reinterpret_cast<const float *>(in[0].data()), *y = reinterpret_cast<const float *>(out[0].data());
    int64_t wrong = 0;
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        float sum = 0;
        for (int64_t first = 0; first < k; first += 32) {
          float parts[2] = {0, 0};
          for (int64_t p = first; p < first + 32; ++p)
            parts[p % 2] = std::fma(throughBf16(x[i * k + p]), throughBf16(float(w.reals[j * k + p])), parts[p % 2]);
          sum += parts[0] + parts[1];
        }
        sum += float(b.reals[j]);
        wrong += std::memcmp(&sum, &y[i * n + j], 4) != 0;
      }
    EXPECT_EQ(wrong, 0) << m << " rows";
  }
}
