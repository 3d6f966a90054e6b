//===- AttentionTilesTest.cpp - attention in tiles that somebody else chose ---===//
//
// An #attn.schedule may be written by hand. Who computes which rows, and when, is no part of a result: `rows`, `packed`
// and `paired` keep its bits. `keys` and `classes` change the order of sums, so results differ in their rounding.
//
//===----------------------------------------------------------------------===//

#include "test/Numerics/AttentionCases.h"
#include <cstring>
#include <gtest/gtest.h>

using namespace heddle::test;

static Case caseNamed(const std::string &name) {
  for (const std::vector<Case> &cases : {maskCases(), biasCases()})
    for (const Case &c : cases)
      if (c.name == name)
        return c;
  std::abort();
}

static Case tiled(Case c, int rows, int keys, int packed, int classes = 1, bool paired = false) {
  c.attributes += " {attn.schedule = #attn.schedule<rows = " + std::to_string(rows) +
                  ", keys = " + std::to_string(keys) + ", panel = 16, packed = " + std::to_string(packed) +
                  ", classes = " + std::to_string(classes) + ", paired = " + (paired ? "true" : "false") + ">}";
  return c;
}

static std::unique_ptr<Program> compiled(const Case &c) {
  auto program = Program::compile(c.text(), c.vectorWidth);
  EXPECT_TRUE(program) << c.text();
  return program;
}

static const std::vector<Sizes> kSizes = {
    {2, 37, 37, 0, 0}, {1, 1, 300, 299, 0}, {1, 70, 260, 190, 0}, {1, 300, 300, 0, 0}};
static const char *const kCases[] = {
    "none", "causal", "keys", "documents", "bigbird", "dense", "alibi", "buckets_two_sided", "softcap", "sinks"};

static void sameBits(const Case &usual, const Case &other) {
  auto first = compiled(usual), second = compiled(other);
  if (!first || !second)
    return;
  for (const Sizes &n : kSizes) {
    Call a(usual, n, 3), b(other, n, 3);
    a.run(*first, 3);
    b.run(*second, 2);
    EXPECT_EQ(std::memcmp(a.y.data(), b.y.data(), a.y.size() * sizeof(float)), 0)
        << usual.name << " T " << n.T << other.attributes;
  }
}

static void sameMeaning(const Case &c, double tolerance) {
  auto program = compiled(c);
  if (!program)
    return;
  for (const Sizes &n : kSizes) {
    Call call(c, n, 3);
    call.run(*program);
    EXPECT_LE(call.error(), tolerance) << c.name << " T " << n.T << c.attributes;
  }
}

TEST(AttentionTiles, RowsKeepTheBits) {
  for (const char *name : kCases)
    for (int rows : {8, 256}) {
      Case c = caseNamed(name);
      sameBits(c, tiled(c, rows, 128, 1));
    }
  for (const char *name : {"relative_query", "relative_key"})
    sameBits(caseNamed(name), tiled(caseNamed(name), 64, 128, 1));
}

TEST(AttentionTiles, HeadsTogetherOrAloneKeepTheBits) {
  Case c = caseNamed("causal");
  c.heads = 6;
  c.kvHeads = 2;
  sameBits(c, tiled(c, 32, 128, 1));
  sameBits(c, tiled(c, 16, 128, 3));
}

TEST(AttentionTiles, KeysAreAnotherOrder) {
  for (const char *name : kCases)
    for (int keys : {64, 256})
      sameMeaning(tiled(caseNamed(name), 32, keys, 1), caseNamed(name).bias ? 2e-5 : 4e-6);
  for (const char *name : {"relative_query", "relative_key"})
    for (int keys : {64, 256})
      sameMeaning(tiled(caseNamed(name), 64, keys, 1), 2e-5);
}

TEST(AttentionTiles, NarrowVectors) {
  for (int width : {8, 4})
    for (const char *name : {"causal", "alibi", "relative_key"}) {
      Case c = caseNamed(name);
      c.vectorWidth = width;
      sameMeaning(tiled(c, 64, 64, 1), 2e-5);
    }
}

TEST(AttentionTiles, ClassesOrTheHullOfThem) {
  Case c = caseNamed("causal");
  c.ops = "  %a = mask.causal\n  %d = mask.dilated 3\n  %m = mask.and %a, %d\n";
  auto causal = c.count;
  c.count = [=](const Case::At &a) { return causal(a) && (a.j() - a.i()) % 3 == 0; };
  sameMeaning(tiled(c, 32, 128, 1, 3), 4e-6);
  sameMeaning(tiled(c, 64, 256, 1, 3), 4e-6);
  sameMeaning(tiled(c, 32, 128, 1, 1), 4e-6);
}

TEST(AttentionTiles, PairsKeepTheBits) {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx512bf16"))
    GTEST_SKIP() << "not on this processor: dots";
  Case c = caseNamed("causal");
  c.math = "dots";
  sameBits(c, tiled(c, 32, 128, 1, 1, false));
  sameBits(c, tiled(c, 64, 128, 1, 1, true));
  sameMeaning(tiled(c, 32, 256, 1, 1, true), 4e-6);
#endif
}
