//===- BeamsTest.cpp - Beam search ----------------------------------------===//
//
// Log-probabilities that are a function of the text, searched with as many
// beams as there are texts (then the best of all must come out), with one (then
// it is greedy), and where a greedy first word leads astray.
//
//===----------------------------------------------------------------------===//
#include "runtime/Generate/Beams.h"
#include "runtime/Generate/Generate.h"
#include "test/Runtime/Fake.h"
#include "test/Runtime/Files.h"

#include <cmath>
#include <functional>
#include <gtest/gtest.h>

using namespace heddle;
using namespace heddle::rt;
using Ids = std::vector<int64_t>;

namespace {

constexpr int64_t kWords = 4, kEnd = 0;

/// Any text has some opinion on what follows.
std::vector<float> opinion(const Ids &text) {
  uint64_t hash = 7;
  for (size_t i = 0; i < text.size(); ++i)
    hash = fake::mix(hash, text[i], int64_t(i));
  std::vector<float> scores;
  for (int64_t id = 0; id < kWords; ++id)
    scores.push_back(float(fake::mix(hash, id, 99) % 1000) / 250);
  logSoftmax(scores.data(), kWords);
  return scores;
}

Ids searched(const BeamOptions &options, int64_t steps, const Ids &eos) {
  BeamSearch search(options, eos, steps);
  while (!search.done()) {
    std::vector<std::vector<float>> scores;
    for (const Ids &text : search.texts())
      scores.push_back(opinion(text));
    search.step(scores, kWords);
  }
  return search.best();
}

/// The best of all texts by the score of a finished one.
Ids best(int64_t steps, double penalty, bool ends) {
  Ids winner;
  double most = -1e30;
  std::function<void(Ids, double)> grow = [&](Ids text, double sum) {
    bool ended = ends && !text.empty() && text.back() == kEnd;
    if (ended || int64_t(text.size()) == steps) {
      double score = sum / std::pow(double(text.size()), penalty);
      if (score > most) {
        most = score;
        winner = text;
      }
      return;
    }
    std::vector<float> scores = opinion(text);
    for (int64_t id = 0; id < kWords; ++id) {
      text.push_back(id);
      grow(text, sum + scores[id]);
      text.pop_back();
    }
  };
  grow({}, 0);
  return winner;
}

TEST(Beams, EnoughBeamsFindTheBest) {
  for (double penalty : {0.0, 1.0, 2.0}) {
    BeamOptions options;
    options.width = 256;
    options.lengthPenalty = penalty;
    options.early = EarlyStopping::Never;
    EXPECT_EQ(searched(options, 4, {}), best(4, penalty, false)) << penalty;
  }
}

TEST(Beams, OneBeamIsGreedy) {
  BeamOptions options;
  Ids text;
  for (int i = 0; i < 6; ++i) {
    std::vector<float> scores = opinion(text);
    text.push_back(std::max_element(scores.begin(), scores.end()) - scores.begin());
  }
  EXPECT_EQ(searched(options, 6, {}), text);
}

/// Written out: after nothing a (0.6) or b (0.4); after a three words of a
/// third each; after b the end for sure.
TEST(Beams, LooksPastTheFirstWord) {
  auto step = [](BeamSearch &search) {
    std::vector<std::vector<float>> scores;
    for (const Ids &text : search.texts()) {
      std::vector<float> p = {0, 0.6f, 0.4f, 0};
      if (!text.empty() && text[0] == 1)
        p = {0, 1 / 3.f, 1 / 3.f, 1 / 3.f};
      else if (!text.empty())
        p = {1, 0, 0, 0};
      for (float &x : p)
        x = std::log(x);
      scores.push_back(p);
    }
    search.step(scores, kWords);
  };
  BeamOptions options;
  options.width = 2;
  options.lengthPenalty = 0;
  BeamSearch search(options, {kEnd}, 2);
  step(search);
  EXPECT_EQ(search.from(), (Ids{0, 0}));
  EXPECT_EQ(search.next(), (Ids{1, 2}));
  step(search);
  EXPECT_TRUE(search.done());
  EXPECT_EQ(search.best(), (Ids{2, kEnd}));
}

TEST(Beams, EarlyStoppingDecidesWhenItEnds) {
  // Ends are possible from the first word on; `Yes` takes the first two.
  auto steps = [](EarlyStopping early) {
    BeamOptions options;
    options.width = 2;
    options.early = early;
    BeamSearch search(options, {kEnd}, 50);
    int count = 0;
    while (!search.done()) {
      ++count;
      std::vector<float> p = {std::log(0.4f), std::log(0.35f), std::log(0.25f), -INFINITY};
      search.step({p, p}, kWords);
    }
    return count;
  };
  EXPECT_EQ(steps(EarlyStopping::Yes), 2);
  EXPECT_GE(steps(EarlyStopping::No), steps(EarlyStopping::Yes));
  EXPECT_GT(steps(EarlyStopping::Never), steps(EarlyStopping::No));
}

//===----------------------------------------------------------------------===//
// The same in a model: states and texts must follow the beams.

Ids generated(const Image &image, const Tensor &input, int64_t width, int64_t steps) {
  test::TemporaryFile file;
  EXPECT_TRUE(writeTensors(file.path(), {&input}).ok());
  Model model;
  Prompt prompt;
  Ids made;
  GenerateOptions options;
  options.newTokens = steps;
  options.beams.width = width;
  EXPECT_TRUE(model.open(image).ok());
  TensorFile tensors;
  EXPECT_TRUE(tensors.open(file.path()).ok());
  Status status = promptFromFile(model, tensors, prompt);
  if (status.ok())
    status = model.start(2);
  if (status.ok())
    status = generate(model, prompt, options, made);
  EXPECT_TRUE(status.ok()) << status.message();
  return made;
}

TEST(Beams, CachedEqualsRecomputed) {
  Tensor ids = test::makeTensor("input_ids", {1, 3}, {1, 2, 4});
  for (int64_t width : {2, 3, 4})
    EXPECT_EQ(generated(fake::decoderOnly(), ids, width, 10), generated(fake::recomputing(), ids, width, 10)) << width;
}

TEST(Beams, RowsDoNotSeeEachOther) {
  Tensor both = test::makeTensor("input_ids", {2, 4}, {1, 2, 3, 4, 9, 8, 6, 5});
  Ids all = generated(fake::encoderDecoder(), both, 3, 8);
  Tensor first = test::makeTensor("input_ids", {1, 4}, {1, 2, 3, 4});
  Tensor second = test::makeTensor("input_ids", {1, 4}, {9, 8, 6, 5});
  Ids one = generated(fake::encoderDecoder(), first, 3, 8), two = generated(fake::encoderDecoder(), second, 3, 8);
  one.insert(one.end(), two.begin(), two.end());
  EXPECT_EQ(all, one);
}

} // namespace
