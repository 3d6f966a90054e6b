//===- RequirementsTest.cpp - What the lengths of a call must be ---------------===//

#include "runtime/Core/Card.h"
#include "runtime/Core/Model.h"

#include <gtest/gtest.h>

using namespace heddle::rt;

namespace {

Requirement need;
Status parsed(const std::string &text) { return Requirement::parse(text, {"B", "T"}, need); }

TEST(Requirements, Read) {
  ASSERT_TRUE(parsed("2*T >= B+8 at slice a%20b.json:3:7").ok());
  EXPECT_EQ(need.left.text(), "2*T");
  EXPECT_EQ(need.right.text(), "B+8");
  EXPECT_FALSE(need.differ);
  EXPECT_EQ(need.op, "slice");
  EXPECT_EQ(need.place, "a b.json:3:7");
  EXPECT_EQ(need.without, "");
  ASSERT_TRUE(parsed("T != 3 at size - without x").ok());
  EXPECT_TRUE(need.differ);
  EXPECT_EQ(need.without, "x");
}

TEST(Requirements, NothingElseIsRead) {
  for (const char *text : {"",
                           "T",
                           "T >= 8",
                           "T >= 8 at",
                           "T >= 8 at slice",
                           "T > 8 at slice p",
                           "T <= 8 at slice p",
                           "T >= 8 on slice p",
                           "T >= 8 at slice p without",
                           "T >= 8 at slice p with x",
                           "T >= 8 at slice p x",
                           "T >= 8 at slice p without x y",
                           "Q >= 8 at slice p",
                           "T >= at slice p",
                           "T >= 8 at slice %",
                           "T >= 8 at slice %4",
                           "T >= 8 at slice %g0",
                           "T >= 8 at slice a\x01",
                           "T >= 8 at  slice p",
                           "T  >= 8 at slice p",
                           "T >= T( at slice p"})
    EXPECT_FALSE(parsed(text).ok()) << text;
}

/// What a call of an entry with these shapes of `a` and `b` says; "" where it may be made. Without a shape `b` is left
/// out.
std::string said(const std::string &lines, Shape a, std::optional<Shape> b) {
  Card card;
  Status status = Card::parse(
      ("heddle-card 1\nentry run\ndims B T S\ninput a i64 [B, T]\ninput b f32 [S] default\n" + lines + "end\n").c_str(),
      card);
  std::vector<int64_t> dims;
  if (status.ok()) {
    std::vector<Given> given = {{&card.entries[0].inputs[0], a}};
    if (b)
      given.push_back({&card.entries[0].inputs[1], *b});
    status = bindDims(card, card.entries[0], given, dims);
  }
  return status.ok() ? "" : status.message();
}

TEST(Requirements, CheckedWhenBound) {
  std::string row = "require T >= 8 at slice m.json:1:72\n";
  EXPECT_EQ(said(row, {1, 8}, Shape{1}), "");
  EXPECT_EQ(said(row, {1, 7}, Shape{1}),
            "these lengths do not fit the model: slice at m.json:1:72 takes T >= 8, got T is 7");
  EXPECT_EQ(said("require T != 3 at size m.json:1:2\n", {1, 4}, Shape{1}), "");
  EXPECT_NE(said("require T != 3 at size m.json:1:2\n", {1, 3}, Shape{1}).find("takes T != 3, got T is 3"),
            std::string::npos);
  EXPECT_NE(said("require S >= B+T at pad m.json:1:2\n", {2, 3}, Shape{4}).find("got B is 2, T is 3, S is 4"),
            std::string::npos);
  // What leaves 64 bits, or divides by 0, fits no model.
  EXPECT_NE(said("require T*9223372036854775807 >= 1 at pad p\n", {1, 3}, Shape{4}), "");
  EXPECT_NE(said("require 4//(T-3) >= 0 at pad p\n", {1, 3}, Shape{4}), "");
}

TEST(Requirements, OfADefault) {
  std::string where = "require T >= 8 at slice m.json:1:72 without b\n";
  EXPECT_EQ(said(where, {1, 3}, Shape{4}), "");
  EXPECT_NE(said(where, {1, 3}, std::nullopt), "");
  EXPECT_EQ(said(where, {1, 8}, std::nullopt), "");
  for (const char *input : {"a", "c"})
    EXPECT_NE(said(std::string("require T >= 8 at slice p without ") + input + "\n", {1, 9}, Shape{4}), "") << input;
}

} // namespace
