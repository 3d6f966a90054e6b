//===- GenerateTest.cpp - recomputing, the cached step, and verification ------===//

#include "test/Interpreter/Support.h"

using namespace heddle;
using namespace heddle::check;

/// One layer of attention over words and places; @step by hand.
static const char *const decoder = R"mlir(
module attributes {model.generate = {tokens = "ids", logits = "logits", mask = "mask", positions = "places", eos = 3 : i64, pad = 6 : i64}} {
func.func @run(%ids: !model.tensor<[B, T], i64> {model.name = "ids"}, %mask: !model.tensor<[B, T], i64> {model.name = "mask", model.default},
               %places: !model.tensor<[B, T], i64> {model.name = "places", model.default}) -> (!model.tensor<[B, T, 7], f32> {model.name = "logits"}) {
  %m = model.default %mask : !model.tensor<[B, T], i64> -> !model.tensor<[B, T], i64> {
    %one = model.constant dense<1> : tensor<i64> : !model.tensor<[], i64>
    model.yield %one : !model.tensor<[], i64>
  }
  %p = model.default %places : !model.tensor<[B, T], i64> -> !model.tensor<[B, T], i64> {
    %range = model.range "0" to "T" : !model.tensor<[T], i64>
    model.yield %range : !model.tensor<[T], i64>
  }
  %words = model.param "words" : !model.tensor<[7, 4], f32>
  %where = model.param "where" : !model.tensor<[16, 4], f32>
  %w = model.param "qkv" : !model.tensor<[12, 4], f32>
  %a = model.embedding %ids in %words : (!model.tensor<[B, T], i64>, !model.tensor<[7, 4], f32>) -> !model.tensor<[B, T, 4], f32>
  %b = model.embedding %p in %where : (!model.tensor<[B, T], i64>, !model.tensor<[16, 4], f32>) -> !model.tensor<[B, T, 4], f32>
  %x = model.binary add %a, %b : (!model.tensor<[B, T, 4], f32>, !model.tensor<[B, T, 4], f32>) -> !model.tensor<[B, T, 4], f32>
  %q, %k, %v = model.linear %x, %w parts [1, 1, 1] groups 1 : (!model.tensor<[B, T, 4], f32>, !model.tensor<[12, 4], f32>) -> (!model.tensor<[B, T, 4], f32>, !model.tensor<[B, T, 4], f32>, !model.tensor<[B, T, 4], f32>)
  %causal = mask.causal
  %real = mask.keys %m : !model.tensor<[B, T], i64>
  %seen = mask.and %causal, %real
  %h = attn.sdpa %q, %k, %v mask %seen heads 2 kv_heads 2 scale 0.5 : (!model.tensor<[B, T, 4], f32>, !model.tensor<[B, T, 4], f32>, !model.tensor<[B, T, 4], f32>) -> !model.tensor<[B, T, 4], f32>
  %y = model.binary add %x, %h : (!model.tensor<[B, T, 4], f32>, !model.tensor<[B, T, 4], f32>) -> !model.tensor<[B, T, 4], f32>
  %out = model.linear %y, %words : (!model.tensor<[B, T, 4], f32>, !model.tensor<[7, 4], f32>) -> !model.tensor<[B, T, 7], f32>
  return %out : !model.tensor<[B, T, 7], f32>
}
func.func @step(%ids: !model.tensor<[B, new], i64> {model.name = "ids"}, %mask: !model.tensor<[B, new], i64> {model.name = "mask"},
                %places: !model.tensor<[B, new], i64> {model.name = "places"}, %ks: !model.state<[B, capacity, 4], f32> {model.state = "k"},
                %vs: !model.state<[B, capacity, 4], f32> {model.state = "v"}, %ms: !model.state<[B, capacity], i64> {model.state = "m"}) -> (!model.tensor<[B, 7], f32> {model.name = "logits"}) {
  %words = model.param "words" : !model.tensor<[7, 4], f32>
  %where = model.param "where" : !model.tensor<[16, 4], f32>
  %w = model.param "qkv" : !model.tensor<[12, 4], f32>
  %a = model.embedding %ids in %words : (!model.tensor<[B, new], i64>, !model.tensor<[7, 4], f32>) -> !model.tensor<[B, new, 4], f32>
  %b = model.embedding %places in %where : (!model.tensor<[B, new], i64>, !model.tensor<[16, 4], f32>) -> !model.tensor<[B, new, 4], f32>
  %x = model.binary add %a, %b : (!model.tensor<[B, new, 4], f32>, !model.tensor<[B, new, 4], f32>) -> !model.tensor<[B, new, 4], f32>
  %q, %k, %v = model.linear %x, %w parts [1, 1, 1] groups 1 : (!model.tensor<[B, new, 4], f32>, !model.tensor<[12, 4], f32>) -> (!model.tensor<[B, new, 4], f32>, !model.tensor<[B, new, 4], f32>, !model.tensor<[B, new, 4], f32>)
  %ka = model.append %ks, %k axis 1 : !model.state<[B, capacity, 4], f32>, !model.tensor<[B, new, 4], f32> -> !model.tensor<[B, "past+new", 4], f32>
  %va = model.append %vs, %v axis 1 : !model.state<[B, capacity, 4], f32>, !model.tensor<[B, new, 4], f32> -> !model.tensor<[B, "past+new", 4], f32>
  %ma = model.append %ms, %mask axis 1 : !model.state<[B, capacity], i64>, !model.tensor<[B, new], i64> -> !model.tensor<[B, "past+new"], i64>
  %causal = mask.causal
  %real = mask.keys %ma : !model.tensor<[B, "past+new"], i64>
  %seen = mask.and %causal, %real
  %h = attn.sdpa %q, %ka, %va mask %seen heads 2 kv_heads 2 scale 0.5 past "past" : (!model.tensor<[B, new, 4], f32>, !model.tensor<[B, "past+new", 4], f32>, !model.tensor<[B, "past+new", 4], f32>) -> !model.tensor<[B, new, 4], f32>
  %y = model.binary add %x, %h : (!model.tensor<[B, new, 4], f32>, !model.tensor<[B, new, 4], f32>) -> !model.tensor<[B, new, 4], f32>
  %last = model.slice %y axis 1 from "new-1" to "new" : (!model.tensor<[B, new, 4], f32>) -> !model.tensor<[B, 1, 4], f32>
  %row = model.squeeze %last axis 1 : (!model.tensor<[B, 1, 4], f32>) -> !model.tensor<[B, 4], f32>
  %out = model.linear %row, %words : (!model.tensor<[B, 4], f32>, !model.tensor<[7, 4], f32>) -> !model.tensor<[B, 7], f32>
  return %out : !model.tensor<[B, 7], f32>
}
})mlir";

static Tensors weightsOfTheDecoder() {
  return {{"words", fill({7, 4}, 1)}, {"where", fill({16, 4}, 2)}, {"qkv", fill({12, 4}, 3)}};
}

static void expectSameText(const Text &a, const Text &b, int64_t newTokens) {
  ASSERT_TRUE(a.good) << a.error;
  ASSERT_TRUE(b.good) << b.error;
  EXPECT_EQ(a.ids.shape, b.ids.shape);
  EXPECT_EQ(a.ids.ints, b.ids.ints);
  ASSERT_EQ(int64_t(a.logits.size()), newTokens);
  ASSERT_EQ(a.logits.size(), b.logits.size());
  for (size_t i = 0; i < a.logits.size(); ++i)
    expectClose({true, {{"logits", a.logits[i]}}, ""}, "logits", b.logits[i]);
}

TEST(Generate, CachedEqualsRecomputed) {
  Tensors tensors = weightsOfTheDecoder();
  tensors["ids"] = ints({2, 3}, {1, 5, 2, 0, 4, 4});
  expectSameText(generate(decoder, tensors, 6, false), generate(decoder, tensors, 6, true), 6);
}
TEST(Generate, LeftPaddingEqualsEachAlone) {
  Tensors tensors = weightsOfTheDecoder();
  tensors["ids"] = ints({2, 4}, {6, 6, 1, 5, 0, 4, 4, 2});
  tensors["mask"] = ints({2, 4}, {0, 0, 1, 1, 1, 1, 1, 1});
  Text both = generate(decoder, tensors, 5, false);
  expectSameText(both, generate(decoder, tensors, 5, true), 5);
  Tensors one = weightsOfTheDecoder();
  one["ids"] = ints({1, 2}, {1, 5});
  Text alone = generate(decoder, one, 5, true);
  ASSERT_TRUE(alone.good) << alone.error;
  for (int64_t i = 0; i < 5; ++i)
    EXPECT_EQ(both.ids.ints[4 + i], alone.ids.ints[2 + i]);
}
TEST(Generate, RightPaddingIsTurned) {
  Tensors tensors = weightsOfTheDecoder();
  tensors["ids"] = ints({2, 4}, {1, 5, 6, 6, 0, 4, 4, 2});
  tensors["mask"] = ints({2, 4}, {1, 1, 0, 0, 1, 1, 1, 1});
  expectSameText(generate(decoder, tensors, 5, false), generate(decoder, tensors, 5, true), 5);
}
/// A window counts positions, so padding between a text and what is added to it would be counted: each row gets what it
/// gets alone, cached or not, on whichever side it is padded. Padding inside of a text stays where it is.
TEST(Generate, PaddingOnTheRightIsNotCounted) {
  std::string text = decoder;
  for (size_t at = 0; (at = text.find("mask.causal", at)) != std::string::npos; at += 10)
    text.replace(at, 11, "mask.window left 2 right 0");
  Tensors alone = weightsOfTheDecoder(), both = weightsOfTheDecoder();
  alone["ids"] = ints({1, 3}, {5, 2, 4});
  alone["mask"] = ints({1, 3}, {1, 0, 1});
  both["ids"] = ints({3, 5}, {5, 2, 4, 6, 6, 6, 6, 5, 2, 4, 1, 5, 0, 2, 2});
  both["mask"] = ints({3, 5}, {1, 0, 1, 0, 0, 0, 0, 1, 0, 1, 1, 1, 1, 1, 1});
  for (bool cached : {false, true}) {
    Text one = generate(text.c_str(), alone, 5, cached), three = generate(text.c_str(), both, 5, cached);
    ASSERT_TRUE(one.good && three.good) << one.error << three.error;
    for (int64_t i = 0; i < 5; ++i)
      for (int64_t row : {0, 1})
        EXPECT_EQ(one.ids.ints[3 + i], three.ids.ints[row * 10 + 5 + i]) << i << " of row " << row << ", " << cached;
    for (size_t i = 0; i < one.logits.size(); ++i)
      for (int64_t v = 0; v < 7; ++v)
        for (int64_t row : {0, 1})
          EXPECT_NEAR(one.logits[i].reals[v], three.logits[i].reals[row * 7 + v], 1e-12);
  }
}

TEST(Generate, FinishedRowsAreFedPad) {
  Tensors tensors = weightsOfTheDecoder();
  for (int64_t first = 0; first < 7; ++first) {
    tensors["ids"] = ints({1, 2}, {first, 2});
    Text all = generate(decoder, tensors, 8, true), some = generate(decoder, tensors, 8, true, false);
    ASSERT_TRUE(all.good && some.good);
    bool finished = false;
    for (int64_t i = 2; i < some.ids.count(); ++i) {
      EXPECT_EQ(some.ids.ints[i], finished ? 6 : all.ids.ints[i]);
      finished |= some.ids.ints[i] == 3;
    }
    EXPECT_EQ(some.ids.shape, all.ids.shape);
    if (finished) // one row: nothing is computed behind its end
      EXPECT_EQ(some.ids.ints[2 + some.logits.size() - 1], 3);
  }
}
TEST(Generate, NeedsRoles) {
  Text text = generate(R"mlir(
func.func @run(%x: !model.tensor<[1], f32> {model.name = "x"}) -> (!model.tensor<[1], f32> {model.name = "out"}) {
  return %x : !model.tensor<[1], f32>
})mlir",
                       {{"x", fill({1}, 1)}}, 1, false);
  EXPECT_FALSE(text.good);
  EXPECT_NE(text.error.find("model.generate"), std::string::npos) << text.error;
}

//===-- verification -----------------------------------------------------------===//

static const char *const scaled = R"mlir(
func.func @run(%x: !model.tensor<[T], f32> {model.name = "x"}) -> (!model.tensor<[T], f32> {model.name = "out"}) {
  %a = model.constant dense<3.0> : tensor<f64> : !model.tensor<[], f32>
  %s = model.unary sqrt %a : (!model.tensor<[], f32>) -> !model.tensor<[], f32>
  %out = model.binary mul %x, %s : (!model.tensor<[T], f32>, !model.tensor<[], f32>) -> !model.tensor<[T], f32>
  return %out : !model.tensor<[T], f32>
})mlir";

TEST(Verify, GoodPassesChangeNothing) { EXPECT_EQ(verify(scaled, {{"x", fill({3}, 1)}}, "model-fold-constants"), ""); }
TEST(Verify, NamesTheFirstBadPass) {
  std::string said =
      verify(scaled, {{"x", reals({3}, {0, 1, 2})}}, "model-fold-constants,test-shift,model-fold-constants");
  EXPECT_EQ(said.substr(0, 17), "test-shift: 'out'") << said;
  EXPECT_NE(said.find("differs in 2 of 3 elements"), std::string::npos) << said;
}
TEST(Verify, ComparesTheCachedStep) {
  Tensors tensors = weightsOfTheDecoder();
  tensors["ids"] = ints({2, 3}, {1, 5, 2, 0, 4, 4});
  EXPECT_EQ(verify(decoder, tensors, "model-fold-constants", 3), "");
}
