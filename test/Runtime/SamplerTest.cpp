//===- SamplerTest.cpp - Choosing the next token --------------------------===//
//
// The choice is fixed by logits, options and seed.
//
//===----------------------------------------------------------------------===//
#include "runtime/Generate/Sampler.h"

#include <cmath>
#include <gtest/gtest.h>
#include <map>

using namespace heddle::rt;

namespace {

const std::vector<float> kLogits = {0.0f, 2.0f, 1.0f, 2.0f, -INFINITY};

std::map<int64_t, int> drawn(SamplerOptions options, int count = 20000) {
  Sampler sampler(options, 1);
  std::map<int64_t, int> ids;
  for (int i = 0; i < count; ++i)
    ++ids[sampler.pick(0, kLogits.data(), int64_t(kLogits.size()))];
  return ids;
}

TEST(Sampler, GreedyTakesTheFirstOfTheLargest) {
  Sampler sampler({}, 1);
  EXPECT_EQ(sampler.pick(0, kLogits.data(), 5), 1);
  const float ends[] = {-INFINITY, 3, INFINITY, INFINITY};
  EXPECT_EQ(sampler.pick(0, ends, 4), 2);
}

TEST(Sampler, ALogitThatIsNaNIsAnError) {
  std::vector<float> logits(1000, -INFINITY);
  logits[1] = INFINITY;
  EXPECT_EQ(firstNaN(logits.data(), 1000), -1);
  EXPECT_TRUE(checkLogits(logits.data(), 1000, 0, 0).ok());
  for (int64_t id : {0, 1, 517, 999}) {
    std::vector<float> odd = logits;
    odd[id] = odd[999] = NAN;
    EXPECT_EQ(firstNaN(odd.data(), 1000), id);
    Status status = checkLogits(odd.data(), 1000, 2, 4);
    EXPECT_EQ(status.exit(), heddle::Exit::Input);
    EXPECT_EQ(status.message(),
              "the logit of id " + std::to_string(id) + " is NaN, for new token 5 of row 2: no token can be chosen");
  }
}

TEST(Sampler, Frequencies) {
  auto ids = drawn({1.0, 0, 1.0, 42});
  double sum = 1 + 2 * std::exp(2.0) + std::exp(1.0);
  EXPECT_NEAR(ids[1] / 20000.0, std::exp(2.0) / sum, 0.02);
  EXPECT_NEAR(ids[2] / 20000.0, std::exp(1.0) / sum, 0.02);
  EXPECT_NEAR(ids[0] / 20000.0, 1 / sum, 0.02);
  EXPECT_EQ(ids.count(4), 0u);
}

TEST(Sampler, TopKAndTopP) {
  EXPECT_EQ(drawn({1.0, 1, 1.0, 1}).size(), 1u);
  auto two = drawn({1.0, 2, 1.0, 1});
  EXPECT_EQ(two.size(), 2u);
  EXPECT_TRUE(two.count(1) && two.count(3));
  EXPECT_EQ(drawn({1.0, 0, 0.5, 1}).size(), 2u);
  EXPECT_EQ(drawn({1.0, 0, 0.0, 1}).size(), 1u);
  EXPECT_EQ(drawn({1e-6, 0, 1.0, 1}).size(), 2u);
}

TEST(Sampler, SeedFixesTheStream) {
  Sampler a({1.0, 0, 1.0, 7}, 2), b({1.0, 0, 1.0, 7}, 2), c({1.0, 0, 1.0, 8}, 2);
  int differs = 0, rowsDiffer = 0;
  for (int i = 0; i < 200; ++i) {
    int64_t x = a.pick(0, kLogits.data(), 4);
    EXPECT_EQ(x, b.pick(0, kLogits.data(), 4));
    differs += x != c.pick(0, kLogits.data(), 4);
    rowsDiffer += x != a.pick(1, kLogits.data(), 4);
  }
  EXPECT_GT(differs, 20);
  EXPECT_GT(rowsDiffer, 20);
}

} // namespace
