//===- RulesTest.cpp - What may be said next ------------------------------===//
//
// Each rule alone against what it is defined to do, on logits small enough to
// be written out.
//
//===----------------------------------------------------------------------===//
#include "runtime/Generate/Rules.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace heddle::rt;
using Ids = std::vector<int64_t>;

namespace {

constexpr float kNever = -INFINITY;

std::vector<float> after(const RuleOptions &options, const Ids &text, int64_t made, int64_t wanted = 10) {
  std::vector<float> scores = {1, 2, -1, 0.5f, -2, 3};
  Rules rules(options, wanted);
  rules.apply(text, made, scores.data(), int64_t(scores.size()));
  return scores;
}

const std::vector<float> kPlain = {1, 2, -1, 0.5f, -2, 3};

TEST(Rules, NothingSaidNothingChanged) {
  EXPECT_FALSE(Rules({}, 10).any());
  EXPECT_EQ(after({}, {0, 1, 2}, 1), kPlain);
}

TEST(Rules, RepetitionPenaltyOncePerId) {
  RuleOptions options;
  options.repetitionPenalty = 2;
  // Positive logits are divided, negative ones multiplied; 99 is no id.
  EXPECT_EQ(after(options, {1, 1, 2, 99, -1}, 0), (std::vector<float>{1, 1, -2, 0.5f, -2, 3}));
}

TEST(Rules, BiasAndPenaltiesOfWhatWasMade) {
  RuleOptions options;
  options.bias = {{0, 2.5}, {2, -100}, {99, 1}};
  EXPECT_TRUE(Rules(options, 10).any());
  EXPECT_EQ(after(options, {1, 2}, 1), (std::vector<float>{3.5f, 2, -101, 0.5f, -2, 3}));
  options = {};
  options.presencePenalty = 0.5;
  // The prompt does not count; 5 was made twice.
  EXPECT_EQ(after(options, {0, 1, 5, 3, 5}, 3), (std::vector<float>{1, 2, -1, 0, -2, 2.5f}));
  options.frequencyPenalty = 1;
  EXPECT_EQ(after(options, {0, 1, 5, 3, 5}, 3), (std::vector<float>{1, 2, -1, -1, -2, 0.5f}));
  options.presencePenalty = 0;
  EXPECT_EQ(after(options, {0, 1, 5, 3, 5, 99}, 4), (std::vector<float>{1, 2, -1, -0.5f, -2, 1}));
  EXPECT_EQ(after(options, {0, 1}, 0), kPlain);
}

TEST(Rules, NoNgramOfTheSource) {
  RuleOptions options;
  options.sourceNgram = 2;
  options.sources = {{4}, {5, 1, 2, 9, 1, 4}};
  auto scored = [&](int64_t row, const Ids &text) {
    std::vector<float> scores = kPlain;
    Rules rules(options, 10, row, {0, 5, 3});
    EXPECT_TRUE(rules.any());
    rules.apply(text, 1, scores.data(), int64_t(scores.size()));
    return scores;
  };
  EXPECT_EQ(scored(1, {3, 1}), (std::vector<float>{1, 2, kNever, 0.5f, kNever, 3}));
  EXPECT_EQ(scored(1, {1, 2}), kPlain); // 9 is no id here
  EXPECT_EQ(scored(0, {3, 1}), kPlain);
  options.sourceNgram = 3;
  EXPECT_EQ(scored(1, {1}), kPlain); // too short for a beginning
  EXPECT_EQ(scored(1, {5, 1}), (std::vector<float>{1, 2, kNever, 0.5f, -2, 3}));
  options.sourceNgram = 1;
  EXPECT_EQ(scored(0, {}), (std::vector<float>{1, 2, -1, 0.5f, kNever, 3}));
  // Without a source it is the prompt.
  options.sources.clear();
  options.sourceNgram = 2;
  EXPECT_EQ(scored(0, {5}), (std::vector<float>{1, 2, -1, kNever, -2, 3}));
}

TEST(Rules, NoNgramTwice) {
  RuleOptions options;
  options.noRepeatNgram = 2;
  EXPECT_EQ(after(options, {1, 2, 3, 1}, 1), (std::vector<float>{1, 2, kNever, 0.5f, -2, 3}));
  options.noRepeatNgram = 3;
  EXPECT_EQ(after(options, {1, 2, 3, 1}, 1), kPlain);
  EXPECT_EQ(after(options, {1, 2, 3, 4, 1, 2}, 1), (std::vector<float>{1, 2, -1, kNever, -2, 3}));
  options.noRepeatNgram = 1;
  EXPECT_EQ(after(options, {5, 0}, 1), (std::vector<float>{kNever, 2, -1, 0.5f, -2, kNever}));
}

TEST(Rules, BadWords) {
  RuleOptions options;
  options.badWords = {{5}, {1, 2, 3}, {9, 0}};
  EXPECT_EQ(after(options, {1, 2}, 0), (std::vector<float>{1, 2, -1, kNever, -2, kNever}));
  EXPECT_EQ(after(options, {2}, 0), (std::vector<float>{1, 2, -1, 0.5f, -2, kNever}));
}

TEST(Rules, LeastLength) {
  RuleOptions options;
  options.eos = {1, 5};
  options.minLength = 4;
  std::vector<float> open = {1, kNever, -1, 0.5f, -2, kNever};
  EXPECT_EQ(after(options, {0, 0, 0}, 0), open);
  EXPECT_EQ(after(options, {0, 0, 0, 0}, 0), kPlain);
  options.minLength = 0;
  options.minNewTokens = 2;
  EXPECT_EQ(after(options, {0, 0, 0, 0}, 1), open);
  EXPECT_EQ(after(options, {0, 0, 0, 0}, 2), kPlain);
}

TEST(Rules, ForcedFirstAndLast) {
  RuleOptions options;
  options.forcedFirst = 3;
  options.forcedLast = {4};
  std::vector<float> first(6, kNever), last(6, kNever);
  first[3] = last[4] = 0;
  EXPECT_EQ(after(options, {2}, 0), first);
  EXPECT_EQ(after(options, {2, 3}, 1), kPlain);
  EXPECT_EQ(after(options, {2, 3, 1}, 9), last);
}

TEST(Rules, Suppressed) {
  RuleOptions options;
  options.suppressed = {0, 100};
  options.suppressedFirst = {5};
  EXPECT_EQ(after(options, {2}, 0), (std::vector<float>{kNever, 2, -1, 0.5f, -2, kNever}));
  EXPECT_EQ(after(options, {2, 1}, 1), (std::vector<float>{kNever, 2, -1, 0.5f, -2, 3}));
  // The beginning is behind what is forced.
  options.forcedAt = {{1, 4}, {2, 3}};
  EXPECT_EQ(after(options, {2}, 0)[4], 0);
  EXPECT_EQ(after(options, {2, 4}, 1)[3], 0);
  EXPECT_EQ(after(options, {2, 4, 3}, 2)[5], kNever);
  EXPECT_EQ(after(options, {2, 4, 3, 1}, 3)[5], 3);
}

TEST(Rules, OneOfAFew) {
  RuleOptions options;
  options.onlyAt[1] = {2, 3, 77};
  EXPECT_EQ(after(options, {0}, 0), (std::vector<float>{kNever, kNever, -1, 0.5f, kNever, kNever}));
  EXPECT_EQ(after(options, {0, 0}, 1), kPlain);
}

} // namespace
