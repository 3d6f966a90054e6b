//===- TextOutTest.cpp - A text as it is made -----------------------------===//
//
// With the byte-level tokenizer of examples/stories, in which most characters
// outside of ASCII are several tokens; and with every tokenizer of the shared
// set, whose decoders keep back other things.
//
//===----------------------------------------------------------------------===//
#include "runtime/Generate/TextOut.h"
#include "compiler/Tokenizer/TokenizerBlob.h"
#include "heddle/terminal_output.h"
#include "heddle/utf8.h"

#include <chrono>
#include <filesystem>
#include <gtest/gtest.h>
#include <random>

using namespace heddle;
using namespace heddle::rt;

namespace {

class TextOuts : public testing::Test {
protected:
  void SetUp() override {
    std::string error;
    ASSERT_TRUE(writeTokenizerBlob(HEDDLE_EXAMPLES_DIR "/stories/tokenizer.json", blob, error)) << error;
    ASSERT_TRUE(tokenizer.open(reinterpret_cast<const unsigned char *>(blob.data()), blob.size()).ok());
    roles.eos = {0};
  }
  std::vector<int64_t> ids(const std::string &text) {
    std::vector<int64_t> list;
    EXPECT_TRUE(tokenizer.encodeIds(text, list).ok());
    return list;
  }
  /// All pieces that are shown, each of which must be whole characters.
  std::string shown(const std::string &text, std::vector<std::string> stops, const std::string &before = "",
                    bool *stopped = nullptr) {
    TextOut out(tokenizer, roles, std::move(stops), before.empty() ? std::vector<int64_t>() : ids(before));
    std::string all;
    for (int64_t id : ids(text)) {
      std::string piece = out.add(id);
      EXPECT_TRUE(isUtf8(piece));
      EXPECT_EQ(piece.find("\xef\xbf\xbd"), std::string::npos);
      all += piece;
    }
    if (stopped)
      *stopped = out.stopped();
    return all + out.finish();
  }

  std::string blob;
  Tokenizer tokenizer;
  Roles roles;
};

TEST_F(TextOuts, NeverHalfACharacter) {
  for (const char *text : {"plain words", "caf\u00e9 \u2014 \u4f60\u597d", "\U0001f9f5\U0001f9f5 \u00e9", "\u0416"}) {
    ASSERT_GE(ids(text).size(), 2u);
    EXPECT_EQ(shown(text, {}), text);
  }
  // Bytes that stay half to the end are said to be none.
  TextOut out(tokenizer, roles, {}, {});
  std::string piece = out.add(ids("\u4f60")[0]);
  EXPECT_EQ(piece, "");
  EXPECT_EQ(out.finish(), "\xef\xbf\xbd");
}

TEST_F(TextOuts, TheEndIsNotShown) {
  TextOut out(tokenizer, roles, {}, ids("one"));
  std::string text = out.add(ids(" two")[0]);
  for (size_t i = 1; i < ids(" two").size(); ++i)
    text += out.add(ids(" two")[i]);
  EXPECT_EQ(text + out.add(0) + out.finish(), " two");
}

TEST_F(TextOuts, StopsWhereTheyBegin) {
  bool stopped = false;
  EXPECT_EQ(shown("one two three four", {"three"}, "", &stopped), "one two ");
  EXPECT_TRUE(stopped);
  EXPECT_EQ(shown("one two three four", {"e t", "wo"}, "", &stopped), "on");
  EXPECT_EQ(shown("one two", {"two three"}, "", &stopped), "one two");
  EXPECT_FALSE(stopped);
  EXPECT_EQ(shown("abababac", {"abac"}, "", &stopped), "abab");
  EXPECT_TRUE(stopped);
  EXPECT_EQ(shown("\u4f60\u597d!", {"\u597d"}, "", &stopped), "\u4f60");
  // What the prompt says is no end.
  EXPECT_EQ(shown(" and more", {"stop"}, "stop", &stopped), " and more");
  EXPECT_FALSE(stopped);
}

TEST_F(TextOuts, TheTimeIsThatOfTheNewIds) {
  auto start = std::chrono::steady_clock::now();
  TextOut out(tokenizer, roles, {"no such text"}, {});
  std::vector<int64_t> some = ids("once upon a time \u4f60");
  size_t bytes = 0;
  for (int i = 0; i < 100000; ++i)
    bytes += out.add(some[i % some.size()]).size();
  EXPECT_GT(bytes, 100000u);
  // Decoding the whole text at every id takes minutes.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

/// What is shown of `list` behind `before`, by decoding the whole text at every
/// id: up to the first stop text, or all.
std::string shownByWhole(const Tokenizer &tokenizer, const std::vector<int64_t> &before,
                         const std::vector<int64_t> &list, const std::string &stop) {
  size_t first = tokenizer.decodeBytes(before, true).size();
  std::vector<int64_t> all = before;
  std::string text;
  for (int64_t id : list) {
    all.push_back(id);
    text = tokenizer.decodeBytes(all, true);
    text.erase(0, std::min(first, text.size()));
    if (size_t at = stop.empty() ? text.npos : text.find(stop); at != text.npos)
      return validUtf8(text.substr(0, at));
  }
  return validUtf8(text);
}

TEST(TextOutShared, PiecesJoinedAreTheWholeText) {
  std::error_code none;
  std::filesystem::directory_iterator folders(HEDDLE_SHARED_DIR "/tokenizers", none);
  if (none)
    GTEST_SKIP() << "no " HEDDLE_SHARED_DIR "/tokenizers";
  std::mt19937 random(1);
  Roles roles;
  int tokenizers = 0, stopped = 0;
  for (const auto &folder : folders) {
    std::string path = folder.path() / "tokenizer.json", blob, error;
    Tokenizer tokenizer;
    if (!std::filesystem::exists(path) || !writeTokenizerBlob(path, blob, error) ||
        !tokenizer.open(reinterpret_cast<const unsigned char *>(blob.data()), blob.size()).ok())
      continue;
    ++tokenizers;
    // Ids of texts in many writings, broken up by ids at random: pieces <0xNN>
    // in odd orders, half characters, blanks before stops.
    std::vector<int64_t> sane;
    if (!tokenizer
             .encodeIds("A  caf\u00e9 isn't far , he said . \u4f60\u597d "
                        "\U0001f9f5\n\n  do not we 've \u0939\u093f end",
                        sane)
             .ok()) // a vocabulary without these words and without an unknown
      for (int i = 0; i < 30; ++i)
        sane.push_back(int64_t(random() % tokenizer.size()));
    for (int turn = 0; turn < 60; ++turn) {
      std::vector<int64_t> list, before;
      for (int64_t id : sane) {
        list.push_back(id);
        while (random() % 4 == 0)
          list.push_back(int64_t(random() % (turn % 2 ? 300 : tokenizer.size())));
      }
      if (turn % 3)
        for (size_t n = random() % 9; n > 0; --n)
          before.push_back(sane[random() % sane.size()]);
      std::string whole = shownByWhole(tokenizer, before, list, ""), stop;
      if (turn % 4 == 0 && whole.size() > 20) {
        size_t begin = random() % (whole.size() - 8), end = begin + 1 + random() % 4;
        for (size_t *at : {&begin, &end}) // between characters
          while (*at < whole.size() && (whole[*at] & 0xc0) == 0x80)
            ++*at;
        stop = whole.substr(begin, std::max<size_t>(end - begin, 1));
        whole = shownByWhole(tokenizer, before, list, stop);
      }
      TextOut out(tokenizer, roles, stop.empty() ? std::vector<std::string>() : std::vector<std::string>{stop}, before);
      std::string joined;
      for (int64_t id : list) {
        std::string piece = out.add(id);
        EXPECT_TRUE(isUtf8(piece));
        joined += piece;
        if (out.stopped())
          break;
      }
      stopped += out.stopped();
      joined += out.finish();
      ASSERT_EQ(joined, whole) << path << " turn " << turn << " stop '" << stop << "'";
    }
  }
  EXPECT_GE(tokenizers, 40);
  EXPECT_GE(stopped, 400);
}

TEST(TerminalText, OnlyWhatIsShown) {
  const std::pair<std::string, std::string> cases[] = {
      {"plain caf\xc3\xa9\n\ttext", "plain caf\xc3\xa9\n\ttext"},
      {"\x1b[2J\x07", "\\u001b[2J\\u0007"},
      {"\xc2\x9b"
       "31m",
       "\\u009b31m"}, // CSI of C1
      {"a\xe2\x80\xae"
       "b",
       "a\\u202eb"},         // turns the line
      {"a\rb", "a\\u000db"}, // writes over it
      {"\xf0\x9f\xa7\xb5\xff", "\xf0\x9f\xa7\xb5\\xff"},
      {"\xe4\xbd", "\\xe4\\xbd"}, // never whole
      {std::string("\0", 1), "\\u0000"},
  };
  for (const auto &[bytes, expected] : cases)
    for (size_t piece = 1; piece <= bytes.size(); ++piece) {
      TerminalText text;
      std::string got;
      for (size_t at = 0; at < bytes.size(); at += piece)
        got += text.add(std::string_view(bytes).substr(at, piece));
      got += text.finish();
      EXPECT_EQ(got, expected) << piece;
    }
}

} // namespace
