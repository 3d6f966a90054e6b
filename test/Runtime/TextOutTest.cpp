//===- TextOutTest.cpp - A text as it is made -----------------------------===//
//
// With the byte-level tokenizer of examples/stories, in which most characters
// outside of ASCII are several tokens.
//
//===----------------------------------------------------------------------===//
#include "runtime/TextOut.h"
#include "compiler/Tokenizer/TokenizerBlob.h"
#include "runtime/Utf8.h"

#include <gtest/gtest.h>

using namespace heddle;
using namespace heddle::rt;

namespace {

class TextOuts : public testing::Test {
protected:
  void SetUp() override {
    std::string error;
    ASSERT_TRUE(writeTokenizerBlob(
        HEDDLE_EXAMPLES_DIR "/stories/tokenizer.json", blob, error))
        << error;
    ASSERT_TRUE(tokenizer
                    .open(reinterpret_cast<const unsigned char *>(blob.data()),
                          blob.size())
                    .ok());
    roles.eos = {0};
  }
  std::vector<int64_t> ids(const std::string &text) {
    std::vector<int64_t> list;
    EXPECT_TRUE(tokenizer.encodeIds(text, list).ok());
    return list;
  }
  /// All pieces that are shown, each of which must be whole characters.
  std::string shown(const std::string &text, std::vector<std::string> stops,
                    const std::string &before = "", bool *stopped = nullptr) {
    TextOut out(tokenizer, roles, std::move(stops),
                before.empty() ? std::vector<int64_t>() : ids(before));
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
  for (const char *text : {"plain words", "caf\u00e9 \u2014 \u4f60\u597d",
                           "\U0001f9f5\U0001f9f5 \u00e9", "\u0416"}) {
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

} // namespace
