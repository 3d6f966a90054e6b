//===- TokenizerTest.cpp - Compiled tokenizers against the oracle ---------===//
//
// Every tokenizer of the shared set that compiles must give the library's ids
// on every case; what does not compile must say which component it lacks.
//
//===----------------------------------------------------------------------===//
#include "runtime/Tokenizer/Tokenizer.h"
#include "compiler/Tokenizer/TokenizerBlob.h"
#include "runtime/Tokenizer/PrefixSearch.h"

#include <chrono>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

using namespace heddle;
using namespace heddle::rt;
using Json = nlohmann::json;

namespace {

const std::string kShared = HEDDLE_SHARED_DIR;

bool readJson(const std::string &path, Json &json) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  json = Json::parse(text.str(), nullptr, false);
  return file && !json.is_discarded();
}

struct Compiled {
  std::string blob, error;
  Tokenizer tokenizer;
  bool ok = false;

  explicit Compiled(const std::string &path) {
    if (!writeTokenizerBlob(path, blob, error))
      return;
    Status status = tokenizer.open(reinterpret_cast<const unsigned char *>(blob.data()), blob.size());
    error = status.message();
    ok = status.ok();
  }
};

std::vector<int64_t> ids(const Encoded &encoded) {
  std::vector<int64_t> list;
  for (const Token &token : encoded.tokens)
    list.push_back(token.id);
  return list;
}

/// The library is followed in one of its quirks: which text of a pair an odd
/// token goes to (TokenizerStages.OddTokenOfAPair).
bool isQuirk(const Json &test) {
  std::string note = test.value("note", Json()).dump();
  size_t followed = note.find("quirk:trunc_early_exit");
  if (followed != std::string::npos)
    note.erase(followed, 6);
  return note.find("quirk:") != std::string::npos;
}

/// The first other list of a case that differs; "" if none does.
std::string compareRest(const Tokenizer &tokenizer, const Encoded &encoded, const Json &test) {
  std::vector<int64_t> types, mask;
  std::vector<std::string> texts;
  for (const Token &token : encoded.tokens) {
    types.push_back(token.type);
    mask.push_back(token.real);
    texts.emplace_back(tokenizer.textOf(encoded, token));
  }
  if (texts != test["tokens"].get<std::vector<std::string>>())
    return "tokens";
  if (types != test.value("type_ids", std::vector<int64_t>(types.size(), 0)))
    return "type_ids";
  if (mask != test.value("attention_mask", std::vector<int64_t>(mask.size(), 1)))
    return "attention_mask";
  return "";
}

struct Count {
  int ran = 0, wrong = 0, quirks = 0;
};

Count checkCases(const Tokenizer &tokenizer, const Json &cases, const std::string &name) {
  Count count;
  for (const Json &test : cases) {
    Encoded tokens;
    std::string pair = test.value("pair", "");
    std::string_view second = pair;
    Status status = tokenizer.encode(test["text"].get<std::string>(), test.count("pair") ? &second : nullptr,
                                     test["add_special_tokens"].get<bool>(), tokens);
    auto wanted = test.value("ids", std::vector<int64_t>());
    bool good = status.ok() ? ids(tokens) == wanted : test.count("error");
    if (status.ok() && test.count("error"))
      good = false;
    std::string what = good ? "" : "ids";
    if (good && status.ok())
      what = compareRest(tokenizer, tokens, test);
    good = what.empty();
    for (bool skip : {false, true}) {
      const char *key = skip ? "decoded_skip_special" : "decoded";
      if (good && test.count(key) && tokenizer.decode(wanted, skip) != test[key].get<std::string>()) {
        good = false;
        what = key;
      }
    }
    if (!good && isQuirk(test)) {
      ++count.quirks;
      continue;
    }
    ++count.ran;
    if (!good && ++count.wrong <= 3)
      ADD_FAILURE() << name << " (" << what << "): " << test.dump().substr(0, 700) << "\n got "
                    << Json(ids(tokens)).dump() << " `" << Json(tokenizer.decode(wanted, false)).dump() << "`";
  }
  return count;
}

TEST(TokenizerOracle, Cases) {
  Json index;
  if (!readJson(kShared + "/tokenizers/index.json", index))
    GTEST_SKIP() << "no " << kShared << "/tokenizers";
  int compiled = 0, ran = 0, quirks = 0;
  for (const std::string name : {"gpt2",
                                 "added_bytelevel",
                                 "bert_cased",
                                 "bert_cased_strip",
                                 "bert_uncased",
                                 "bloom",
                                 "bpe_unk",
                                 "char_level",
                                 "cl100k_possessive",
                                 "clip",
                                 "deepseek",
                                 "distilbert_keep_accents",
                                 "falcon",
                                 "gpt4o",
                                 "gpt_neox",
                                 "llama2",
                                 "llama3",
                                 "llama3_no_ignore",
                                 "metaspace_never",
                                 "mistral",
                                 "openai_gpt",
                                 "pretok_isolated",
                                 "pretok_mergedwithprevious",
                                 "pretok_removed",
                                 "qwen2",
                                 "roberta",
                                 "roberta_prefix_space",
                                 "starcoder",
                                 "whisper",
                                 "wordlevel",
                                 "added_lowercase",
                                 "added_metaspace",
                                 "added_prepend",
                                 "bart",
                                 "gemma",
                                 "albert",
                                 "t5",
                                 "xlm_roberta",
                                 "unigram_bytes",
                                 "bpe_drop",
                                 "llama2_normalized_specials",
                                 "trunc_right_longest_pad_fixed",
                                 "trunc_left_longest_pad_left",
                                 "trunc_only_first",
                                 "trunc_only_second",
                                 "trunc_gpt2_pad_left",
                                 "trunc_llama_left_pad_fixed",
                                 "pad_only_right_multiple"}) {
    std::string folder = kShared + "/tokenizers/" + name;
    Compiled one(folder + "/tokenizer.json");
    if (!one.ok) {
      EXPECT_NE(one.error.find("support"), std::string::npos) << one.error;
      std::cout << "  refused: " << one.error.substr(folder.size()) << "\n";
      continue;
    }
    ++compiled;
    Json cases;
    ASSERT_TRUE(readJson(folder + "/cases.json", cases));
    Count count = checkCases(one.tokenizer, cases, name);
    Json decode;
    if (readJson(folder + "/decode.json", decode))
      for (const Json &test : decode) {
        auto list = test["ids"].get<std::vector<int64_t>>();
        bool good = one.tokenizer.decode(list, false) == test["decoded"].get<std::string>() &&
                    one.tokenizer.decode(list, true) == test["decoded_skip_special"].get<std::string>();
        if (!good && isQuirk(test)) {
          ++count.quirks;
          continue;
        }
        ++count.ran;
        if (!good && ++count.wrong <= 3)
          ADD_FAILURE() << name << " decode: " << test.dump().substr(0, 500) << "\n got "
                        << Json(one.tokenizer.decode(list, false)).dump();
      }
    if (count.wrong)
      std::cout << "  " << name << ": " << count.wrong << " of " << count.ran << " wrong\n";
    ran += count.ran;
    quirks += count.quirks;
  }
  std::cout << "  " << compiled << " tokenizers, " << ran << " cases, and apart from them " << quirks
            << " that the library itself gets wrong\n";
  EXPECT_EQ(compiled, 48);
}

TEST(TokenizerExamples, Stories) {
  Json expected;
  std::string folder = kShared + "/examples-models/stories";
  if (!readJson(folder + "/expected.json", expected))
    GTEST_SKIP() << "no " << folder;
  Compiled one(folder + "/tokenizer.json");
  ASSERT_TRUE(one.ok) << one.error;
  for (const Json &test : expected["tokenizer"]) {
    std::vector<int64_t> list;
    ASSERT_TRUE(one.tokenizer.encodeIds(test["text"].get<std::string>(), list).ok());
    EXPECT_EQ(list, test["ids"].get<std::vector<int64_t>>()) << test["text"];
  }
  for (const Json &test : expected["cases"])
    EXPECT_EQ(one.tokenizer.decode(test["generated_ids"].get<std::vector<int64_t>>(), true),
              test["generated_text"].get<std::string>());
}

TEST(TokenizerExamples, Dates) {
  Json expected;
  std::string folder = kShared + "/examples-models/dates";
  if (!readJson(folder + "/expected.json", expected))
    GTEST_SKIP() << "no " << folder;
  Compiled one(folder + "/tokenizer.json");
  ASSERT_TRUE(one.ok) << one.error;
  for (const Json &test : expected["cases"]) {
    std::vector<int64_t> list;
    ASSERT_TRUE(one.tokenizer.encodeIds(test["text"].get<std::string>(), list).ok());
    EXPECT_EQ(list, test["input_ids"].get<std::vector<int64_t>>()) << test["text"];
    EXPECT_EQ(one.tokenizer.decode(test["generated_ids"].get<std::vector<int64_t>>(), true),
              test["output"].get<std::string>());
  }
}

TEST(TokenizerStart, OpensAtOnce) {
  std::string path = kShared + "/tokenizers/gpt2/tokenizer.json";
  std::string blob, error;
  if (!writeTokenizerBlob(path, blob, error))
    GTEST_SKIP() << error;
  auto start = std::chrono::steady_clock::now();
  Tokenizer tokenizer;
  ASSERT_TRUE(tokenizer.open(reinterpret_cast<const unsigned char *>(blob.data()), blob.size()).ok());
  auto us = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - start).count();
  std::cout << "  opened in " << us << " us, blob of " << blob.size() << " bytes\n";
  EXPECT_LT(us, 1000);
}

/// The definition of byte-pair encoding: of all pairs that merge, the one of
/// the lowest rank, of equals the leftmost, until none is left.
std::vector<int64_t> mergedByDefinition(std::vector<std::string> pieces, const Json &model) {
  std::map<std::pair<std::string, std::string>, size_t> ranks;
  for (const Json &merge : model["merges"])
    ranks[{merge[0], merge[1]}] = ranks.size();
  for (;;) {
    size_t best = SIZE_MAX, at = 0;
    for (size_t i = 0; i + 1 < pieces.size(); ++i) {
      auto found = ranks.find({pieces[i], pieces[i + 1]});
      if (found != ranks.end() && found->second < best) {
        best = found->second;
        at = i;
      }
    }
    if (best == SIZE_MAX)
      break;
    pieces[at] += pieces[at + 1];
    pieces.erase(pieces.begin() + int64_t(at) + 1);
  }
  std::vector<int64_t> list;
  for (const std::string &piece : pieces)
    list.push_back(model["vocab"][piece]);
  return list;
}

TEST(TokenizerModels, LongAndShortWordsAreMergedByDefinition) {
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    Json model = {{"type", "BPE"}, {"vocab", Json::object()}, {"merges", Json::array()}};
    std::vector<std::string> pieces = {"a", "b", "c"};
    for (size_t i = 0; i < pieces.size(); ++i)
      model["vocab"][pieces[i]] = i;
    while (pieces.size() < 40) {
      std::string left = pieces[random() % pieces.size()], right = pieces[random() % pieces.size()];
      Json merge = {left, right};
      if (left.size() + right.size() > 9 || std::count(model["merges"].begin(), model["merges"].end(), merge))
        continue;
      model["merges"].push_back(merge);
      if (!model["vocab"].count(left + right)) {
        model["vocab"][left + right] = pieces.size();
        pieces.push_back(left + right);
      }
    }
    std::string blob, error;
    ASSERT_TRUE(tokenizerBlobFromText(Json({{"model", model}}).dump(), "file", blob, error)) << error;
    Tokenizer tokenizer;
    ASSERT_TRUE(tokenizer.open(reinterpret_cast<const unsigned char *>(blob.data()), blob.size()).ok());
    for (size_t length : {1, 2, 7, 47, 48, 49, 50, 300}) {
      std::string text;
      for (size_t i = 0; i < length; ++i)
        text += pieces[random() % (round % 3 + 1)];
      std::vector<std::string> letters;
      for (char letter : text)
        letters.emplace_back(1, letter);
      std::vector<int64_t> list;
      ASSERT_TRUE(tokenizer.encodeIds(text, list).ok());
      EXPECT_EQ(list, mergedByDefinition(letters, model)) << text << " " << model;
    }
  }
}

TEST(TokenizerModels, TextsThatBeginHere) {
  std::vector<std::string> texts = {"a", "ab", "ab", "abc", "abd", "b", "ba"};
  PrefixSearch search(texts.size(), [&](size_t i) { return std::string_view(texts[i]); });
  auto found = [&](std::string_view text) {
    std::vector<size_t> places;
    search.walk(text, [&](size_t place, size_t size) {
      EXPECT_EQ(size, texts[place].size());
      places.push_back(place);
    });
    return places;
  };
  using Places = std::vector<size_t>;
  EXPECT_EQ(found("abcd"), (Places{0, 1, 3}));
  EXPECT_EQ(found("ab"), (Places{0, 1}));
  EXPECT_EQ(found("abx"), (Places{0, 1}));
  EXPECT_EQ(found("a"), (Places{0}));
  EXPECT_EQ(found("ba"), (Places{5, 6}));
  EXPECT_EQ(found("bx"), (Places{5}));
  EXPECT_EQ(found("c"), Places());
  EXPECT_EQ(found(""), Places());
}

/// What is wrong is said by its place.
TEST(TokenizerModels, TypeOfOldFilesFollowsFromKeys) {
  const std::pair<const char *, const char *> models[] = {
      {"BPE", R"("vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"])"},
      {"WordPiece",
       R"("unk_token": "u", "continuing_subword_prefix": "##", "max_input_chars_per_word": 5, "vocab": {"u": 0, "a": 1, "##b": 2})"},
      {"WordLevel", R"("unk_token": "u", "vocab": {"u": 0, "a": 1, "ab": 2})"},
      {"Unigram", R"("unk_id": 0, "vocab": [["u", 0.0], ["a", -1.0], ["ab", -1.5]])"}};
  for (const auto &model : models) {
    std::string type = model.first, keys = model.second, typed, untyped, error;
    auto file = [&](const std::string &more) { return R"({"added_tokens": [], "model": {)" + more + keys + "}}"; };
    ASSERT_TRUE(tokenizerBlobFromText(file("\"type\": \"" + type + "\", "), "t.json", typed, error)) << error;
    EXPECT_TRUE(tokenizerBlobFromText(file(""), "t.json", untyped, error)) << type << ": " << error;
    EXPECT_EQ(typed, untyped) << type;
  }
  std::string blob, error;
  EXPECT_FALSE(tokenizerBlobFromText(R"({"model": {"vocab": {"a": 0}}})", "t.json", blob, error));
  EXPECT_NE(error.find("has no type"), std::string::npos) << error;
}

TEST(TokenizerErrors, ValuesOfAnotherKind) {
  auto why = [](const char *rest) {
    std::string blob, error;
    EXPECT_FALSE(tokenizerBlobFromText(std::string("{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0},"
                                                   "\"merges\":[]},") +
                                           rest + "}",
                                       "file", blob, error))
        << rest;
    return error;
  };
  EXPECT_EQ(why("\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[{"
                "\"type\":\"BertNormalizer\",\"lowercase\":1}]}"),
            "file: normalizer.normalizers[0].lowercase: true or false "
            "expected, found 1");
  EXPECT_EQ(why("\"decoder\":{\"type\":\"Metaspace\",\"replacement\":\"\"}"),
            "file: decoder.replacement: one character expected, found \"\"");
  EXPECT_EQ(why("\"added_tokens\":{}"), "file: added_tokens: a list expected");
  EXPECT_EQ(why("\"padding\":{\"strategy\":{\"Fixed\":99999999}}"), "file: padding to more than 1048576 ids");
  EXPECT_EQ(why("\"added_tokens\":[{\"id\":9999999,\"content\":\"x\"}]"),
            "file: the id 9999999 of `x` is too large for a vocabulary of this "
            "size");
}

/// A pattern or a normalizer without end is an error, not a wait.
TEST(TokenizerErrors, WithoutEnd) {
  auto why = [](const char *rest) {
    std::string blob, error;
    EXPECT_TRUE(tokenizerBlobFromText(std::string("{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0},"
                                                  "\"merges\":[]},") +
                                          rest + "}",
                                      "file", blob, error))
        << error;
    Tokenizer tokenizer;
    EXPECT_TRUE(tokenizer.open(reinterpret_cast<const unsigned char *>(blob.data()), blob.size()).ok());
    std::vector<int64_t> list;
    return tokenizer.encodeIds(std::string(200, 'a'), list).message();
  };
  EXPECT_EQ(why("\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{"
                "\"Regex\":\"(a|aa)*b\"},\"behavior\":\"Isolated\"}"),
            "a pattern of the tokenizer takes more than 10000000 steps and 200 "
            "a byte");
  std::string stage = "{\"type\":\"Replace\",\"pattern\":{\"String\":\"a\"},"
                      "\"content\":\"aaaaaaaaaaaaaaaa\"}";
  std::string all = stage;
  for (int i = 0; i < 9; ++i)
    all += "," + stage;
  EXPECT_EQ(why(("\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[" + all + "]}").c_str()),
            "the normalizer makes a text of 200 bytes more than 16790016 bytes "
            "long");
  // Letters of bytes are letters of two bytes, of which the next stage makes letters again.
  std::string letters =
      "{\"type\":\"Metaspace\",\"replacement\":\"\u2581\",\"prepend_scheme\":\"always\",\"split\":false}";
  for (int i = 0; i < 30; ++i)
    letters += ",{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":false}";
  EXPECT_EQ(why(("\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":[" + letters + "]}").c_str()),
            "the pre-tokenizer makes a text of 200 bytes more than 16790016 bytes "
            "long");
}

TEST(TokenizerErrors, HostileFiles) {
  std::string blob, error;
  for (const char *text : {"", "[", "{}", "[]", "null", "{\"model\":3}",
                           "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":-1},\"merges\":[]}}",
                           "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0},\"merges\":[3]}}",
                           "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0},\"merges\":[\"a "
                           "b\"]}}",
                           "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":99999999999},\"merges\":"
                           "[]}}",
                           "{\"model\":{\"type\":\"Sorcery\",\"vocab\":{\"a\":0}}}",
                           "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0},\"merges\":[]},"
                           "\"added_tokens\":[{\"id\":-1,\"content\":\"b\"}]}",
                           "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0},\"merges\":[]},"
                           "\"normalizer\":{\"type\":\"Sorcery\"}}",
                           "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0},\"merges\":[]},"
                           "\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"Regex\":\"(a*)*"
                           "\"}}}"})
    EXPECT_FALSE(tokenizerBlobFromText(text, "file", blob, error)) << text;
  EXPECT_FALSE(tokenizerBlobFromText(std::string(100000, '['), "file", blob, error));
  std::string nested = "{\"type\":\"Lowercase\"}";
  for (int i = 0; i < 1000; ++i)
    nested = "{\"type\":\"Sequence\",\"normalizers\":[" + nested + "]}";
  EXPECT_FALSE(tokenizerBlobFromText("{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0},\"merges\":[]},"
                                     "\"normalizer\":" +
                                         nested + "}",
                                     "file", blob, error));
}

} // namespace
