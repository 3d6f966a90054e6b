//===- AttentionTest.cpp - the attention kernel against plain loops -------===//

#include "test/Numerics/AttentionCases.h"
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>

using namespace heddle::test;

static const double kTolerance = 4e-6;
/// Scores of a hundred have a hundred times the rounding of scores of one.
static double tolerance(const Case &c) { return c.bias ? 2e-5 : kTolerance; }

static std::string where(const Case &c, const Sizes &n) {
  return c.name + " B " + std::to_string(n.B) + " T " + std::to_string(n.T) + " S " + std::to_string(n.S) + " P " +
         std::to_string(n.P) + " K " + std::to_string(n.K);
}

static void sweep(const Case &c, const std::vector<Sizes> &sizes) {
  auto program = Program::compile(c.text(), c.vectorWidth);
  ASSERT_TRUE(program) << c.name << "\n" << c.text();
  uint64_t seed = 0;
  for (const Sizes &n : sizes) {
    Call call(c, n, ++seed);
    call.run(*program);
    EXPECT_LE(call.error(), tolerance(c)) << where(c, n);
  }
}

/// Around tile edges, a past, several batch elements, keys that begin elsewhere.
static std::vector<Sizes> edges() {
  std::vector<Sizes> sizes = {{1, 0, 0, 0, 0},      {1, 0, 5, 0, 0},    {1, 5, 0, 0, 0},     {2, 1, 1, 0, 0},
                              {2, 3, 7, 4, 0},      {1, 33, 40, 7, 0},  {3, 5, 130, 125, 0}, {1, 1, 257, 256, 0},
                              {2, 17, 129, 112, 0}, {1, 31, 64, 33, 3}, {2, 40, 20, 0, 0},   {1, 65, 90, 10, -6},
                              {1, 8, 128, 120, 0},  {1, 70, 70, 0, 0}};
  for (int64_t n : {127, 128, 129})
    sizes.push_back({1, n, n, 0, 0});
  return sizes;
}

static std::vector<Case> inAllMath(const std::vector<Case> &cases) {
  std::vector<Case> all;
  for (Case c : cases)
    for (const std::string &math : mathHere()) {
      c.in(math);
      all.push_back(c);
    }
  return all;
}
static std::string nameOf(const testing::TestParamInfo<Case> &i) {
  return i.param.name + (i.param.math.empty() ? "" : "_" + i.param.math);
}

class Masks : public testing::TestWithParam<Case> {};
TEST_P(Masks, AroundEdges) { sweep(GetParam(), edges()); }
INSTANTIATE_TEST_SUITE_P(Attention, Masks, testing::ValuesIn(inAllMath(maskCases())), nameOf);

class Biases : public testing::TestWithParam<Case> {};
TEST_P(Biases, AroundEdges) { sweep(GetParam(), edges()); }
INSTANTIATE_TEST_SUITE_P(Attention, Biases, testing::ValuesIn(inAllMath(biasCases())), nameOf);

/// Everything below is computed in each arithmetic.
class InMath : public testing::TestWithParam<std::string> {
protected:
  Case caseNamed(const std::string &name) const {
    for (const std::vector<Case> &cases : {maskCases(), biasCases()})
      for (Case c : cases)
        if (c.name == name) {
          c.in(GetParam());
          return c;
        }
    std::abort();
  }
};
class Attention : public InMath {};
class AttentionBits : public InMath {};
static std::string mathName(const testing::TestParamInfo<std::string> &i) { return i.param.empty() ? "f32" : i.param; }
INSTANTIATE_TEST_SUITE_P(In, Attention, testing::ValuesIn(mathHere()), mathName);
INSTANTIATE_TEST_SUITE_P(In, AttentionBits, testing::ValuesIn(mathHere()), mathName);

/// Every score modifier where rows and keys fall into classes that never meet.
TEST_P(Attention, Classes) {
  for (int64_t step : {2, 5})
    for (Case c : biasCases()) {
      // Every mask of these cases is causal, or there is none.
      auto seen = c.count ? c.count : [](const Case::At &) { return 1; };
      c.count = [=](const Case::At &a) { return seen(a) && (a.j() - a.i()) % step == 0; };
      std::string dilated = "  %steps = mask.dilated " + std::to_string(step) + "\n";
      if (size_t at = c.ops.find("%m = "); at != std::string::npos) {
        c.ops.replace(at, 2, "%inner");
        dilated += "  %m = mask.and %inner, %steps\n";
      } else {
        c.operands = "mask %steps " + c.operands;
      }
      c.ops += "\n" + dilated;
      c.in(GetParam());
      sweep(c, {{2, 3, 7, 4, 0},
                {1, 33, 40, 7, 0},
                {1, 1, 257, 256, 0},
                {2, 40, 20, 0, 0},
                {1, 65, 90, 10, -6},
                {1, 31, 264, 233, 3},
                {2, 300, 300, 0, 0}});
    }
}

TEST_P(Attention, AllSmallSizes) {
  for (const char *name : {"none", "causal"}) {
    Case c = caseNamed(name);
    c.heads = c.kvHeads = 1;
    c.width = c.valueWidth = 4;
    std::vector<Sizes> sizes;
    for (int64_t t = 0; t <= 70; ++t)
      for (int64_t s = 0; s <= 70; s += t % 4 ? 5 : 1)
        sizes.push_back({1, t, s, t % 3, 0});
    sweep(c, sizes);
  }
}

TEST_P(Attention, WidthsAndGroups) {
  struct Shape {
    int heads, kv, w, u;
  };
  for (Shape s : {Shape{1, 1, 1, 1},
                  {3, 3, 7, 5},
                  {4, 2, 20, 33},
                  {8, 1, 12, 64},
                  {6, 2, 64, 80},
                  {2, 1, 128, 128},
                  {3, 1, 17, 100},
                  {5, 5, 80, 48},
                  {2, 1, 256, 256},
                  {1, 1, 255, 31}}) {
    Case c = caseNamed("causal");
    c.heads = s.heads;
    c.kvHeads = s.kv;
    c.width = s.w;
    c.valueWidth = s.u;
    sweep(c, {{2, 37, 37, 0, 0},
              {1, 1, 140, 139, 0},
              {1, 2, 30, 28, 0},
              {1, 11, 260, 249, 0},
              {2, 4, 16, 12, 0},
              {1, 65, 65, 0, 0}});
  }
}

TEST_P(Attention, NarrowVectors) {
  if (GetParam() == "dots" || GetParam() == "matrix")
    GTEST_SKIP() << "dots are made of vectors of 16";
  for (int width : {8, 4})
    for (const char *name : {"causal", "keys", "documents", "bigbird", "dense", "alibi", "buckets_two_sided",
                             "relative_query", "softcap", "sinks"}) {
      Case c = caseNamed(name);
      c.vectorWidth = width;
      sweep(c, {{2, 37, 37, 0, 0}, {1, 1, 140, 139, 0}, {1, 11, 260, 249, 0}, {1, 65, 65, 0, 0}, {1, 70, 70, 0, 0}});
    }
}

TEST_P(Attention, SharedKeys) {
  Case c = caseNamed("none");
  c.sharedKeys = true;
  sweep(c, {{3, 5, 9, 0, 0}, {2, 40, 130, 0, 0}});
}

TEST_P(Attention, MaskedRows) {
  for (auto masked : {Case::Zero, Case::Nan, Case::Mean}) {
    Case c = caseNamed("window_off_diagonal");
    c.masked = decltype(c.masked)(masked);
    c.attributes = masked == Case::Nan ? "masked_rows nan" : masked == Case::Mean ? "masked_rows mean" : "";
    auto program = Program::compile(c.text());
    ASSERT_TRUE(program);
    for (Sizes n : {Sizes{1, 9, 9, 0, 0}, Sizes{2, 40, 40, 0, 0}, Sizes{1, 140, 140, 0, 0}}) {
      Call call(c, n, 3);
      call.run(*program);
      EXPECT_LE(call.error(), kTolerance) << where(c, n);
      if (masked == Case::Zero)
        EXPECT_EQ(call.y[(n.T - 1) * c.heads * c.valueWidth], 0.f);
    }
  }
}

/// What is in a key that a row does not see never reaches it.
TEST_P(Attention, HiddenPoison) {
  const float poisons[] = {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                           -std::numeric_limits<float>::infinity()};
  for (const char *name :
       {"causal", "window_causal", "keys", "documents_mixed", "bigbird", "dense", "dense_bias_hides", "prefix"}) {
    Case c = caseNamed(name);
    auto program = Program::compile(c.text());
    ASSERT_TRUE(program);
    for (Sizes n : {Sizes{1, 20, 20, 0, 0}, Sizes{2, 50, 150, 100, 0}, Sizes{1, 3, 131, 128, 0}})
      for (int at = 0; at < 4; ++at)
        for (bool inValues : {true, false}) {
          Call call(c, n, 5 + at);
          int64_t key = int64_t(hash(at, 1) % n.S);
          float poison = poisons[inValues ? at % 3 : 0];
          int64_t width = (inValues ? c.valueWidth : c.width) * c.kvHeads;
          auto &x = inValues ? call.v : call.k;
          for (int64_t d = 0; d < width; ++d)
            x[key * width + d] = poison;
          call.run(*program);
          EXPECT_LE(call.error(), tolerance(c)) << where(c, n) << " key " << key << (inValues ? " values" : " keys");
        }
  }
}

/// Every modifier at every usual width of heads, with values of another width; arithmetic, grouping, what becomes
/// of masked rows and where keys begin take turns.
TEST(AttentionModifiers, WidthsRowsAndKeys) {
  const std::pair<int, int> widths[] = {{16, 24}, {24, 80},  {40, 16},  {64, 96},
                                        {80, 40}, {96, 128}, {128, 64}, {256, 48}};
  const std::vector<std::string> math = mathHere();
  size_t turn = 0;
  for (Case c : biasCases()) {
    for (auto [width, valueWidth] : widths) {
      c.width = width;
      c.valueWidth = valueWidth;
      c.math = math[turn % math.size()];
      c.kvHeads = turn % 2 ? c.heads : c.heads / 2;
      c.masked = decltype(c.masked)(turn / 3 % 3);
      c.attributes = c.masked == Case::Nan ? "masked_rows nan" : c.masked == Case::Mean ? "masked_rows mean" : "";
      std::vector<Sizes> sizes;
      for (int64_t rows : {1, 7, 33})
        for (int64_t keys : {1, 127, 129, 300})
          sizes.push_back({1, rows, keys, std::max<int64_t>(keys - rows, 0), int64_t(turn % 2) * 2});
      sweep(c, sizes);
      ++turn;
    }
    ++turn; // or a modifier would meet the same arithmetic at every width of its
  }
}

TEST(AttentionModifiers, AlibiOfAnyNumberOfHeads) {
  for (int heads = 1; heads <= 12; ++heads)
    for (size_t which : {0, 1}) {
      Case c = biasCases(heads)[which];
      ASSERT_NE(c.name.find("alibi"), std::string::npos);
      sweep(c, {{2, 33, 129, 96, 0}, {1, 1, 40, 39, 0}});
    }
}

//===-- bits -------------------------------------------------------------------------===//

static bool sameBits(const float *x, const float *y, size_t n) { return !std::memcmp(x, y, n * sizeof(float)); }

TEST_P(AttentionBits, ThreadsAndBatch) {
  for (const char *name : {"none", "causal", "keys_causal", "alibi"}) {
    Case c = caseNamed(name);
    auto program = Program::compile(c.text());
    ASSERT_TRUE(program);
    Sizes n{3, 45, 200, 155, 0};
    Call one(c, n, 1), two(c, n, 1), three(c, n, 1);
    one.run(*program, 1);
    two.run(*program, 2);
    three.run(*program, 3);
    EXPECT_TRUE(sameBits(one.y.data(), two.y.data(), one.y.size())) << name;
    EXPECT_TRUE(sameBits(one.y.data(), three.y.data(), one.y.size())) << name;
  }
}

TEST_P(AttentionBits, RowAloneAndAmongOthers) {
  for (const char *name : {"none", "causal", "window_causal", "window", "alibi", "alibi_symmetric", "buckets",
                           "buckets_two_sided", "relative_query", "relative_key", "softcap", "sinks"}) {
    Case c = caseNamed(name);
    c.heads = 4;
    c.kvHeads = 2;
    c.width = GetParam() == "matrix" ? 64 : 24;
    auto program = Program::compile(c.text());
    ASSERT_TRUE(program);
    Sizes n{1, 77, 300, 223, 0};
    Call all(c, n, 9);
    all.run(*program);
    size_t in = c.heads * c.width, out = c.heads * c.valueWidth;
    for (int64_t r = 0; r < n.T; r += 5)
      for (int64_t rows : {1, 2, 3, 7, 20}) {
        if (r + rows > n.T)
          continue;
        Call some(c, {1, rows, 300, 223 + r, 0}, 9);
        std::copy_n(&all.q[r * in], rows * in, some.q.begin());
        some.k = all.k;
        some.v = all.v;
        for (size_t e = 0; e < c.extras.size(); ++e) // what belongs to rows goes with them
          if (c.extras[e].axes.rfind("B, T,", 0) == 0) {
            size_t line = all.extras[e].size() / n.T;
            some.extras[e].assign(&all.extras[e][r * line], &all.extras[e][r * line] + rows * line);
          }
        some.run(*program);
        EXPECT_TRUE(sameBits(&all.y[r * out], some.y.data(), rows * out)) << name << " row " << r << " rows " << rows;
      }
  }
}

TEST_P(AttentionBits, PaddingOnEitherSide) {
  Case c = caseNamed("keys_causal");
  c.heads = 3;
  c.kvHeads = 1;
  auto program = Program::compile(c.text());
  ASSERT_TRUE(program);
  const int64_t T = 150;
  Call bare(c, {1, T, T, 0, 0}, 4);
  for (double &x : bare.extras[0])
    x = 1;
  bare.run(*program);
  EXPECT_LE(bare.error(), kTolerance);
  size_t in = c.heads * c.width, kin = c.width, vin = c.valueWidth, out = c.heads * c.valueWidth;
  for (int64_t left : {0, 1, 5, 16, 100, 128, 131})
    for (int64_t right : {0, 3, 40}) {
      Call padded(c, {2, left + T + right, left + T + right, 0, 0}, 8);
      int64_t rows = padded.n.T;
      for (int64_t b = 0; b < 2; ++b)
        for (int64_t i = 0; i < rows; ++i)
          padded.extras[0][b * rows + i] = b ? padded.extras[0][b * rows + i] : i >= left && i < left + T;
      std::copy_n(bare.q.begin(), T * in, padded.q.begin() + left * in);
      std::copy_n(bare.k.begin(), T * kin, padded.k.begin() + left * kin);
      std::copy_n(bare.v.begin(), T * vin, padded.v.begin() + left * vin);
      padded.run(*program);
      EXPECT_TRUE(sameBits(bare.y.data(), &padded.y[left * out], T * out)) << left << " " << right;
      EXPECT_LE(padded.error(), kTolerance);
    }
}

/// A step that keeps keys and values in its states: prefill, pieces and single rows.
static std::string stepText(const std::string &math, int heads, int kv, int w, int u,
                            const std::string &mask = "%m = mask.causal", bool real = false) {
  auto n = [](int64_t x) { return std::to_string(x); };
  std::string q = "!model.tensor<[B, new, " + n(heads * w) + "], f32>",
              k = "!model.tensor<[B, new, " + n(kv * w) + "], f32>",
              v = "!model.tensor<[B, new, " + n(kv * u) + "], f32>",
              y = "!model.tensor<[B, new, " + n(heads * u) + "], f32>";
  std::string ks = "!model.state<[3, B, capacity, " + n(kv * w) + "], f32>",
              vs = "!model.state<[3, B, capacity, " + n(kv * u) + "], f32>";
  std::string ka = "!model.tensor<[B, \"new+past\", " + n(kv * w) + "], f32>",
              va = "!model.tensor<[B, \"new+past\", " + n(kv * u) + "], f32>";
  return moduleText(
      math,
      "func.func @step(%q: " + q + " {model.name = \"q\"}, %k: " + k + " {model.name = \"k\"}, %v: " + v +
          " {model.name = \"v\"}, %ks: " + ks + " {model.state = \"k\"}, %vs: " + vs + " {model.state = \"v\"}" +
          (real ? ", %real: !model.tensor<[B, \"new+past\"], i64> {model.name = \"real\"}" : "") + ") -> (" + y +
          " {model.name = \"y\"}) {\n  %i = arith.constant 1 : index\n  %ka = model.append %ks[%i], %k axis 1 : " + ks +
          ", " + k + " -> " + ka + "\n  %va = model.append %vs[%i], %v axis 1 : " + vs + ", " + v + " -> " + va +
          "\n  " + mask + "\n  %y = attn.sdpa %q, %ka, %va mask %m heads " + n(heads) + " kv_heads " + n(kv) +
          " scale 0.25 past \"past\" : (" + q + ", " + ka + ", " + va + ") -> " + y + "\n  return %y : " + y + "\n}\n");
}

TEST_P(AttentionBits, StepsOverTheCache) {
  const bool matrix = GetParam() == "matrix";
  const int heads = 4, kv = 2, w = matrix ? 64 : 20, u = matrix ? 48 : 33;
  const int64_t B = 2, total = 300, capacity = 310;
  for (bool layout : {true, false}) {
    auto program = Program::compile(stepText(GetParam(), heads, kv, w, u), 16, layout);
    ASSERT_TRUE(program);
    Case c;
    c.heads = heads;
    c.kvHeads = kv;
    c.width = w;
    c.valueWidth = u;
    c.in(GetParam());
    c.count = [](const Case::At &a) { return a.j() <= a.i(); };
    Call all(c, {B, total, total, 0, 0}, 2);
    std::vector<float> whole;
    for (std::vector<int64_t> pieces : {std::vector<int64_t>{total},
                                        {100, 100, 100},
                                        {1, 15, 16, 17, 128, 100, 23},
                                        {297, 1, 1, 1},
                                        {120, 8, 2, 170}}) {
      Program::Dims dims{{"B", B}, {"past", 0}, {"new", 0}, {"capacity", capacity}};
      std::vector<char> ks(program->stateBytes("step", 3, dims)), vs(program->stateBytes("step", 4, dims));
      std::vector<float> y(B * total * heads * u);
      int64_t past = 0;
      for (int64_t n : pieces) {
        auto cut = [&](const std::vector<float> &x, int64_t f) {
          std::vector<float> part;
          for (int64_t b = 0; b < B; ++b)
            part.insert(part.end(), &x[(b * total + past) * f], &x[(b * total + past + n) * f]);
          return part;
        };
        std::vector<float> q = cut(all.q, heads * w), k = cut(all.k, kv * w), v = cut(all.v, kv * u),
                           out(B * n * heads * u);
        dims["past"] = past;
        dims["new"] = n;
        EXPECT_EQ(program->run("step", dims, {q.data(), k.data(), v.data(), out.data(), ks.data(), vs.data()},
                               int(past % 2 + 1)),
                  0);
        for (int64_t b = 0; b < B; ++b)
          std::copy_n(&out[b * n * heads * u], n * heads * u, &y[(b * total + past) * heads * u]);
        past += n;
      }
      if (whole.empty()) {
        whole = y;
        all.y = y;
        EXPECT_LE(all.error(), kTolerance);
      }
      EXPECT_TRUE(sameBits(whole.data(), y.data(), y.size())) << pieces.size() << " pieces";
    }
  }
}

/// Masks that look back so far and no farther: keys and values are in rings, which the text goes
/// round several times, in pieces, in single rows and behind padding that tiles begin at.
TEST_P(AttentionBits, RingsGoRound) {
  const bool matrix = GetParam() == "matrix";
  const int heads = 4, kv = 2, w = matrix ? 64 : 20, u = matrix ? 48 : 33;
  const int64_t B = 3, total = 900, capacity = 905, longest = 60;
  const std::string keys = "%r = mask.keys %real : !model.tensor<[B, \"new+past\"], i64>\n  ";
  struct Way {
    std::string mask;
    int64_t rows; ///< that a head has room for: the ring and the twin of its first block, class by class
  };
  for (
      const Way &way :
      {Way{keys + "%n = mask.window left 9 right 0\n  %m = mask.and %n, %r", 384},
       {keys + "%n = mask.window left 150 right 0\n  %m = mask.and %r, %n", 512},
       {keys +
            "%n = mask.window left 70 right -1\n  %f = mask.window left 197 right -150\n  %o = mask.or %n, %f\n  %m = mask.and %o, %r",
        512},
       {keys +
            "%c = mask.causal\n  %n = mask.window left 260 right 40\n  %d = mask.dilated 3\n  %a = mask.and %c, %n\n  %e = mask.and %a, %d\n  %m = mask.and %e, %r",
        3 * 320}}) {
    std::string text = stepText(GetParam(), heads, kv, w, u, way.mask, true);
    auto plain = Program::compile(text), ring = Program::compile(text, 16, true, JitLevel::Plain, longest);
    ASSERT_TRUE(plain && ring);
    Case c;
    c.heads = heads;
    c.kvHeads = kv;
    c.width = w;
    c.valueWidth = u;
    Call all(c, {B, total, total, 0, 0}, 5);
    std::vector<int64_t> real(B * total, 1);
    std::fill_n(&real[total], 37, 0);
    std::fill_n(&real[2 * total], 200, 0);
    auto run = [&](Program &program, std::vector<int64_t> pieces, bool rings) {
      Program::Dims dims{{"B", B}, {"past", 0}, {"new", 0}, {"capacity", capacity}};
      // What nobody has written is NaN.
      std::vector<char> ks(program.stateBytes("step", 3, dims), char(0xff)),
          vs(program.stateBytes("step", 4, dims), char(0xff));
      if (rings) {
        bool bf16 = !GetParam().empty();
        EXPECT_EQ(int64_t(ks.size()), 3 * B * kv * way.rows * (bf16 ? w / 2 : w) * 4) << way.mask;
        EXPECT_EQ(int64_t(vs.size()), 3 * B * kv * way.rows * (bf16 ? (u + 1) / 2 : u) * 4) << way.mask;
      }
      std::vector<float> y(B * total * heads * u);
      int64_t past = 0;
      for (size_t at = 0; past < total; ++at) {
        int64_t n = std::min(pieces[at % pieces.size()], total - past);
        auto cut = [&](const std::vector<float> &x, int64_t f) {
          std::vector<float> part;
          for (int64_t b = 0; b < B; ++b)
            part.insert(part.end(), x.begin() + (b * total + past) * f, x.begin() + (b * total + past + n) * f);
          return part;
        };
        std::vector<float> q = cut(all.q, heads * w), k = cut(all.k, kv * w), v = cut(all.v, kv * u),
                           out(B * n * heads * u);
        std::vector<int64_t> known;
        for (int64_t b = 0; b < B; ++b)
          known.insert(known.end(), real.begin() + b * total, real.begin() + b * total + past + n);
        dims["past"] = past;
        dims["new"] = n;
        EXPECT_EQ(program.run("step", dims,
                              {q.data(), k.data(), v.data(), known.data(), out.data(), ks.data(), vs.data()},
                              int(past % 2 + 1)),
                  0);
        for (int64_t b = 0; b < B; ++b)
          std::copy_n(&out[b * n * heads * u], n * heads * u, &y[(b * total + past) * heads * u]);
        past += n;
      }
      return y;
    };
    std::vector<float> whole = run(*plain, {total}, false);
    for (std::vector<int64_t> pieces : {std::vector<int64_t>{longest}, {1}, {59, 1, 16, 7, 60, 33}})
      EXPECT_TRUE(sameBits(whole.data(), run(*ring, pieces, true).data(), whole.size()))
          << way.mask << " pieces of " << pieces[0];
  }
}
