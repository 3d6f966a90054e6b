//===- GenerateTest.cpp - Generation on models written by hand ------------===//
//
// Every way a batch can come in, against each row alone.
//
//===----------------------------------------------------------------------===//
#include "runtime/Generate/Generate.h"
#include "test/Runtime/Fake.h"
#include "test/Runtime/Files.h"

#include <gtest/gtest.h>

using namespace heddle;
using namespace heddle::rt;
using Ids = std::vector<int64_t>;

namespace {

constexpr int64_t kSteps = 12;

/// A batch as `generate --input` sees it; returns the new ids, row after row.
Ids generated(const Image &image, const std::vector<const Tensor *> &inputs, Status *failure = nullptr,
              int64_t steps = kSteps, bool ignoreEos = false, unsigned threads = 2, GenerateOptions options = {}) {
  test::TemporaryFile file;
  EXPECT_TRUE(writeTensors(file.path(), inputs).ok());
  Model model;
  Prompt prompt;
  Ids made;
  Status status = model.open(image);
  TensorFile tensors;
  if (status.ok())
    status = tensors.open(file.path());
  if (status.ok())
    status = promptFromFile(model, tensors, prompt);
  if (status.ok())
    status = model.start(threads);
  options.newTokens = steps;
  options.ignoreEos = ignoreEos;
  if (status.ok())
    status = generate(model, prompt, options, made);
  if (failure)
    *failure = status;
  else
    EXPECT_TRUE(status.ok()) << status.message();
  return made;
}

Tensor matrix(const char *name, const std::vector<Ids> &rows) {
  Ids all;
  for (const Ids &row : rows)
    all.insert(all.end(), row.begin(), row.end());
  return test::makeTensor(name, {int64_t(rows.size()), int64_t(rows[0].size())}, all);
}

/// What the rows alone give, filled up with pad.
Ids expected(const std::vector<Ids> &rows, int64_t steps = kSteps, uint64_t seed = 0) {
  Ids all;
  for (const Ids &row : rows) {
    Ids made = fake::continuation(seed, row, steps);
    made.resize(steps, fake::kPad);
    all.insert(all.end(), made.begin(), made.end());
  }
  return all;
}

const std::vector<Ids> kRows = {{1, 2, 4, 5, 6}, {9, 10, 12}, {20, 21, 22, 23}};

struct Padded {
  Tensor ids, mask;
};

Padded padded(bool left) {
  std::vector<Ids> ids, mask;
  for (const Ids &row : kRows) {
    Ids a = row, m(row.size(), 1);
    size_t pads = 5 - row.size();
    a.insert(left ? a.begin() : a.end(), pads, fake::kPad);
    m.insert(left ? m.begin() : m.end(), pads, 0);
    ids.push_back(a);
    mask.push_back(m);
  }
  return {matrix("input_ids", ids), matrix("attention_mask", mask)};
}

TEST(Generate, InPieces) {
  for (int64_t steps : {kSteps, kSteps + 1}) {
    Padded batch = padded(true);
    fake::calls = 0;
    fake::longestCall = 0;
    // 5 columns and all new ones but the last: 16, 17.
    EXPECT_EQ(generated(fake::inPieces(), {&batch.ids, &batch.mask}, nullptr, steps, /*ignoreEos=*/true).size(),
              size_t(3 * steps));
    EXPECT_EQ(fake::longestCall, steps == kSteps ? 5 : 2);
    EXPECT_EQ(fake::calls, int(steps == kSteps ? steps : steps + 2));
    EXPECT_EQ(generated(fake::inPieces(), {&batch.ids, &batch.mask}, nullptr, steps), expected(kRows, steps));
  }
}

TEST(Generate, PromptInShorterCalls) {
  Padded batch = padded(true);
  GenerateOptions options;
  options.longestCall = 2;
  fake::longestCall = 0;
  Ids made = generated(fake::appending(), {&batch.ids, &batch.mask}, nullptr, kSteps, false, 2, options);
  EXPECT_EQ(made, expected(kRows));
  EXPECT_EQ(fake::longestCall, 2);
  // Nobody waits any more: one call, and no token.
  int steps = 0;
  options.goesOn = [] { return false; };
  options.onStep = [&](const Ids &) { return ++steps > 0; };
  fake::calls = 0;
  made = generated(fake::appending(), {&batch.ids, &batch.mask}, nullptr, kSteps, false, 2, options);
  EXPECT_EQ(made, Ids(3 * kSteps, fake::kPad));
  EXPECT_EQ(steps, 0);
  EXPECT_EQ(fake::calls, 1);
}

TEST(Generate, OneRow) {
  for (const Image &image : {fake::decoderOnly(), fake::recomputing()}) {
    Tensor ids = matrix("input_ids", {kRows[0]});
    EXPECT_EQ(generated(image, {&ids}), expected({kRows[0]}));
  }
}

TEST(Generate, PaddingOnEitherSide) {
  for (const Image &image : {fake::decoderOnly(), fake::recomputing()})
    for (bool left : {true, false}) {
      Padded batch = padded(left);
      EXPECT_EQ(generated(image, {&batch.ids, &batch.mask}), expected(kRows)) << (left ? "left" : "right");
    }
}

/// The id of padding makes the mask; within a text it is a token.
TEST(Generate, PaddingWithoutMask) {
  for (const Image &image : {fake::decoderOnly(), fake::recomputing()})
    for (bool left : {true, false}) {
      Padded batch = padded(left);
      EXPECT_EQ(generated(image, {&batch.ids}), expected(kRows)) << (left ? "left" : "right");
      Tensor within = matrix("input_ids", {{1, fake::kPad, 4}});
      EXPECT_EQ(generated(image, {&within}), expected({{1, fake::kPad, 4}}));
    }
}

/// A model that takes no mask, and whose positions are those of the columns: rows of one length go together.
TEST(Generate, TextsOfDifferentLengthsWithoutMask) {
  const std::vector<Ids> sources = {{1, 2}, {5, 6}, {9, 4}, {8, 2}}, rows = {{11, 4, 5}, {11}, {11, 6}, {11}};
  for (bool left : {true, false}) {
    std::vector<Ids> ids;
    for (Ids row : rows) {
      row.insert(left ? row.begin() : row.end(), 3 - row.size(), fake::kPad);
      ids.push_back(row);
    }
    Tensor source = matrix("input_ids", sources), targets = matrix("decoder_input_ids", ids);
    Ids wanted;
    std::vector<std::pair<int64_t, Ids>> asked;
    for (size_t row = 0; row < rows.size(); ++row) {
      uint64_t hash = fake::sourceSeed(sources[row]);
      for (size_t i = 0; i < rows[row].size(); ++i)
        hash = fake::mix(hash, rows[row][i], int64_t(i));
      for (int64_t i = 0; i < 6; ++i) {
        wanted.push_back(fake::pick(hash));
        hash = fake::mix(hash, wanted.back(), int64_t(rows[row].size()) + i);
      }
    }
    GenerateOptions options;
    options.ended = [&](int64_t row, const Ids &made) {
      asked.emplace_back(row, made);
      return false;
    };
    EXPECT_EQ(generated(fake::encoderDecoder(), {&source, &targets}, nullptr, 6, true, 2, options), wanted) << left;
    // Rows are asked about by their own numbers, and draw as they do in any company.
    for (const auto &[row, made] : asked)
      EXPECT_EQ(made, Ids(wanted.begin() + row * 6, wanted.begin() + row * 6 + int64_t(made.size())));
    options.sampler = {};
    options.sampler.temperature = 1.5;
    Ids drawn = generated(fake::encoderDecoder(), {&source, &targets}, nullptr, 6, true, 2, options);
    Tensor sources1 = matrix("input_ids", {sources[1], sources[1]}),
           one = matrix("decoder_input_ids", {rows[1], rows[1]});
    Ids second = generated(fake::encoderDecoder(), {&sources1, &one}, nullptr, 6, true, 2, options);
    EXPECT_EQ(Ids(drawn.begin() + 6, drawn.begin() + 12), Ids(second.begin() + 6, second.end()));
    options.beams.width = 3;
    Ids searched = generated(fake::encoderDecoder(), {&source, &targets}, nullptr, 6, true, 2, options);
    Tensor source0 = matrix("input_ids", {sources[0]}), row0 = matrix("decoder_input_ids", {rows[0]});
    EXPECT_EQ(Ids(searched.begin(), searched.begin() + 6),
              generated(fake::encoderDecoder(), {&source0, &row0}, nullptr, 6, true, 2, options));
  }
}

TEST(Generate, PromptStaysAsGiven) {
  Padded batch = padded(false);
  test::TemporaryFile file;
  ASSERT_TRUE(writeTensors(file.path(), {&batch.ids, &batch.mask}).ok());
  Model model;
  Prompt prompt;
  ASSERT_TRUE(model.open(fake::decoderOnly()).ok());
  TensorFile tensors;
  ASSERT_TRUE(tensors.open(file.path()).ok());
  ASSERT_TRUE(promptFromFile(model, tensors, prompt).ok());
  auto *ids = batch.ids.data.as<int64_t>();
  EXPECT_EQ(prompt.ids, Ids(ids, ids + 15));
}

TEST(Generate, EosEndsRowsOnTheirOwn) {
  // Some start must meet an eos soon; others must not notice.
  std::vector<Ids> rows;
  for (int64_t a = 0; a < fake::kVocab && rows.size() < 2; ++a) {
    Ids made = fake::continuation(0, {a, 1}, kSteps);
    bool ends = made.size() < size_t(kSteps) && made.size() > 1;
    if (ends == rows.empty())
      rows.push_back({a, 1});
  }
  ASSERT_EQ(rows.size(), 2u);
  Tensor ids = matrix("input_ids", rows);
  EXPECT_EQ(generated(fake::decoderOnly(), {&ids}), expected(rows));
  Ids all = generated(fake::decoderOnly(), {&ids}, nullptr, kSteps, true);
  size_t end = fake::continuation(0, rows[0], kSteps).size();
  EXPECT_EQ(all[end - 1], fake::kEos);
  EXPECT_NE(Ids(all.begin() + end, all.begin() + kSteps), Ids(kSteps - end, fake::kPad));
}

TEST(Generate, BatchEndsWithItsLastRow) {
  std::vector<Ids> rows;
  for (int64_t a = 0; a < fake::kVocab && rows.empty(); ++a)
    if (fake::continuation(0, {a, 2}, 20).size() < 10)
      rows.push_back({a, 2});
  ASSERT_EQ(rows.size(), 1u);
  fake::calls = 0;
  Tensor ids = matrix("input_ids", rows);
  EXPECT_EQ(generated(fake::decoderOnly(), {&ids}, nullptr, 20), expected(rows, 20));
  EXPECT_EQ(size_t(fake::calls), fake::continuation(0, rows[0], 20).size());
}

TEST(Generate, Refill) {
  fake::refillAt = 9;
  fake::calls = 0;
  Padded batch = padded(true);
  EXPECT_EQ(generated(fake::decoderOnly(), {&batch.ids, &batch.mask}, nullptr, kSteps, true),
            generated(fake::recomputing(), {&batch.ids, &batch.mask}, nullptr, kSteps, true));
  fake::refillAt = -1;
}

TEST(Generate, ExtendsOtherInputs) {
  Tensor ids = matrix("input_ids", {kRows[0]});
  Tensor types = matrix("token_type_ids", {{1, 1, 1, 2, 2}});
  EXPECT_EQ(generated(fake::decoderOnly(), {&ids, &types}), expected({kRows[0]}));
}

TEST(Generate, PositionsOfThePromptContinue) {
  Tensor ids = matrix("input_ids", {{4, 5}});
  Tensor positions = matrix("position_ids", {{10, 11}});
  Ids made = generated(fake::decoderOnly(), {&ids, &positions}, nullptr, 3, true);
  uint64_t hash = fake::mix(fake::mix(0, 4, 10), 5, 11);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(made[i], fake::pick(hash));
    hash = fake::mix(hash, made[i], 12 + i);
  }
}

TEST(Generate, EncoderDecoder) {
  std::vector<Ids> sources = {{1, 2, 3, 4}, {5, 6, 0, 0}};
  Tensor source = matrix("input_ids", sources);
  Tensor mask = matrix("attention_mask", {{1, 1, 1, 1}, {1, 1, 0, 0}});
  Ids made = generated(fake::encoderDecoder(), {&source, &mask}, nullptr, 6, true);
  std::vector<Ids> real = {{1, 2, 3, 4}, {5, 6}};
  for (int row = 0; row < 2; ++row) {
    uint64_t hash = fake::mix(fake::sourceSeed(real[row]), fake::kStart, 0);
    for (int i = 0; i < 6; ++i) {
      ASSERT_EQ(made[row * 6 + i], fake::pick(hash));
      hash = fake::mix(hash, made[row * 6 + i], i + 1);
    }
  }
  // A start that the file brings.
  Tensor start = matrix("decoder_input_ids", {{11, 4}, {11, 5}});
  Ids longer = generated(fake::encoderDecoder(), {&source, &mask, &start}, nullptr, 1, true);
  uint64_t hash = fake::mix(fake::sourceSeed({5, 6}), 11, 0);
  EXPECT_EQ(longer[1], fake::pick(fake::mix(hash, 5, 1)));
}

TEST(Generate, SameIdsWithAnyThreads) {
  Padded batch = padded(false);
  Ids one = generated(fake::decoderOnly(), {&batch.ids, &batch.mask}, nullptr, kSteps, true, 1);
  for (unsigned threads : {2, 3, 8})
    EXPECT_EQ(one, generated(fake::decoderOnly(), {&batch.ids, &batch.mask}, nullptr, kSteps, true, threads));
}

TEST(Generate, Refusals) {
  Status status;
  Tensor ids = matrix("input_ids", {kRows[0]});
  // 5 + 40 tokens are past 32.
  generated(fake::decoderOnly(), {&ids}, &status, 40);
  EXPECT_EQ(status.exit(), heddle::Exit::Input);
  EXPECT_NE(status.message().find("32"), std::string::npos) << status.message();
  // As many as fit.
  generated(fake::decoderOnly(), {&ids}, &status, 28);
  EXPECT_TRUE(status.ok()) << status.message();
  Tensor wrong = matrix("input_ids", {{1, 77}});
  generated(fake::decoderOnly(), {&wrong}, &status);
  EXPECT_NE(status.message().find("id 77 is outside a table of 50 rows"), std::string::npos);
  Tensor many = matrix("input_ids", std::vector<Ids>(5, Ids{1}));
  generated(fake::decoderOnly(), {&many}, &status);
  EXPECT_NE(status.message().find("B = 5"), std::string::npos) << status.message();
  Tensor mask = matrix("attention_mask", {{1, 1}});
  generated(fake::decoderOnly(), {&mask}, &status);
  EXPECT_NE(status.message().find("`input_ids`"), std::string::npos) << status.message();
  Tensor odd = matrix("attention_mask", {{1, 1}});
  generated(fake::decoderOnly(), {&ids, &odd}, &status);
  EXPECT_NE(status.message().find("T is"), std::string::npos) << status.message();
}

/// However a token would be chosen, and even where a rule forbids that one.
TEST(Generate, ALogitThatIsNaNIsAnError) {
  Tensor ids = matrix("input_ids", {kRows[0]});
  fake::nanId = 17;
  GenerateOptions greedy, sampled, beams, ruled, forced;
  sampled.sampler.temperature = 1;
  beams.beams.width = 2;
  ruled.rules.suppressed = {17};
  forced.rules.forcedAt[5] = 4;
  for (const GenerateOptions &options : {greedy, sampled, beams, ruled, forced})
    for (const Image &image : {fake::decoderOnly(), fake::recomputing()}) {
      Status status;
      generated(image, {&ids}, &status, 3, true, 2, options);
      EXPECT_EQ(status.exit(), heddle::Exit::Input);
      EXPECT_EQ(status.message(), "the logit of id 17 is NaN, for new token 1 "
                                  "of row 0: no token can be chosen");
    }
  fake::nanId = -1;
}

TEST(Generate, NoNewTokens) {
  Tensor ids = matrix("input_ids", {kRows[0]});
  EXPECT_TRUE(generated(fake::decoderOnly(), {&ids}, nullptr, 0).empty());
}

} // namespace
