// Where every token of a JSON text is, and what is no JSON for us.
#include "compiler/Import/Json/Diagnostics.h"
#include "compiler/Import/Json/LocatedJson.h"

#include <gtest/gtest.h>

using namespace heddle;

namespace {
struct Read {
  DiagnosticSink sink;
  std::optional<JsonValue> value;
  explicit Read(const std::string &text, JsonLimits limits = {}) {
    value = parseJson(sink.addFile("t.json", text), sink, limits);
    if (value)
      value->link();
  }
  std::string messages() const {
    std::string out;
    llvm::raw_string_ostream os(out);
    sink.print(os);
    return out;
  }
};
std::pair<unsigned, unsigned> place(Loc loc) { return loc.file->lineAndColumn(loc.offset); }
using Place = std::pair<unsigned, unsigned>;
} // namespace

TEST(Json, PlacesOfTokens) {
  Read r("// a comment, with \"quotes\"\n{\"a\": [1, 23 , -4.5e1,true],\n /* b: */ \"b\" : {\"c\":null}}\n");
  ASSERT_TRUE(r.value) << r.messages();
  const JsonValue &a = *r.value->find("a");
  EXPECT_EQ(place(r.value->loc), Place(2, 1));
  EXPECT_EQ(place(a.loc), Place(2, 7));
  EXPECT_EQ(place(a.items[0].loc), Place(2, 8));
  EXPECT_EQ(place(a.items[1].loc), Place(2, 11));
  EXPECT_EQ(place(a.items[2].loc), Place(2, 16));
  EXPECT_EQ(place(a.items[3].loc), Place(2, 23));
  EXPECT_EQ(place(r.value->findMember("b")->keyLoc), Place(3, 11));
  EXPECT_EQ(place(r.value->find("b")->find("c")->loc), Place(3, 22));
  EXPECT_EQ(a.items[3].path(), "$.a[3]");
}

TEST(Json, PlacesInsideStrings) {
  Read r(R"({"a": "x\n\u00e9\ud83d\ude00y"})");
  ASSERT_TRUE(r.value);
  const JsonValue &a = *r.value->find("a");
  EXPECT_EQ(a.string, "x\n\xc3\xa9\xf0\x9f\x98\x80y");
  EXPECT_EQ(insideString(a.loc, 0).offset, 7u);
  EXPECT_EQ(insideString(a.loc, 1).offset, 8u);
  EXPECT_EQ(insideString(a.loc, 2).offset, 10u);
  EXPECT_EQ(insideString(a.loc, 4).offset, 16u);
  EXPECT_EQ(insideString(a.loc, 8).offset, 28u);
}

TEST(Json, IntegersAreExact) {
  Read r("[9223372036854775807, -9223372036854775808, 9223372036854775808, 1e3, 123456789012345678901234567890]");
  ASSERT_TRUE(r.value);
  EXPECT_EQ(r.value->items[0].integer, INT64_MAX);
  EXPECT_EQ(r.value->items[1].integer, INT64_MIN);
  EXPECT_EQ(r.value->items[2].kind, JsonValue::Kind::HugeInteger);
  EXPECT_EQ(r.value->items[3].kind, JsonValue::Kind::Real);
  EXPECT_EQ(r.value->items[4].kind, JsonValue::Kind::HugeInteger);
  EXPECT_EQ(r.value->items[4].text(), "123456789012345678901234567890");
}

TEST(Json, Refusals) {
  for (auto [text, words] : std::vector<std::pair<std::string, std::string>>{
           {"{\"a\": 1, \"a\": 2}", "t.json:1:10: error[H0303]: the key 'a' occurs twice"},
           {"{\"a\": 1,}", "t.json:1:9: error[H0302]: not JSON"},
           {"{\"a\": \"\xff\"}", "t.json:1:8: error[H0302]: not JSON: invalid string: ill-formed UTF-8"},
           {"[1, NaN]", "not JSON"},
           {"", "not JSON"},
           {"[1] x", "t.json:1:5: error[H0302]: not JSON"},
           {"\"abc", "not JSON"},
           {"[1e999]", "not JSON"},
           {std::string(10000, '['), "t.json:1:65: error[H0302]: objects and arrays are nested more than 64 deep"}}) {
    Read r(text);
    EXPECT_FALSE(r.value) << text.substr(0, 20);
    EXPECT_NE(r.messages().find(words), std::string::npos) << r.messages();
  }
  EXPECT_FALSE(Read("[1, 2, 3]", {4, 64}).value);
}

TEST(Json, SecondOfTwoKeysNamesTheFirst) {
  Read r("{\"a\": 1,\n \"a\": 2}");
  EXPECT_NE(r.messages().find("t.json:1:2: note: first given here"), std::string::npos) << r.messages();
}
