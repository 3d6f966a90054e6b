// Iterations that are alike become one body; those that differ split it.
#include "test/ImportUnit/Support.h"

#include <gtest/gtest.h>

using namespace heddle::test;

static Case layers(const std::string &body, const std::string &outputs = "[\"x\"]", const std::string &before = "") {
  Case c;
  c.text =
      "{\"heddle\": 1, \"config\": {\"n\": 4}, \"inputs\": {\"x\": \"f32[B,T,8]\"}, \"weights\": \"w\",\n\"body\": [" +
      before + "{\"repeat\": \"=n\", \"index\": \"i\", \"weights\": \"l.{i}\", \"body\": [" + body +
      "]}],\n\"outputs\": " + outputs + "}";
  for (int i = 0; i < 4; ++i) {
    c.tensors["l." + std::to_string(i) + ".f.weight"] = {8, 8};
    c.tensors["l." + std::to_string(i) + ".f.bias"] = {8};
  }
  return c;
}
static const std::string linear = "{\"x\": {\"linear\": \"x\", \"weights\": \"f\"}}";

TEST(Repeat, OneBodyForAllLayers) {
  Outcome o = import(layers(linear));
  ASSERT_TRUE(o.ok) << o.messages;
  EXPECT_EQ(count(o.ir, "model.repeat 4"), 1u) << o.ir;
  EXPECT_EQ(count(o.ir, "model.linear"), 1u) << o.ir;
  EXPECT_EQ(count(o.ir, "\"l.{0}.f.weight\"["), 1u) << o.ir;
  EXPECT_EQ(count(o.ir, "unrealized"), 0u) << o.ir;
}

TEST(Repeat, OneThatDiffersSplits) {
  Outcome o = import(layers(linear + ", {\"x\": \"=i == 1 ? x + 1 : x\"}"));
  ASSERT_TRUE(o.ok) << o.messages;
  EXPECT_EQ(count(o.ir, "model.repeat"), 1u) << o.ir; // layers 2 and 3
  EXPECT_NE(o.ir.find("first = 2"), std::string::npos) << o.ir;
  EXPECT_EQ(count(o.ir, "model.linear"), 3u) << o.ir;
}

TEST(Repeat, EveryIterationAnother) {
  Outcome o = import(layers(linear + ", {\"x\": \"=x * (i + 1)\"}"));
  ASSERT_TRUE(o.ok) << o.messages;
  EXPECT_EQ(count(o.ir, "model.repeat"), 0u) << o.ir;
  EXPECT_EQ(count(o.ir, "model.linear"), 4u) << o.ir;
}

TEST(Repeat, StatesOfEveryLayerAreCollected) {
  Case c = layers("{\"s.{i}\": \"=x\"}, " + linear, "[\"x\", \"s.*\"]");
  c.outputsAll = true;
  Outcome o = import(c);
  ASSERT_TRUE(o.ok) << o.messages;
  EXPECT_EQ(count(o.ir, "model.repeat 4"), 1u) << o.ir;
  EXPECT_NE(o.ir.find("!model.tensor<[4, B, T, 8], f32>"), std::string::npos) << o.ir;
  for (const char *name : {"\"s.0\"", "\"s.1\"", "\"s.2\"", "\"s.3\""})
    EXPECT_NE(o.ir.find(name), std::string::npos) << o.ir;
  c.outputsAll = false;
  EXPECT_EQ(import(c).ir.find("[4, B, T, 8]"), std::string::npos);
}

TEST(Repeat, TwoCarriedValuesChangePlaces) {
  Outcome o = import(layers("{\"t\": \"=y\"}, {\"y\": \"=x\"}, {\"x\": {\"linear\": \"t\", \"weights\": \"f\"}}",
                            "[\"x\", \"y\"]", "{\"y\": \"=x * 2\"},"));
  ASSERT_TRUE(o.ok) << o.messages;
  EXPECT_TRUE(count(o.ir, "model.linear") >= 1) << o.ir;
}

TEST(Repeat, InsideARepeat) {
  Case c;
  c.text = R"json({"heddle": 1, "inputs": {"x": "f32[B,T,8]"}, "weights": "w",
    "body": [{"repeat": 2, "index": "i", "weights": "a.{i}", "body": [
      {"repeat": 3, "index": "j", "weights": "b.{j}", "body": [{"x": {"linear": "x", "bias": false, "weights": "f"}}]}]}],
    "outputs": ["x"]})json";
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      c.tensors["a." + std::to_string(i) + ".b." + std::to_string(j) + ".f.weight"] = {8, 8};
  Outcome o = import(c);
  ASSERT_TRUE(o.ok) << o.messages;
  EXPECT_EQ(count(o.ir, "model.repeat"), 2u) << o.ir;
  EXPECT_NE(o.ir.find("\"a.{1}.b.{0}.f.weight\"["), std::string::npos) << o.ir;
}

TEST(Repeat, NumbersThatDoNotGrowStay) {
  Case c;
  c.text = R"json({"heddle": 1, "inputs": {"x": "f32[B,T,8]"}, "weights": "w",
    "body": [{"repeat": 3, "index": "i", "weights": "block.{i}.layer.0", "body": [{"x": {"linear": "x", "bias": false, "weights": "f.1"}}]}],
    "outputs": ["x"]})json";
  for (int i = 0; i < 3; ++i)
    c.tensors["block." + std::to_string(i) + ".layer.0.f.1.weight"] = {8, 8};
  Outcome o = import(c);
  ASSERT_TRUE(o.ok) << o.messages;
  EXPECT_NE(o.ir.find("\"block.{0}.layer.0.f.1.weight\"["), std::string::npos) << o.ir;
}

TEST(Repeat, NoneAndOne) {
  Case c = layers(linear);
  c.sets = {{"n", "1"}};
  for (int i = 1; i < 4; ++i)
    for (const char *k : {".f.weight", ".f.bias"})
      c.tensors.erase("l." + std::to_string(i) + k);
  Outcome o = import(c);
  EXPECT_TRUE(o.ok) << o.messages;
  EXPECT_EQ(count(o.ir, "model.repeat"), 0u);
  c.sets = {{"n", "0"}};
  c.tensors.clear();
  EXPECT_TRUE(import(c).ok) << import(c).messages;
}
