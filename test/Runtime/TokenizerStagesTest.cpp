//===- TokenizerStagesTest.cpp - Stages alone -----------------------------===//
//
// One stage at a time around a model that knows no text, whose unknown pieces
// show what they cover. All expected values are what the tokenizers library
// (0.23.2) gives.
//
//===----------------------------------------------------------------------===//
#include "compiler/Tokenizer/TokenizerBlob.h"
#include "runtime/Tokenizer/Tokenizer.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <random>

using namespace heddle;
using namespace heddle::rt;
using Json = nlohmann::json;
using Texts = std::vector<std::string>;

namespace {

struct Made {
  std::string blob, error;
  Tokenizer tokenizer;

  explicit Made(const Json &file) {
    if (!tokenizerBlobFromText(file.dump(), "file", blob, error)) {
      ADD_FAILURE() << error;
      return;
    }
    Status status = tokenizer.open(reinterpret_cast<const unsigned char *>(blob.data()), blob.size());
    EXPECT_TRUE(status.ok()) << status.message();
  }

  Texts pieces(const std::string &text) {
    Encoded encoded;
    Status status = tokenizer.encode(text, nullptr, true, encoded);
    if (!status.ok())
      return {"error: " + status.message()};
    Texts list;
    for (const Token &token : encoded.tokens)
      list.emplace_back(tokenizer.textOf(encoded, token));
    return list;
  }
};

Texts cut(const Json &splitter, const std::string &text, const Json &normalizer = nullptr) {
  return Made(Json{{"normalizer", normalizer},
                   {"pre_tokenizer", splitter},
                   {"model",
                    {{"type", "Unigram"}, {"unk_id", 0}, {"vocab", Json::array({Json::array({"<unk>", 0.0})})}}}})
      .pieces(text);
}

Texts cutBy(const std::string &pattern, const std::string &text) {
  return cut({{"type", "Split"}, {"pattern", {{"Regex", pattern}}}, {"behavior", "Isolated"}, {"invert", false}}, text);
}

std::string decoded(const Json &decoder, const Texts &pieces) {
  Json vocab = {{"?", 0}};
  std::vector<int64_t> ids;
  for (const std::string &piece : pieces) {
    if (!vocab.contains(piece))
      vocab[piece] = vocab.size();
    ids.push_back(vocab[piece]);
  }
  return Made(Json{{"decoder", decoder}, {"model", {{"type", "WordLevel"}, {"unk_token", "?"}, {"vocab", vocab}}}})
      .tokenizer.decode(ids, false);
}

/// A match of nothing cuts too: digits are grouped from the right so.
TEST(TokenizerPatterns, MatchesOfNothing) {
  EXPECT_EQ(cutBy("(?=(\\d{3})+(?!\\d))", "a1234567b"), (Texts{"a1", "234", "567b"}));
  EXPECT_EQ(cutBy("(?<=[a-z])(?=[A-Z])", "camelCaseWord"), (Texts{"camel", "Case", "Word"}));
  EXPECT_EQ(cut(nullptr, "123", {{"type", "Replace"}, {"pattern", {{"Regex", "(?=2)"}}}, {"content", "_"}}),
            (Texts{"1_23"}));
}

TEST(TokenizerPatterns, Positions) {
  EXPECT_EQ(cutBy("(?<!\\d)\\d", "a12 3"), (Texts{"a", "1", "2 ", "3"}));
  EXPECT_EQ(cutBy("\\bx", "x ax x"), (Texts{"x", " ax ", "x"}));
  EXPECT_EQ(cutBy("\\A\\s", "  a"), (Texts{" ", " a"}));
  EXPECT_EQ(cutBy("\\s\\Z", "a \n"), (Texts{"a", " ", "\n"}));
}

TEST(TokenizerPatterns, Sets) {
  EXPECT_EQ(cutBy("\\p{Han}+", "a漢字かb"), (Texts{"a", "漢字", "かb"}));
  EXPECT_EQ(cutBy("[[:punct:]]", "a+b, c"), (Texts{"a", "+", "b", ",", " c"}));
  EXPECT_EQ(cutBy("[^[:^alpha:]]+", "ab1é"), (Texts{"ab", "1", "é"}));
  EXPECT_EQ(cutBy("[\\p{L}&&[^a-c]]+", "abcdéa"), (Texts{"abc", "dé", "a"}));
  EXPECT_EQ(cutBy("\\w+", "a²½ b"), (Texts{"a²½", " ", "b"}));
  EXPECT_EQ(cutBy("\\h+", "xyz0fFg"), (Texts{"xyz", "0fF", "g"}));
  EXPECT_EQ(cutBy("\\p{Uppercase_Letter}", "aÉb"), (Texts{"a", "É", "b"}));
  EXPECT_EQ(cutBy("(?i:[^\\W\\d])+", "aB1"), (Texts{"aB", "1"}));
}

TEST(TokenizerPatterns, Groups) {
  EXPECT_EQ(cutBy("(?i)s|t", "aSbTc"), (Texts{"a", "S", "b", "T", "c"}));
  EXPECT_EQ(cutBy("(?m:a.b)", "a\nb"), (Texts{"a\nb"}));
  EXPECT_EQ(cutBy("a(?#note)b", "cabc"), (Texts{"c", "ab", "c"}));
  EXPECT_EQ(cutBy("(?<n>b)c", "abcd"), (Texts{"a", "bc", "d"}));
}

TEST(TokenizerStages, Splitters) {
  EXPECT_EQ(cut({{"type", "CharDelimiterSplit"}, {"delimiter", "-"}}, "a-b--c"), (Texts{"a", "b", "c"}));
  EXPECT_EQ(cut({{"type", "UnicodeScripts"}}, " どこで生れ. Yes"), (Texts{"どこで生れ", ". ", "Yes"}));
  EXPECT_EQ(cut(nullptr, "aé", {{"type", "ByteLevel"}}), (Texts{"aÃ©"}));
}

/// `first` asks where a piece was in the text that was given.
TEST(TokenizerStages, MetaspaceInFrontOfTheTextOnly) {
  Json meta = {{"type", "Metaspace"}, {"replacement", "_"}, {"prepend_scheme", "first"}, {"split", true}};
  EXPECT_EQ(cut(meta,
                "\x01"
                "ab",
                {{"type", "Nmt"}}),
            (Texts{"ab"}));
  EXPECT_EQ(cut(meta, " ab", {{"type", "Strip"}, {"strip_left", true}, {"strip_right", false}}), (Texts{"ab"}));
  auto replaced = [&](const Json &pattern, const char *text) {
    return cut(meta, text, {{"type", "Replace"}, {"pattern", pattern}, {"content", "x"}});
  };
  EXPECT_EQ(replaced({{"Regex", " {2,}"}}, "  ab"), (Texts{"xab"}));
  EXPECT_EQ(replaced({{"String", " "}}, " ab"), (Texts{"_xab"}));
  Json words = {{"type", "Sequence"}, {"pretokenizers", Json::array({{{"type", "WhitespaceSplit"}}, meta})}};
  EXPECT_EQ(cut(words, " a b"), (Texts{"a", "b"}));
  EXPECT_EQ(cut(words, "a b"), (Texts{"_a", "b"}));
}

TEST(TokenizerStages, Decoders) {
  Json ctc = {{"type", "CTC"}, {"pad_token", "<pad>"}, {"word_delimiter_token", "|"}, {"cleanup", true}};
  EXPECT_EQ(decoded(ctc, {"<pad>", "h", "h", "<pad>", "h", "|", "|", "i", "|", ".", "<pad>"}), "hh i .");
  EXPECT_EQ(decoded({{"type", "Replace"}, {"pattern", {{"Regex", "[ab]+"}}}, {"content", "_"}}, {"xab", "c", "aab"}),
            "x_c_");
  EXPECT_EQ(decoded({{"type", "Metaspace"}, {"replacement", "_"}, {"prepend_scheme", "always"}, {"split", true}},
                    {"__a_b", "_c_"}),
            "ab c ");
}

/// Behind Fuse all pieces are one, so how the text was cut into pieces does not
/// show, even inside of what a stage looks for.
TEST(TokenizerStages, CutsBehindFuseDoNotShow) {
  Json replace = {{"type", "Replace"}, {"pattern", {{"String", "aba"}}}, {"content", "x"}},
       pattern = {{"type", "Replace"}, {"pattern", {{"Regex", "b+a"}}}, {"content", "y"}},
       meta = {{"type", "Metaspace"}, {"replacement", "\u2581"}, {"prepend_scheme", "always"}, {"split", true}},
       suffix = {{"type", "BPEDecoder"}, {"suffix", "ba"}},
       strip = {{"type", "Strip"}, {"content", "a"}, {"start", 2}, {"stop", 1}},
       stripMeta = {{"type", "Strip"}, {"content", "\u2581"}, {"start", 3}, {"stop", 1}}, fuse = {{"type", "Fuse"}},
       bytes = {{"type", "ByteLevel"}};
  // The last one is in letters for bytes, three for a mark.
  const Texts texts = {"abababaabbb",
                       "cabcabababa",
                       "ab",
                       "a",
                       "aaaba",
                       "abaa",
                       "\u00e2\u0138\u0123\u00e2\u0138\u0123b\u00e2\u0138\u0123"
                       "\u00e2\u0138\u0123"};
  auto character = [](const std::string &text, size_t at, int n) {
    for (; n > 0 && at < text.size(); --n)
      for (++at; at < text.size() && (text[at] & 0xc0) == 0x80;)
        ++at;
    return at; // n characters on
  };
  Json vocab = {{"?", 0}};
  for (const std::string &text : texts)
    for (size_t at = 0; at < text.size(); at = character(text, at, 1))
      for (int n : {1, 2, 3, 100})
        vocab.emplace(text.substr(at, character(text, at, n) - at), vocab.size());
  Json model = {{"type", "WordLevel"}, {"unk_token", "?"}, {"vocab", vocab}};
  std::mt19937 random(1);
  const Json lists = {{fuse, replace},        {fuse, pattern}, {fuse, suffix},    {fuse, strip},
                      {fuse, strip, replace}, {bytes, meta},   {bytes, stripMeta}};
  for (const Json &stages : lists) {
    Json decoder = {{"type", "Sequence"}, {"decoders", stages}};
    Made made(Json{{"decoder", decoder}, {"model", model}});
    for (const std::string &text : texts)
      for (int turn = 0; turn < 20; ++turn) {
        std::vector<int64_t> ids;
        for (size_t at = 0, end; at < text.size(); at = end) {
          end = character(text, at, 1 + random() % 3);
          ids.push_back(vocab[text.substr(at, end - at)]);
        }
        EXPECT_EQ(made.tokenizer.decode(ids, false), made.tokenizer.decode({int64_t(vocab[text])}, false))
            << decoder << " " << Json(ids) << " " << text;
      }
  }
}

/// Added tokens get the next ids in their order, whatever the file says; one
/// that is there twice is special if either is.
TEST(TokenizerModels, IdsOfAddedTokens) {
  auto added = [](int id, const char *content, bool special) {
    return Json{{"id", id}, {"content", content}, {"special", special}, {"normalized", false}};
  };
  Json model = {{"type", "BPE"}, {"vocab", {{"a", 0}, {"b", 1}, {"ab", 2}}}, {"merges", Json::array({"a b"})}};
  Made made(Json{
      {"added_tokens", {added(9, "[Y]", false), added(7, "ab", false), added(0, "[Z]", true), added(4, "[Y]", true)}},
      {"model", model}});
  std::vector<int64_t> ids;
  EXPECT_TRUE(made.tokenizer.encodeIds("b[Z]ab[Y]", ids).ok());
  EXPECT_EQ(ids, (std::vector<int64_t>{1, 4, 2, 3}));
  EXPECT_EQ(made.tokenizer.decode({1, 4, 2, 3}, true), "b ab");
}

/// An unknown token outside the vocabulary matters only to a text that needs
/// it.
TEST(TokenizerModels, UnknownTokenThatIsMissing) {
  Json model = {{"type", "BPE"}, {"unk_token", "<unk>"}, {"vocab", {{"a", 0}, {"b", 1}}}, {"merges", Json::array()}};
  Made made(Json{{"model", model}});
  EXPECT_EQ(made.pieces("ab"), (Texts{"a", "b"}));
  EXPECT_EQ(made.pieces("abc"), (Texts{"error: the tokenizer has no unknown token for `abc`"}));
  Json pieces = Json::array({Json::array({"a", -1.0})});
  for (const char *byte : {"<0x61>", "<0x62>"})
    pieces.push_back(Json::array({byte, -2.0}));
  Json unigram = {{"type", "Unigram"}, {"unk_id", nullptr}, {"byte_fallback", true}, {"vocab", pieces}};
  Made bytes(Json{{"model", unigram}});
  EXPECT_EQ(bytes.pieces("a"), (Texts{"a"}));
  EXPECT_EQ(bytes.pieces("ab"), (Texts{"error: the tokenizer has no unknown token for `ab`"}));
}

/// Two texts that are too long together: the room is shared by what the library
/// has of each when it stops, whole words, so that the last word of each
/// decides which side gets an odd token. Ids are one digit each.
TEST(TokenizerStages, OddTokenOfAPair) {
  struct Case {
    int most;
    const char *direction, *first, *second, *ids;
  };
  // clang-format off
  const Case cases[] = {
      {19, "Right", "<x> ab ab abbb", "cd cddd cdd c cdd cd cdd cddd",
       "0245454551676777671"},
      {12, "Left", "abb a ab <x> a ab a abb <x>", "cdd cd <x>", "044552176721"},
      {9, "Right", "", "c cddd <x> cddd c cddd", "016677721"},
      {10, "Right", "ab abbb ab a a abb abb",
       "cdd cdd c c c cdd cd cddd cd c cdd c", "0454167761"},
      {5, "Right", "a abb ab abb <x> abb a a ab <x> abbb",
       "cddd cd cd cdd c cd cddd c <x> c cd <x> cd", "04161"},
      {20, "Left", "<x> abbb ab abb abbb a",
       "cdd cd cdd cddd cdd <x> cddd cd cddd", "04554555417776767771"},
      {6, "Right", "abbb <x> <x> <x> ab ab ab abb abbb <x>",
       "c c c <x> cdd cddd c cddd cdd <x> cddd c", "045161"},
      {7, "Left", "<x>", "c cd cd cddd cd <x> cd cdd cdd <x> cd", "0212671"},
      {4, "Right", "abb ab abb abbb ab a abbb abbb a abbb ab abb", "cd cdd",
       "0161"},
      {8, "Right", "ab a <x> abb ab <x> abb a",
       "cddd cddd cd cd cd cd <x> cd cdd cd <x>", "04541671"},
      {4, "Right", "abb ab abb abbb ab abbb abbb abb a abbb ab",
       "c cddd cddd c c", "0161"},
      {10, "Left", "ab abb ab abb abb ab <x> a a a abb a abbb",
       "cddd cdd cd cdd cdd c cddd <x> cdd", "0555126771"},
      {8, "Right", "abbb a abb abbb a ab abb a abbb abbb abbb abbb a",
       "cdd cddd cddd cdd cddd cdd c <x> cdd c <x>", "04516771"},
      {4, "Right", "a a a ab a a a abbb ab abb", "<x> <x> cdd cddd c", "0121"},
      {4, "Left", "abbb a a ab ab abb abb ab a <x> <x> abbb a",
       "<x> cddd <x> c cd cd <x> cdd cdd cd", "0171"},
  };
  // clang-format on
  for (const Case &c : cases) {
    auto added = [](int id, const char *content, bool isSpecial) {
      return Json{{"id", id},        {"content", content}, {"special", isSpecial}, {"single_word", false},
                  {"lstrip", false}, {"rstrip", false},    {"normalized", false}};
    };
    Made made(
        Json{{"truncation",
              {{"max_length", c.most}, {"strategy", "LongestFirst"}, {"stride", 0}, {"direction", c.direction}}},
             {"added_tokens", {added(0, "[CLS]", true), added(1, "[SEP]", true), added(2, "<x>", false)}},
             {"pre_tokenizer", {{"type", "WhitespaceSplit"}}},
             {"post_processor", {{"type", "BertProcessing"}, {"sep", {"[SEP]", 1}}, {"cls", {"[CLS]", 0}}}},
             {"model",
              {{"type", "WordPiece"},
               {"unk_token", "[UNK]"},
               {"continuing_subword_prefix", "##"},
               {"max_input_chars_per_word", 100},
               {"vocab",
                {{"[CLS]", 0}, {"[SEP]", 1}, {"<x>", 2}, {"[UNK]", 3}, {"a", 4}, {"##b", 5}, {"c", 6}, {"##d", 7}}}}}});
    std::string_view second = c.second;
    Encoded encoded;
    Status status = made.tokenizer.encode(c.first, &second, true, encoded);
    EXPECT_TRUE(status.ok()) << status.message();
    std::string ids;
    for (const Token &token : encoded.tokens)
      ids += std::to_string(token.id);
    EXPECT_EQ(ids, c.ids) << c.direction << " " << c.most << ": " << c.first << " | " << c.second;
  }
}

} // namespace
