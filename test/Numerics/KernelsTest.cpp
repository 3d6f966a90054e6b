//===- KernelsTest.cpp - every op, compiled, against its meaning ----------===//

#include "test/Numerics/Kernels.h"
#include "test/Numerics/KernelCases.h"
#include "llvm/ADT/StringRef.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace heddle;
using namespace heddle::test;

/// A linear [B, K] -> [B, N] with bias, as text.
static std::string linear(int64_t k, int64_t n, bool inOut = false) {
  std::string K = std::to_string(k), N = std::to_string(n),
              w = inOut ? "f[" + K + ", " + N + "]" : "f[" + N + ", " + K + "]";
  std::string x = "f[B, " + K + "]", y = "f[B, " + N + "]";
  return functionText("x: " + x + " -> y: " + y, "%w = model.param \"w\" : " + w + "\n%b = model.param \"b\" : f[" + N +
                                                     "]\n%y = model.linear %x, %w bias %b " + (inOut ? "in_out " : "") +
                                                     ": (" + x + ", " + w + ", f[" + N + "]) -> " + y);
}

TEST(Linear, SmallSizes) {
  for (int64_t k : {1, 2, 3, 9, 31, 64})
    for (int64_t n : {1, 7, 31, 32, 33, 65}) {
      Kernels kernels(linear(k, n, (k + n) % 2));
      ASSERT_TRUE(kernels.good()) << k << " " << n;
      for (int64_t m : {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 33})
        EXPECT_LE(kernels.check({{"B", m}}, m), 2e-6) << "M " << m << " K " << k << " N " << n;
      EXPECT_TRUE(kernels.sameAlone({{"B", 13}}, 3)) << k << " " << n;
    }
}

TEST(Linear, RowBlocks) {
  Kernels kernels(linear(33, 70));
  ASSERT_TRUE(kernels.good());
  for (int64_t m : {255, 256, 257, 300, 517})
    EXPECT_LE(kernels.check({{"B", m}}, m), 2e-6) << m;
}

/// Weights large enough for tiles of every height and for streaming several panels at once.
TEST(Linear, LargeWeights) {
  for (int64_t n : {256, 257, 319, 384}) {
    Kernels kernels(linear(140, n));
    ASSERT_TRUE(kernels.good());
    for (int64_t m = 0; m <= 17; ++m)
      EXPECT_LE(kernels.check({{"B", m}}, m), 2e-6) << "M " << m << " N " << n;
    EXPECT_TRUE(kernels.sameAlone({{"B", 17}}, 3)) << n;
    EXPECT_TRUE(kernels.sameAlone({{"B", 4}}, 3)) << n;
    EXPECT_TRUE(kernels.sameAlone({{"B", 3}}, 3)) << n;
  }
}

TEST(Linear, NarrowVectors) {
  for (int width : {4, 8}) {
    Kernels kernels(linear(190, 205), {true, width});
    ASSERT_TRUE(kernels.good());
    for (int64_t m : {1, 2, 5, 9, 20})
      EXPECT_LE(kernels.check({{"B", m}}, m), 2e-6) << width << " " << m;
  }
}

/// Tiles for 16 registers, 4 rows x 3 vectors or 6 x 2, with every number of rows that they leave over, the last panel
/// whole and cut; panels that are passed over twice. The bits are those of 8 x 32.
TEST(Linear, FewRegisters) {
  for (int64_t n : {240, 256, 257, 263})
    for (int width : {8, 4})
      for (int64_t panel : {0, 32}) {
        Kernels few(linear(140, n, n % 2), {true, width, "", panel}), many(linear(140, n, n % 2));
        ASSERT_TRUE(few.good() && many.good()) << n;
        if (!panel)
          EXPECT_NE(few.prepared.find("panel = " + std::to_string(n == 240 ? 3 * width : 2 * width)),
                    std::string::npos);
        for (int64_t m : {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 17, 263}) {
          Kernels::Bytes inputs = few.inputs({{"B", m}}, m);
          EXPECT_EQ(few.run({{"B", m}}, inputs), many.run({{"B", m}}, inputs))
              << "M " << m << " N " << n << " of " << width;
        }
        EXPECT_LE(few.check({{"B", 17}}, 3), 2e-6) << n;
      }
}

/// Another width of panel is another order of the weights, never another sum.
TEST(Linear, OtherPanels) {
  for (int64_t panel : {16, 48, 64})
    for (int64_t n : {1, 17, 33, 130, 319})
      for (int width : {4, 16}) {
        Kernels kernels(linear(140, n, n % 2), {true, width, "", panel}), usual(linear(140, n, n % 2), {true, width});
        ASSERT_TRUE(kernels.good()) << panel << " " << n;
        EXPECT_NE(kernels.prepared.find("panel = " + std::to_string(panel)), std::string::npos) << kernels.prepared;
        for (int64_t m : {0, 1, 2, 3, 4, 5, 9, 15, 33}) {
          EXPECT_LE(kernels.check({{"B", m}}, m), 2e-6) << "M " << m << " N " << n << " panel " << panel;
          Kernels::Bytes inputs = kernels.inputs({{"B", m}}, m);
          EXPECT_EQ(kernels.run({{"B", m}}, inputs), usual.run({{"B", m}}, inputs))
              << "M " << m << " N " << n << " panel " << panel;
        }
      }
}

namespace heddle::test {
static void PrintTo(const KernelCase &c, std::ostream *os) { *os << c.name; }
} // namespace heddle::test

class Ops : public testing::TestWithParam<KernelCase> {};
TEST_P(Ops, MeansWhatItSays) {
  const KernelCase &c = GetParam();
  std::vector<Kernels::Options> ways = {{true, 16}, {false, 16}};
  if (c.text().find("model.linear") != std::string::npos || c.text().find("model.matmul") != std::string::npos) {
    ways.push_back({true, 16, "", 16}); // in panels of another width
    ways.push_back({true, 8});          // with 16 registers
  }
  for (const Kernels::Options &way : ways) {
    Kernels kernels(c.text(), way);
    ASSERT_TRUE(kernels.good()) << c.text();
    uint64_t seed = 0;
    for (const Dims &dims : c.dims) {
      EXPECT_LE(kernels.check(dims, ++seed), c.tolerance) << kernels.prepared;
      if (c.alone && dims.at("B") > 1) {
        EXPECT_TRUE(kernels.sameAlone(dims, seed)) << kernels.prepared;
      }
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Kernels, Ops, testing::ValuesIn(kernelCases()), [](const auto &i) { return i.param.name; });

TEST(Defaults, LeftOutAndGiven) {
  Kernels kernels(functionText(
      "x: f[B, T], m: i[B, T] default -> y: f[B, T]",
      "%d = model.default %m : i[B, T] -> i[B, T] {\n%r = model.range \"0\" to \"T\" : i[T]\nmodel.yield %r : i[T]\n}\n"
      "%g = model.cast %d : i[B, T] -> f[B, T]\n%y = model.binary mul %x, %g : (f[B, T], f[B, T]) -> f[B, T]"));
  ASSERT_TRUE(kernels.good());
  Dims dims{{"B", 3}, {"T", 21}};
  EXPECT_LE(kernels.check(dims, 1), 1e-6);
  Kernels::Bytes in = kernels.inputs(dims, 2);
  in[1].clear();
  EXPECT_LE(kernels.error(dims, in, kernels.run(dims, in, 2)), 1e-6);
}

TEST(Embedding, AnIdOutsideIsTheRunsError) {
  Kernels kernels(
      functionText("x: i[B] -> y: f[B, 6]",
                   "%w = model.param \"w\" : f[5, 6]\n%y = model.embedding %x in %w : (i[B], f[5, 6]) -> f[B, 6]"));
  ASSERT_TRUE(kernels.good());
  Kernels::Bytes in = kernels.inputs({{"B", 4}}, 2);
  int64_t code = -1;
  (void)kernels.run({{"B", 4}}, in, 1, &code);
  EXPECT_EQ(code, 0);
  for (int64_t bad : {5, -1}) {
    reinterpret_cast<int64_t *>(in[0].data())[2] = bad;
    (void)kernels.run({{"B", 4}}, in, 1, &code);
    EXPECT_EQ(code, 1 + (1 << 8)) << "the failure, and above it 1 + the number of the lookup";
  }
}
