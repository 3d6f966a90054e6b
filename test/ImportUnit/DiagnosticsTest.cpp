// Messages: sorted, each place once, caret under the token, nothing from a file that could
// steer a terminal; and the nearest name.
#include "compiler/Import/Json/Diagnostics.h"
#include "compiler/Import/Json/DiagnosticsJson.h"

#include <gtest/gtest.h>

using namespace heddle;

static std::string printed(const DiagnosticSink &sink, unsigned limit = 50) {
  std::string out;
  llvm::raw_string_ostream os(out);
  sink.print(os, limit);
  return out;
}

TEST(Diagnostics, CaretStandsUnderTheToken) {
  DiagnosticSink sink;
  SourceFile &f = sink.addFile("a.json", "{\n\t\"é\": 1, \"x\": 2}\n");
  sink.error(Error::UnknownName, {&f, f.text().find("\"x\"")}, "$.x", "wrong");
  EXPECT_EQ(printed(sink), "a.json:2:11: error[H0310]: $.x: wrong\n   \"é\": 1, \"x\": 2}\n           ^\n");
}

TEST(Diagnostics, SortedByFileAndPlace) {
  DiagnosticSink sink;
  SourceFile &b = sink.addFile("b", "one\ntwo"), &a = sink.addFile("a", "three");
  sink.error(Error::UnknownName, {&b, 4}, "", "third");
  sink.error(Error::UnknownName, {&b, 0}, "", "second");
  sink.error(Error::UnknownName, {&a, 0}, "", "first");
  std::string text = printed(sink);
  EXPECT_LT(text.find("first"), text.find("second"));
  EXPECT_LT(text.find("second"), text.find("third"));
}

TEST(Diagnostics, TurnsOfARepeatAreOneMessage) {
  DiagnosticSink sink;
  SourceFile &f = sink.addFile("a", "x");
  for (int i = 0; i < 12; ++i)
    sink.error(Error::UnknownName, {&f, 0}, "", "no weight 'h." + llvm::Twine(i) + ".w'");
  sink.error(Error::UnknownName, {&f, 0}, "", "another matter");
  EXPECT_EQ(sink.size(), 2u);
  EXPECT_NE(printed(sink).find("'h.0.w' (and 11 more here)"), std::string::npos);
}

TEST(Diagnostics, CapAndControlCharacters) {
  DiagnosticSink sink;
  SourceFile &f = sink.addFile("a\x1b[31m", std::string(200, 'y'));
  for (int i = 0; i < 60; ++i)
    sink.error(Error::UnknownName, {&f, size_t(i)}, "", "bad " + quote("\x1b]0;" + std::string("\xc2\x9b")));
  std::string text = printed(sink);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find("\xc2\x9b"), std::string::npos);
  EXPECT_NE(text.find("10 more messages are not shown"), std::string::npos);
  EXPECT_EQ(sink.exitCode(), 1);
}

TEST(Diagnostics, ExitCodes) {
  DiagnosticSink sink;
  EXPECT_EQ(sink.exitCode(), 0);
  sink.error(Error::NotSupported, {}, "", "x");
  EXPECT_EQ(sink.exitCode(), 3);
  sink.error(Error::UnknownName, {}, "", "y");
  EXPECT_EQ(sink.exitCode(), 1);
}

TEST(Diagnostics, WarningsRefuseNothing) {
  DiagnosticSink sink;
  SourceFile &f = sink.addFile("a", "x");
  sink.say(Diagnostic::Kind::Warning, {&f, 0}, "$.p", "hardly meant").note({}, "why");
  sink.say(Diagnostic::Kind::Remark, {}, "", "not done");
  EXPECT_FALSE(sink.hasErrors());
  EXPECT_EQ(sink.exitCode(), 0);
  std::string text = printed(sink), json;
  EXPECT_NE(text.find("a:1:1: warning: $.p: hardly meant"), std::string::npos);
  EXPECT_NE(text.find("remark: not done"), std::string::npos);
  llvm::raw_string_ostream os(json);
  os << llvm::json::Value(jsonOf(sink));
  EXPECT_NE(json.find("\"kind\":\"warning\""), std::string::npos);
  sink.error(Error::UnknownName, {}, "", "wrong");
  EXPECT_TRUE(sink.hasErrors());
  EXPECT_EQ(sink.exitCode(), 1);
}

TEST(Diagnostics, Nearest) {
  std::vector<std::string> known = {"weights", "body", "in_out", "gelu", "GPT2LMHeadModel"};
  EXPECT_EQ(nearest("weight_s", known), "; did you mean 'weights'?");
  EXPECT_EQ(nearest("bodys", known), "; did you mean 'body'?");
  EXPECT_EQ(nearest("inout", known), "; did you mean 'in_out'?");
  EXPECT_EQ(nearest("gelu_old", known), "; did you mean 'gelu'?");
  EXPECT_EQ(nearest("GPT2LMHead", known), "; did you mean 'GPT2LMHeadModel'?");
  EXPECT_EQ(nearest("something", known), "");
}
