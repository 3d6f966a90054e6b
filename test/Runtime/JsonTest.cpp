// The strict reader of JSON: what it takes, what it refuses and where, and that what is written is read back.
#include "runtime/Json/Tree.h"
#include "gtest/gtest.h"

using namespace heddle::json;

namespace {

std::string again(std::string_view text) {
  Value value;
  Fault fault = readTree(text, value);
  return fault.ok() ? write(value) : fault.message();
}

TEST(Json, Values) {
  for (const char *text : {"null", "true", "false", "0", "-7", "9223372036854775807", "-9223372036854775808", "0.5",
                           "\"\"", "[]", "{}", "[1,[2,[3,[]]],{}]", "{\"a\":{\"b\":[null,true]},\"c\":\"d\"}"})
    EXPECT_EQ(again(text), text);
  EXPECT_EQ(again(" [ 1 ,\t2\r\n] "), "[1,2]");
  EXPECT_EQ(again("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e9\\ud83d\\ude00\""),
            again("\"\\\"\\\\/\\b\\f\\n\\r\\tA\u00e9\U0001F600\""));
  EXPECT_EQ(again("1e2"), "100");
  EXPECT_EQ(again("-0.0"), "-0");
  EXPECT_EQ(again("9223372036854775808"), "9.2233720368547758e+18");
  Value value;
  ASSERT_TRUE(readTree("{\"a\":1,\"b\":2.5,\"\\u0000\":0}", value).why == "a name holds a NUL");
  ASSERT_TRUE(readTree("{\"a\":1,\"b\":2.5,\"c\":\"\\u0000\"}", value).ok());
  EXPECT_EQ(value.find("a")->integer, 1);
  EXPECT_EQ(value.find("a")->real, 1);
  EXPECT_EQ(value.find("b")->real, 2.5);
  EXPECT_EQ(value.find("c")->text, std::string(1, '\0'));
  EXPECT_EQ(value.find("d"), nullptr);
}

TEST(Json, WhatIsRefused) {
  const std::pair<const char *, const char *> cases[] = {
      {"", "line 1, column 1: the text ends too early"},
      {"[1,", "line 1, column 4: the text ends too early"},
      {"[1,]", "line 1, column 4: a value is missing"},
      {"[1 2]", "line 1, column 4: a comma or ] is missing"},
      {"{\"a\":1 \"b\":2}", "line 1, column 8: a comma or } is missing"},
      {"{\"a\":1,}", "line 1, column 8: a name in double quotes is missing"},
      {"{\n \"a\":1,\n \"a\":2}", "line 3, column 2: an object has this name twice"},
      {"{\"a\":1,\"\\u0061\":2}", "line 1, column 8: an object has this name twice"},
      {"{\"a\" 1}", "line 1, column 6: a colon is missing"},
      {"{a:1}", "line 1, column 2: a name in double quotes is missing"},
      {"1 2", "line 1, column 3: something follows the value"},
      {"01", "line 1, column 1: a number does not begin with 0"},
      {"-", "line 1, column 2: a digit is missing"},
      {"1.", "line 1, column 3: a digit is missing"},
      {"1e", "line 1, column 3: a digit is missing"},
      {"+1", "line 1, column 1: a value is missing"},
      {".5", "line 1, column 1: a value is missing"},
      {"1e999", "line 1, column 1: a number is too large"},
      {"NaN", "line 1, column 1: a value is missing"},
      {"nul", "line 1, column 1: a value is missing"},
      {"truee", "line 1, column 5: something follows the value"},
      {"\"a", "line 1, column 3: a text has no end"},
      {"\"\n\"", "line 1, column 2: a control byte in a text is written \\u00XX"},
      {"\"\\x\"", "line 1, column 2: there is no such escape"},
      {"\"\\u12g4\"", "line 1, column 6: \\u takes four hexadecimal digits"},
      {"\"\\ud800\"", "line 1, column 2: half of a surrogate pair"},
      {"\"\\ud800\\u0041\"", "line 1, column 2: half of a surrogate pair"},
      {"\"\\udc00\"", "line 1, column 2: half of a surrogate pair"},
      {"\"a\xff\"", "line 1, column 3: the text is not UTF-8"},
      {"\"\xed\xa0\x80\"", "line 1, column 2: the text is not UTF-8"},
      {"\xef\xbb\xbf{}", "line 1, column 1: a value is missing"},
      {"{1:2}", "line 1, column 2: a name in double quotes is missing"},
      {"]", "line 1, column 1: a value is missing"},
      {"[}", "line 1, column 2: a value is missing"},
      {"'a'", "line 1, column 1: a value is missing"},
      {"[1]//", "line 1, column 4: something follows the value"},
  };
  for (auto [text, why] : cases)
    EXPECT_EQ(again(text), why) << text;
}

TEST(Json, NumberOfValues) {
  std::string most = "[0";
  for (int i = 2; i < 1 << 18; ++i)
    most += ",0";
  EXPECT_EQ(again(most + "]"), most + "]");
  EXPECT_EQ(again(most + ",0]"), "line 1, column 524288: there are more than 262144 values; less at a time is taken");
}

TEST(Json, Depth) {
  std::string deep = std::string(64, '[') + std::string(64, ']');
  EXPECT_EQ(again(deep), deep);
  EXPECT_EQ(again("[" + deep + "]"), "line 1, column 65: values are nested too deep");
  EXPECT_EQ(again(std::string(1000000, '[')), "line 1, column 65: values are nested too deep");
  EXPECT_EQ(again(std::string(100000, '{')), "line 1, column 2: a name in double quotes is missing");
}

} // namespace
