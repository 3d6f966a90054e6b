//===- CodesTest.cpp - linears and tables of codes -------------------------===//
//
// Every way in which integers are multiplied gives the bits of the interpreter in declared types, which executes the
// contract of the linear; `wide` gives the bits of a linear over what the codes mean.
//
//===----------------------------------------------------------------------===//

#include "test/Numerics/JitModule.h"
#include "test/Numerics/KernelCases.h"
#include "test/Numerics/Kernels.h"
#include "llvm/TargetParser/Host.h"
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace heddle;
using namespace heddle::test;

namespace {

struct Form {
  int64_t bits, group;
  const char *scale = "f16";
  bool zeros = false, ordered = false, inOut = false;
  const char *from = "gptq";
  const char *more = ""; ///< other parameters, each with a comma after it

  std::string text() const {
    auto flag = [](const char *name, bool set) { return set ? std::string(name) + " = true, " : std::string(); };
    return "#model.coded<bits = " + std::to_string(bits) + ", group = " + std::to_string(group) + ", scale = " + scale +
           ", " + flag("zeros", zeros) + more + flag("ordered", ordered) + flag("in_out", inOut) + "from = \"" + from +
           "\">";
  }
};

std::string linear(const Form &form, int64_t k, int64_t n, bool plainBias = false) {
  std::string K = std::to_string(k), N = std::to_string(n),
              w = form.inOut ? "f[" + K + ", " + N + "]" : "f[" + N + ", " + K + "]";
  std::string x = "f[B, " + K + "]", y = "f[B, " + N + "]";
  std::string bias = plainBias ? " bias %b" : "", type = plainBias ? ", f[" + N + "]" : "";
  return functionText("x: " + x + " -> y: " + y, "%w = model.param \"w\" {coded = " + form.text() + "} : " + w + "\n" +
                                                     (plainBias ? "%b = model.param \"b\" : f[" + N + "]\n" : "") +
                                                     "%y = model.linear %x, %w" + bias + (form.inOut ? " in_out" : "") +
                                                     " : (" + x + ", " + w + type + ") -> " + y);
}

Kernels::Options plain() { return {}; }
Kernels::Options pairs() {
  Kernels::Options options;
  options.vectorWidth = 8;
  options.needs = "avx2 f16c fma";
  return options;
}

/// Four bytes at once, where this processor has that.
Kernels::Options quads() {
  Kernels::Options options;
  if (llvm::sys::getHostCPUFeatures().lookup("avx512vnni"))
    options.needs = "avx512bw avx512vnni";
  return options;
}
/// Pairs in the longest vectors.
Kernels::Options longPairs() {
  Kernels::Options options;
  if (llvm::sys::getHostCPUFeatures().lookup("avx512bw"))
    options.needs = "avx512bw";
  return options;
}

/// All ways that this processor has.
std::vector<Kernels::Options> ways() {
  std::vector<Kernels::Options> all = {plain(), pairs()};
  if (hasMatrixRegisters()) {
    all.push_back(plain());
    all.back().needs = kMatrixNeeds;
  }
  return all;
}

/// The interpreter's bits for these rows, by every way. `block`: features of a row that share a scale.
void holds(const std::string &text, std::initializer_list<int64_t> rows, const std::string &what, int64_t block = 0,
           const std::vector<Kernels::Options> &how = ways()) {
  for (Kernels::Options options : how) {
    options.block = block;
    Kernels kernels(text, options);
    ASSERT_TRUE(kernels.good()) << what;
    for (int64_t m : rows) {
      Kernels::Bytes inputs = kernels.inputs({{"B", m}}, uint64_t(m)), one = kernels.run({{"B", m}}, inputs, 1);
      ASSERT_TRUE(one == kernels.run({{"B", m}}, inputs, 3)) << what << ", " << m << " rows";
      ASSERT_TRUE(one[0] == kernels.declared({{"B", m}}, inputs))
          << what << ", " << m << " rows, vectors of " << options.vectorWidth;
    }
  }
}

TEST(Codes, IntegersOfEveryForm) {
  for (int64_t bits : {4, 8})
    for (int64_t group : {16, 32, 64, 128, 256, 1000})
      for (bool zeros : {false, true}) {
        int64_t k = group == 16 ? 72 : group == 256 ? 600 : group == 32 ? 100 : 300, n = zeros ? 70 : 257;
        Form form{bits, group, group == 64 ? "bf16" : group == 256 ? "f32" : "f16", zeros, group == 128};
        holds(linear(form, k, n, bits == 4), {1, 2, 3, 4, 5, 7, 9, 17, 35},
              form.text() + " " + std::to_string(n) + " x " + std::to_string(k));
      }
}

/// One level with minima, tables, 2, 5 and 6 bits, and two levels: formats of GGUF files and others of their kind.
const Form kFormats[] = {
    {4, 32, "f16", false, false, false, "gguf", "minima = true, zero_code = 0, "},
    {5, 32, "f16", false, false, false, "gguf", "minima = true, zero_code = 0, "},
    {5, 32},
    {6, 16, "bf16"},
    {6, 128, "f32", true},
    {4, 16, "f16", false, false, false, "gguf", "table = \"e2m1\", "},
    {4, 32, "bf16", false, false, false, "gguf", "table = \"e2m1\", "},
    {4, 32, "f16", false, false, false, "gguf", "table = \"nl4\", "},
    {2, 32},
    {2, 16, "f32", true},
    {2, 64, "f16", false, false, false, "gguf", "zero_code = 1, "},
    {2, 256, "f16", false, false, false, "gguf", "zero_code = 1, "},
    {5, 256, "f16", false, false, false, "gguf", "zero_code = 31, "},
};
const Form kTwoLevels[] = {
    {4, 32, "f16", false, false, false, "gguf", "minima = true, zero_code = 0, super = 256, "},
    {5, 32, "f16", false, false, false, "gguf", "minima = true, zero_code = 0, super = 256, "},
    {6, 16, "f16", false, false, false, "gguf", "super = 256, "},
    {2, 16, "f16", false, false, false, "gguf", "minima = true, zero_code = 0, super = 256, "},
    {4, 16, "f16", false, false, false, "gguf", "minima = true, zero_code = 0, super = 256, "},
    {4, 16, "f16", false, false, false, "gguf", "zero_code = 4, super = 256, "},
    {4, 32, "f16", false, false, false, "gguf", "table = \"nl4\", super = 256, "},
    {8, 16, "f32", false, false, false, "gguf", "super = 256, "},
    {5, 32, "f32", false, false, false, "gguf", "super = 256, "},
};

/// The ways of x86-64: they differ in how codes become the bytes that are multiplied.
const std::vector<Kernels::Options> kBytes = {plain(), pairs(), quads(), longPairs()};

TEST(Codes, TablesAndMinima) {
  for (const Form &form : kFormats)
    holds(linear(form, 320, 70), {1, 17}, form.text(), 0, kBytes);
  holds(linear(kFormats[0], 96, 33), {1, 7}, "minima, 32 features a scale", 32);
}

/// Weights and rows are so many that codes of 5 and 6 bits are unpacked for the largest number of rows.
TEST(Codes, TwoLevels) {
  for (const Form &form : kTwoLevels)
    holds(linear(form, 512, 70), {1, 19}, form.text(), 0, kBytes);
}

TEST(Codes, EveryNumberOfRows) {
  for (int64_t bits : {4, 8}) {
    holds(linear({bits, 32}, 160, 256), {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 300},
          std::to_string(bits) + " bits");
    holds(linear({bits, 128}, 256, 130), {1, 4, 6, 8, 14, 15, 300}, std::to_string(bits) + " bits by 128");
  }
}

TEST(Codes, SmallAndOdd) {
  for (auto [k, n] : {std::pair{1, 1}, {2, 33}, {9, 7}, {16, 32}, {31, 31}, {40, 50}, {127, 5}, {129, 64}, {200, 31}})
    for (int64_t bits : {4, 8})
      holds(linear({bits, 1000, "f16", k % 2 == 0, false, n % 2 == 1}, k, n), {1, 5, 8},
            std::to_string(n) + " x " + std::to_string(k));
}

TEST(Codes, ScalesOf32FeaturesOfARow) {
  for (int64_t bits : {4, 8})
    for (int64_t group : {16, 32, 64, 128, 256, 1000})
      for (auto [k, n] : {std::pair{300, 70}, {40, 257}}) {
        Form form{bits, group, group == 64 ? "bf16" : "f16", n == 70, group == 128 && n == 257};
        holds(linear(form, k, n), {1, 5, 17}, form.text() + " " + std::to_string(n) + " x " + std::to_string(k), 32);
      }
}

TEST(Codes, OfASearch) {
  for (int64_t bits : {4, 8})
    for (bool inOut : {false, true})
      holds(linear({bits, 32, "f16", false, false, inOut, "search"}, 96, 80), {1, 9}, "search");
}

/// Rows with a NaN, an infinity, zeros or numbers whose scale is no number are what the contract says, and touch no
/// other row.
TEST(Codes, RowsThatAreNoNumbers) {
  for (int64_t bits : {4, 8})
    for (const Kernels::Options &options : ways()) {
      Kernels kernels(linear({bits, 64}, 160, 70), options);
      ASSERT_TRUE(kernels.good());
      Kernels::Bytes good = kernels.inputs({{"B", 12}}, 5), bad = good, before = kernels.run({{"B", 12}}, good);
      auto *x = reinterpret_cast<float *>(bad[0].data());
      x[2 * 160 + 7] = std::nanf("");
      x[5 * 160 + 140] = -INFINITY;
      for (int64_t j = 0; j < 160; ++j)
        x[7 * 160 + j] = 0, x[8 * 160 + j] = 1e-41f, x[9 * 160 + j] = 3e38f;
      Kernels::Bytes after = kernels.run({{"B", 12}}, bad);
      const auto *was = reinterpret_cast<const float *>(before[0].data()),
                 *is = reinterpret_cast<const float *>(after[0].data());
      for (int64_t row = 0; row < 12; ++row)
        for (int64_t j = 0; j < 70; ++j) {
          float y = is[row * 70 + j];
          if (row == 2 || row == 5)
            EXPECT_TRUE(std::isnan(y)) << row;
          else if (row == 7 || row == 8)
            EXPECT_EQ(y, 0) << row;
          else if (row != 9)
            EXPECT_EQ(y, was[row * 70 + j]) << row;
        }
      EXPECT_TRUE(kernels.sameAlone({{"B", 12}}, 5));
    }
}

/// The bits of f32 over the numbers that the codes mean.
TEST(Codes, WideIsALinearOverTheirNumbers) {
  for (Form form : {Form{4, 32}, Form{8, 128}, Form{4, 64, "bf16", true}, Form{8, 1000, "f32"},
                    Form{4, 128, "f16", true, true}, Form{8, 32, "f16", false, false, true}})
    for (int width : {16, 8}) {
      Kernels::Options options;
      options.vectorWidth = width;
      options.codes = "wide";
      Kernels coded(linear(form, 200, 257), options);
      ASSERT_TRUE(coded.good()) << form.text();
      options.codes = "";
      Form none = form;
      std::string text = linear(none, 200, 257), mark = " {coded = " + form.text() + "}";
      size_t at = text.find(mark);
      ASSERT_NE(at, std::string::npos);
      text.erase(at, mark.size());
      Kernels numbers(text, options, &coded);
      ASSERT_TRUE(numbers.good());
      for (int64_t m : {1, 2, 3, 4, 5, 9, 17, 263}) {
        Kernels::Bytes inputs = coded.inputs({{"B", m}}, uint64_t(m));
        EXPECT_TRUE(coded.run({{"B", m}}, inputs, 1) == numbers.run({{"B", m}}, inputs, 1)) << form.text() << " " << m;
        EXPECT_TRUE(coded.run({{"B", m}}, inputs, 1) == coded.run({{"B", m}}, inputs, 3)) << form.text() << " " << m;
      }
    }
}

TEST(Codes, WideOfEveryFormat) {
  for (llvm::ArrayRef<Form> formats : {llvm::ArrayRef<Form>(kFormats), llvm::ArrayRef<Form>(kTwoLevels)})
    for (const Form &form : formats) {
      Kernels::Options options;
      options.codes = "wide";
      Kernels coded(linear(form, 512, 70), options);
      ASSERT_TRUE(coded.good()) << form.text();
      options.codes = "";
      std::string text = linear(form, 512, 70), mark = " {coded = " + form.text() + "}";
      size_t at = text.find(mark);
      ASSERT_NE(at, std::string::npos);
      Kernels numbers(text.erase(at, mark.size()), options, &coded);
      ASSERT_TRUE(numbers.good());
      for (int64_t m : {1, 5}) {
        Kernels::Bytes inputs = coded.inputs({{"B", m}}, uint64_t(m));
        EXPECT_TRUE(coded.run({{"B", m}}, inputs, 1) == numbers.run({{"B", m}}, inputs, 1)) << form.text() << " " << m;
      }
      std::string table = "%t = model.param \"t\" {coded = " + form.text() + "} : f[50, 256]\n";
      std::string rows = "%e = model.embedding %x in %t : (i[B], f[50, 256]) -> f[B, 256]";
      holds(functionText("x: i[B] -> e: f[B, 256]", table + rows), {1, 5}, form.text() + " table");
    }
}

/// Parts of a linear, which read their rows rounded once, and a table that shares the weight.
TEST(Codes, PartsAndTables) {
  std::string w = "%w = model.param \"w\" {coded = " + Form{8, 32}.text() + "} : f[120, 96]\n";
  holds(functionText("x: f[B, 96] -> y: f[B, 120]",
                     w + "%a, %b, %c = model.linear %x, %w parts [2, 1, 1] groups 2 : (f[B, 96], f[120, 96]) -> "
                         "(f[B, 60], f[B, 30], f[B, 30])\n"
                         "%y = model.concat %b, %a, %c axis 1 : (f[B, 30], f[B, 60], f[B, 30]) -> f[B, 120]"),
        {1, 6, 33}, "parts");
  for (Form form : {Form{8, 32}, Form{4, 128, "f16", true, true}, Form{4, 64, "bf16"}, Form{8, 40, "f32", true}})
    for (bool tied : {false, true}) {
      std::string table = "%t = model.param \"t\" {coded = " + form.text() +
                          "} : f[50, 40]\n%e = model.embedding %x in %t : "
                          "(i[B], f[50, 40]) -> f[B, 40]\n";
      std::string text =
          functionText(tied ? "x: i[B] -> y: f[B, 50]" : "x: i[B] -> e: f[B, 40]",
                       tied ? table + "%y = model.linear %e, %t : (f[B, 40], f[50, 40]) -> f[B, 50]" : table);
      holds(text, {1, 5, 40}, form.text() + (tied ? " tied" : ""));
    }
}

} // namespace
