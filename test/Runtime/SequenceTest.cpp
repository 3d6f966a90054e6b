//===- SequenceTest.cpp - Sequences that grow and go back -----------------===//
//
// What was grown and what went back, against the same text computed at once: bits of the logits.
//
//===----------------------------------------------------------------------===//
#include "runtime/Generate/Sequence.h"
#include "test/Runtime/Fake.h"
#include "test/Runtime/Files.h"

#include <gtest/gtest.h>

using namespace heddle;
using namespace heddle::rt;
using Ids = std::vector<int64_t>;
using Rows = std::vector<Ids>;

namespace {

constexpr int64_t kRoom = 14; ///< columns of every sequence here

/// One sequence and what it lives on.
struct Text {
  Model model;
  Prompt prompt;
  Sequence sequence;

  /// Computes `ids`; a column is seen where `mask` has 1, all if it is empty.
  Text(const Image &image, const Rows &ids, const Rows &mask = {}, int64_t room = kRoom, int64_t longestCall = 0,
       const std::function<bool()> &goesOn = {}) {
    test::TemporaryFile file;
    Status status = model.open(image);
    const Roles &roles = model.card().roles;
    Tensor tokens = matrix(roles.tokens, ids), seen = mask.empty() ? Tensor() : matrix(roles.mask, mask);
    Tensor source = matrix(roles.source, Rows(ids.size(), {5, 6, 9}));
    std::vector<const Tensor *> inputs = {&tokens};
    if (!mask.empty())
      inputs.push_back(&seen);
    if (!roles.source.empty())
      inputs.push_back(&source);
    EXPECT_TRUE(status.ok() && writeTensors(file.path(), inputs).ok());
    TensorFile tensors;
    status = tensors.open(file.path());
    if (status.ok())
      status = promptFromFile(model, tensors, prompt);
    if (status.ok())
      status = model.start(2);
    if (status.ok())
      status = sequence.prepare(model, prompt, room - prompt.length + 1, longestCall);
    if (status.ok())
      status = sequence.prefill(goesOn);
    EXPECT_TRUE(status.ok()) << status.message();
  }

  static Tensor matrix(const std::string &name, const Rows &rows) {
    Ids all;
    for (const Ids &row : rows)
      all.insert(all.end(), row.begin(), row.end());
    return test::makeTensor(name, {int64_t(rows.size()), int64_t(rows[0].size())}, all);
  }
  /// Appends `more`, as many columns a call as `piece` says.
  void grow(const Rows &more, int64_t piece) {
    auto count = int64_t(more[0].size());
    for (int64_t at = 0; at < count; at += piece) {
      Ids ids;
      for (const Ids &row : more)
        ids.insert(ids.end(), row.begin() + at, row.begin() + std::min(at + piece, count));
      Status status = sequence.grow(ids);
      EXPECT_TRUE(status.ok()) << status.message();
    }
  }
  int64_t rewind(int64_t wanted) {
    int64_t kept = -1;
    EXPECT_TRUE(sequence.rewind(wanted, kept).ok());
    EXPECT_EQ(kept, sequence.length());
    return kept;
  }
  std::vector<float> logits() const {
    std::vector<float> all;
    for (int64_t row = 0; row < sequence.rows(); ++row)
      all.insert(all.end(), sequence.logitsOf(row), sequence.logitsOf(row) + sequence.vocabulary());
    return all;
  }
};

Rows columns(const Rows &rows, int64_t begin, int64_t end) {
  Rows part;
  for (const Ids &row : rows)
    part.emplace_back(row.begin() + begin, row.begin() + end);
  return part;
}

/// Rows of their own length, padded on the left.
const Rows kIds = {{1, 2, 4, 5, 6, 21, 22, 23, 24, 25, 26},
                   {3, 3, 9, 10, 12, 31, 32, 33, 34, 35, 36},
                   {3, 3, 3, 3, 20, 41, 42, 43, 44, 45, 46}};
const Rows kMask = {
    {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, {0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1}, {0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1}};
const Rows kOthers = {
    {13, 14, 15, 16, 17, 18, 19, 8, 9}, {23, 24, 25, 26, 27, 28, 29, 10, 11}, {33, 34, 35, 36, 37, 38, 39, 12, 13}};

std::vector<Image> images() { return {fake::appending(), fake::decoderOnly(), fake::recomputing()}; }

TEST(Sequence, GrownIsComputedAtOnce) {
  for (const Image &image : images())
    for (int64_t piece : {1, 2, 3, 6}) {
      Text at(image, kIds, kMask), grown(image, columns(kIds, 0, 5), columns(kMask, 0, 5));
      grown.grow(columns(kIds, 5, 11), piece);
      EXPECT_EQ(grown.logits(), at.logits()) << piece;
      // A row without padding, from its first token on.
      Text one(image, {kIds[0]}), first(image, {{1}});
      first.grow(columns({kIds[0]}, 1, 11), piece);
      EXPECT_EQ(first.logits(), one.logits()) << piece;
    }
}

TEST(Sequence, GrowsBehindPaddingOnTheRight) {
  Rows ids = {{1, 2, 4}, {9, 3, 3}}, mask = {{1, 1, 1}, {1, 0, 0}}, more = {{5, 6}, {10, 12}};
  for (const Image &image : images()) {
    Text grown(image, ids, mask), left(image, {{1, 2, 4, 5, 6}, {3, 3, 9, 10, 12}}, {{1, 1, 1, 1, 1}, {0, 0, 1, 1, 1}});
    grown.grow(more, 2);
    EXPECT_EQ(grown.logits(), left.logits());
  }
}

TEST(Sequence, PromptInShorterCalls) {
  for (const Image &image : images()) {
    Text at(image, kIds, kMask);
    for (int64_t most : {1, 2, 5, 11, 20}) {
      fake::longestCall = 0;
      Text pieces(image, kIds, kMask, kRoom, most);
      EXPECT_EQ(pieces.logits(), at.logits()) << most;
      // A step that may ask for the whole text takes it at once; a model without a step does not count its calls.
      if (image.entries != fake::recomputing().entries)
        EXPECT_EQ(fake::longestCall, image.entries == fake::appending().entries ? std::min<int64_t>(most, 11) : 11);
    }
  }
}

TEST(Sequence, PromptIsLeft) {
  int asked = 0;
  fake::calls = 0;
  Text left(fake::appending(), kIds, kMask, kRoom, 3, [&] { return ++asked < 2; });
  EXPECT_FALSE(left.sequence.hasLogits());
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(fake::calls, 2);
  EXPECT_TRUE(left.sequence.reset().ok() && left.sequence.prefill().ok());
  EXPECT_EQ(left.logits(), Text(fake::appending(), kIds, kMask).logits());
}

TEST(Sequence, WentBackIsComputedAnew) {
  for (const Image &image : images())
    for (int64_t to = 0; to <= 11; ++to)
      for (int64_t piece : {1, 4}) {
        // What was behind was another text, up to the last column that there is room for.
        Text back(image, columns(kIds, 0, 6), columns(kMask, 0, 6));
        back.grow(columns(kIds, 6, 11), 5);
        int64_t kept = back.rewind(to);
        bool all = image.entries == fake::decoderOnly().entries && to < 11;
        EXPECT_EQ(kept, all ? 0 : to);
        // What was kept has its mask; what is grown is seen.
        Rows ids = columns(kIds, 0, kept), mask = columns(kMask, 0, kept), more = columns(kOthers, 0, 3);
        for (size_t row = 0; row < ids.size(); ++row) {
          ids[row].insert(ids[row].end(), more[row].begin(), more[row].end());
          mask[row].insert(mask[row].end(), 3, 1);
        }
        back.grow(more, piece);
        Text anew(image, ids, mask);
        EXPECT_EQ(back.logits(), anew.logits()) << "to " << to << ", pieces of " << piece;
      }
}

TEST(Sequence, GoesBackAgainAndAgain) {
  for (const Image &image : images()) {
    Text talk(image, {{1}});
    Ids held = {1};
    uint64_t random = 7;
    for (int i = 0; i < 200; ++i) {
      random = fake::mix(random, i, 0);
      int64_t kept = talk.rewind(std::min<int64_t>(int64_t(random % (held.size() + 1)), kRoom - 1));
      held.resize(size_t(kept));
      Ids more;
      for (uint64_t n = 1 + (random >> 8) % uint64_t(kRoom - kept); n; --n)
        more.push_back((int64_t(random = fake::mix(random, i, 1)) & 31) + fake::kPad + 1); // none of padding
      talk.grow({more}, 1 + int64_t(random >> 60));
      held.insert(held.end(), more.begin(), more.end());
      Text anew(image, {held});
      ASSERT_EQ(talk.logits(), anew.logits()) << i;
    }
  }
}

TEST(Sequence, ARingThatHasTurnedBeginsAnew) {
  constexpr int64_t room = 20; // texts beyond 16 come in pieces of 2
  Text talk(fake::inPieces(), {{1, 2, 4, 5, 6}}, {}, room);
  Ids more = {8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19};
  fake::longestCall = 0;
  talk.grow({more}, 12);
  EXPECT_EQ(fake::longestCall, 2);
  EXPECT_EQ(talk.rewind(16), 0);
  talk.grow({{20, 21, 22}}, 3);
  Text anew(fake::inPieces(), {{20, 21, 22}}, {}, room);
  EXPECT_EQ(talk.logits(), anew.logits());
}

TEST(Sequence, TheSourceStays) {
  Text talk(fake::encoderDecoder(), {{11, 2, 4}}), anew(fake::encoderDecoder(), {{11, 5, 6}});
  talk.grow({{9, 10}}, 2);
  EXPECT_EQ(talk.rewind(1), 0); // its hash is no row of tokens
  talk.grow({{11, 5, 6}}, 3);
  EXPECT_EQ(talk.logits(), anew.logits());
}

TEST(Sequence, OnlyAsFarAsThereIsRoom) {
  Text talk(fake::appending(), {{1, 2, 4}});
  int64_t kept = 0;
  EXPECT_FALSE(talk.sequence.grow({}).ok());
  EXPECT_FALSE(talk.sequence.grow(Ids(kRoom - 2, 1)).ok());
  EXPECT_FALSE(talk.sequence.rewind(4, kept).ok());
  EXPECT_FALSE(talk.sequence.rewind(-1, kept).ok());
  EXPECT_EQ(talk.sequence.length(), 3);
  talk.grow({Ids(kRoom - 3, 1)}, kRoom);
  EXPECT_EQ(talk.sequence.length(), kRoom);
}

} // namespace
