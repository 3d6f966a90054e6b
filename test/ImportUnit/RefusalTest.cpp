// What must be refused, with which words: every rule of language.md that can be broken, as far
// as it is the importer's (missing inputs and lengths past bounds are the binary's), and
// more. Each line changes one thing in a model that works.
#include "test/ImportUnit/Support.h"

#include <gtest/gtest.h>

using namespace heddle::test;

static void refuse(const Case &c, const std::vector<std::string> &words, int exitCode = 1) {
  Outcome o = import(c);
  EXPECT_FALSE(o.ok) << "accepted; expected: " << words[0];
  EXPECT_EQ(o.exitCode, exitCode) << o.messages;
  for (const std::string &w : words)
    EXPECT_NE(o.messages.find(w), std::string::npos) << "not said: " << w << "\n" << o.messages;
}

/// The same, and nothing else is said to be wrong.
static void refuseOnce(const Case &c, const std::vector<std::string> &words) {
  refuse(c, words);
  std::string messages = import(c).messages;
  EXPECT_EQ(messages.find("error["), messages.rfind("error[")) << messages;
}

static const std::string memory = "{\"memory\": \"=x\"},";

/// One more statement before the head.
static Case with(const std::string &statement) { return encoder().edit(memory, memory + "\n" + statement + ","); }
/// Another value for `memory`.
static Case memoryIs(const std::string &value) { return encoder().edit(memory, "{\"memory\": " + value + "},"); }

TEST(Refusal, TheModelsThemselvesAreFine) {
  for (const Case &c : {encoder(), gpt2()}) {
    Outcome o = import(c);
    EXPECT_TRUE(o.ok) << o.messages;
  }
}

TEST(Refusal, KeysOpsAndNames) {
  refuse(encoder().edit("\"outputs\"", "\"bodys\": [], \"outputs\""), {"$.bodys", "'body'"});
  refuse(with("{\"y\": {\"embeding\": \"ids\"}}"), {"'embedding'"});
  refuse(encoder().edit("\"weights\": \"embed\"", "\"weight_s\": \"embed\""),
         {"embedding has no attribute", "'weights'"});
  refuse(memoryIs("\"=word + 1\""), {"unknown name 'word'", "'words'"});
  refuse(encoder().edit("{\"embedding\": \"ids\"", "{\"embedding\": \"ids\", \"linear\": \"ids\""), {"exactly one op"});
  refuse(memoryIs("{\"layer_norm\": [\"x\", \"x\"], \"affine\": false}"), {"takes 1 operands", "found 2"});
  refuse(memoryIs("\"=words * sqr(width)\""), {"unknown function 'sqr'", "'sqrt'"});
  refuse(memoryIs("\"=(1 + 2\""), {"expected ')'"});
  refuse(memoryIs("\"=x[:, ::2]\""), {"no step"});
  refuse(encoder().edit("\"heddle\": 1", "\"heddle\": 2"), {"$.heddle", "version 1"});
  refuse(encoder().edit("\"heddle\": 1, ", ""), {"'heddle' is missing"});
  refuse(with("{\"9x\": \"=x\"}"), {"is no name"});
  refuse(with("{\"a\": \"=x\", \"b\": \"=x\"}"), {"binds one name", "'a', 'b'"});
  refuse(with("{\"y\": \"x\"}"), {"an expression begins with '='"});
  refuse(with("{\"if\": true, \"bodi\": []}"), {"error"});
  refuse(with("{\"y.{i\": \"=x\"}"), {"brace"});
}

/// What a first reader of the tutorial writes; each says the way out and has no second error in its wake.
TEST(Refusal, SlipsOfTheFirstHour) {
  refuseOnce(memoryIs("{\"concat\": [\"x\", {\"l2_norm\": \"x\"}], \"axis\": -1}"),
             {"$.body[5].memory.concat[1]", "a separate statement before this one", "{\"y\": {\"l2_norm\": ...}}"});
  refuseOnce(encoder().edit("\"repeat\": \"=layers\"", "\"repeat\": \"layers\""),
             {"found 'layers'; did you mean '=layers'?"});
  refuseOnce(encoder().edit("{\"memory\": \"=x\"}", "{\"memory\": \"=x\", \"if\": \"layers > 1\"}"),
             {"found 'layers > 1'; did you mean '=layers > 1'?"});
  refuseOnce(
      encoder().edit("\"index\": \"i\"", "\"index\": \"layer\"").edit("hidden_states.{i}", "hidden_states.{layer}"),
      {"unknown name 'i'; the index of a repeat is 'i' unless its key 'index' names another"});
  refuseOnce(encoder().edit("{\"ids\": \"i64[B,T]\"}", "{\"ids\": \"int64[B,T]\"}"),
             {"found 'int64[B,T]'; did you mean 'i64[B,T]'?"});
  refuseOnce(encoder()
                 .edit("{\"ids\": \"i64[B,T]\"}",
                       "{\"ids\": \"long[B,T]\", \"m\": {\"type\": \"bool[B,T]\", \"default\": \"=ids != pad\"}}")
                 .edit("keys(ids != pad)", "keys(m)"),
             {"did you mean 'i64[B,T]'?"});
  refuseOnce(encoder().edit("\"vocab\": 11", "\"vocab\": 12").edit("\"out\": \"=vocab\", ", ""),
             {"should have 12 rows, has 11 (embed.weight is [11, 8])"});
}

TEST(Refusal, MasksAndTensorsDoNotMix) {
  const std::string real = "\"=keys(ids != pad)\"";
  refuse(encoder().edit(real, "\"=causal and ids\""), {"keys(ids)"});
  refuse(encoder().edit(real, "\"=causal * 2\""), {"a mask combines only with masks"});
  refuse(encoder().edit(real, "\"=ids\""), {"mask must be a mask", "keys(t)"});
  refuse(encoder().edit(real, "\"=keys(range(5))\""), {"keys of a tensor [5]", "T"});
  refuse(memoryIs("\"=real\""), {"a tensor expected, found a mask"});
}

TEST(Refusal, WeightsThatDoNotFit) {
  refuse(encoder().edit("\"inner\": 16", "\"inner\": 17"), {"out should be 17, the weight has 16"});
  refuse(encoder().edit("\"vocab\": 11", "\"vocab\": 12"), {"should have 12 rows, has 11"});
  refuse(encoder().edit("\"width\": 8", "\"width\": 9"), {"should be 9 wide, is 8"});
  refuse(encoder().without("layers.1.norm2.bias"), {"no weight 'layers.1.norm2.bias'"});
  refuse(encoder().tensor("extra.weight", {3}), {"not used", "extra.weight"});
  refuse(encoder().tensor("layers.0.norm1.weight", {7}), {"layers.0.norm1.weight", "[7]", "[8]"});
  refuse(encoder().tensor("embed.weight", {11, 8, 1}), {"the table must be [rows, width]"});
}

TEST(Refusal, DecidedAtImport) {
  refuse(encoder().edit("\"weights\": \"head\"}", "\"weights\": \"head\"}, \"if\": \"=ids\""),
         {"decided at import", "a tensor [B, T]"});
  refuse(with("{\"repeat\": \"=ids\", \"body\": [{\"x\": \"=x\"}]}"), {"repeat", "a constant"});
  refuse(encoder().edit("\"layers\": 2", "\"layers\": 1000000"), {"from 0 to 10000", "1000000"});
  refuse(encoder().edit("\"layers\": 2", "\"layers\": -1"), {"from 0 to 10000", "-1"});
  refuse(encoder().edit("\"heads\": 2", "\"heads\": 0"), {"0"});
  refuse(encoder().edit("\"heads\": 2", "\"heads\": 3"), {"3 heads do not divide"});
  refuse(encoder().edit("\"inner\": 16", "\"inner\": \"=width * 9223372036854775807\""), {"does not fit 64 bits"});
}

TEST(Refusal, LengthsAreForms) {
  Case c;
  c.text = R"json({"heddle": 1, "inputs": {"a": "f32[B,T,d]", "b": "f32[B,S,d]"}, "config": {"d": 4},
    "body": [{"y": "=a * 1"}, {"z": "=b * 1"}], "outputs": ["y", "z"]})json";
  auto is = [&](const std::string &e) { return c.edit("=a * 1", e).edit("=b * 1", "=b + 0"); };
  EXPECT_TRUE(import(c).ok);
  refuse(is("=a + b"), {"do not broadcast", "T", "S"});
  refuse(is("=a[:, 1:] + a"), {"do not broadcast", "T-1"});
  refuse(is("=(range((T + 2) // 2) + range(T // 2))[:, null] * a[:, 0:1]"), {"do not broadcast", "T//2"});
  EXPECT_TRUE(import(is("=a[:, 1:] + a[:, :-1]")).ok);
  EXPECT_TRUE(import(is("=(range((T + 2) // 2) + range(T // 2 + 1))[:, null] * a[:, 0:1]")).ok);
  refuse(is("=a[0, 0, 0, 0]"), {"more subscripts than axes"});
  refuse(is("=a[:, :, 9]"), {"rows 9 to 10"});
  refuse(c.edit("f32[B,S,d]", "f16[B,S,d]"), {"f32, i64 or bool"});
}

TEST(Refusal, WhatHasNoEffect) {
  refuse(encoder().edit("\"pad\": 0}", "\"pad\": 0, \"extra\": 1}"), {"$.config.extra", "nothing refers"});
  refuse(encoder().edit("{\"ids\": \"i64[B,T]\"}", "{\"ids\": \"i64[B,T]\", \"extra\": \"i64[B]\"}"),
         {"$.inputs.extra", "nothing reads"});
  refuse(with("{\"spare\": \"=words * 2\"}"), {"'spare'", "no output"});
  refuse(
      encoder().edit(
          "\"outputs\"",
          "\"blocks\": {\"spare\": {\"operands\": [\"x\"], \"body\": [{\"y\": \"=x\"}], \"result\": \"y\"}}, \"outputs\""),
      {"$.blocks.spare", "nothing calls"});
  refuse(encoder().edit("\"defaults\": {", "\"defaults\": {\"conv\": {\"stride\": 2}, "),
         {"$.defaults.conv.stride", "no call"});
  refuse(encoder().edit("\"defaults\": {", "\"defaults\": {\"embedding\": {\"weights\": \"x\"}, "),
         {"$.defaults.embedding.weights"});
  refuse(encoder().edit("\"down\": \"lin2\"", "\"down\": \"lin2\", \"quary\": \"q\""), {"names.quary"});
  refuse(encoder().edit("\"tied\": {", "\"tied\": {\"haed.w\": \"wtee.weight\", "), {"tied", "nothing reads"});
  refuse(encoder().edit("\"=range(T)\", \"width\"", "\"=range(T)\", \"weights\": \"p\", \"width\""),
         {"sinusoidal reads no weights"});
  refuse(memoryIs("{\"counted\": \"x\", \"weights\": \"x\"}"), {"counted reads no weights"});
  refuse(encoder().edit(memory, "{\"weights\": \"w\", \"body\": [{\"memory\": \"=x\"}]},"),
         {"nothing inside reads weights"});
  refuse(
      encoder().edit("\"bias\": false, \"weights\": \"head\"", "\"bias\": false, \"groups\": 2, \"weights\": \"head\""),
      {"groups without split"});
  refuse(memoryIs("{\"rearrange\": \"x\", \"pattern\": \"b t d -> b t d\", \"sizes\": {\"z\": 1}}"),
         {"sizes gives 'z'"});
  refuse(encoder().edit("{\"ids\": \"i64[B,T]\"}", "{\"ids\": {\"type\": \"i64[B,T]\", \"defualt\": \"=1\"}}"),
         {"$.inputs.ids.defualt", "'default'"});
  refuse(encoder().edit("[\"logits\"", "[\"logits\", \"memroy\""), {"$.outputs", "'memory'"});
  refuse(encoder().edit("{\"T\": 32}", "{\"T\": 32, \"S\": 64}"), {"$.dims.S", "no input"});
  refuse(with("{\"layers\": \"=ids\"}"), {"'layers' is a constant"});
  Case set = encoder();
  set.sets = {{"widht", "3"}};
  refuse(set, {"--set", "'widht'", "'width'"});
}

TEST(Refusal, Roles) {
  auto roles = [](const std::string &g) {
    return encoder().edit("\"outputs\"", "\"generate\": " + g + ", \"outputs\"");
  };
  EXPECT_TRUE(import(roles("{\"tokens\": \"ids\", \"logits\": \"logits\"}")).ok);
  refuse(roles("{\"token\": \"ids\", \"logits\": \"logits\"}"), {"$.generate.token", "'tokens'"});
  refuse(roles("{\"tokens\": \"ids\", \"logits\": \"logits\", \"mask\": \"idz\"}"),
         {"$.generate.mask", "no input 'idz'", "'ids'"});
  refuse(roles("{\"tokens\": \"ids\", \"logits\": \"logits\", \"extend\": {\"kinds\": \"=0\"}}"),
         {"$.generate.extend.kinds"});
  refuse(roles("{\"tokens\": \"ids\", \"logits\": \"logit\"}"), {"$.generate.logits", "'logits'"});
}

TEST(Refusal, Attributes) {
  refuse(encoder().edit("\"bias\": false, \"weights\": \"head\"",
                        "\"layout\": \"inout\", \"bias\": false, \"weights\": \"head\""),
         {"layout is out_in or in_out", "'in_out'"});
  refuse(encoder().edit("\"mask\": \"=real\"", "\"mask\": \"=real\", \"order\": \"prae\""),
         {"order is post or pre", "'pre'"});
  refuse(encoder().edit("\"mask\": \"=real\"", "\"mask\": \"=real\", \"order\": \"=heads > 0 ? 'prae' : 'pre'\""),
         {"order is post or pre", "'pre'"});
  refuse(encoder().edit("{\"heads\": \"=heads\", \"inner\"", "{\"heads\": \"=heads > 0 ? null : 1\", \"inner\""),
         {"needs the attribute 'heads'"});
  refuse(memoryIs("{\"sum\": \"x\"}"), {"sum: needs the attribute 'axis'"});
  refuse(memoryIs("{\"sum\": \"x\", \"axis\": 3}"), {"axis 3 does not exist"});
  refuse(encoder().edit("\"mask\": \"=real\"", "\"mask\": \"=real\", \"act\": \"gelu_old\""),
         {"unknown activation 'gelu_old'", "'gelu'"});
  refuse(
      memoryIs("{\"again\": \"x\"}")
          .edit(
              "\"outputs\"",
              "\"blocks\": {\"again\": {\"operands\": [\"x\"], \"body\": [{\"y\": {\"again\": \"x\"}}], \"result\": \"y\"}}, \"outputs\""),
      {"calling itself"});
  refuse(
      memoryIs("{\"mine\": \"x\"}")
          .edit(
              "\"outputs\"",
              "\"blocks\": {\"mine\": {\"operands\": [\"x\"], \"body\": [{\"y\": \"=x + width\"}], \"result\": \"y\"}}, \"outputs\""),
      {"unknown name 'width'", "called from here"});
}

TEST(Refusal, Families) {
  refuse(gpt2().edit("\"n_embd\": 8", "\"n_embd\": 8, \"n_embdd\": 3"), {"config.json.n_embdd", "'n_embd'"}, 3);
  refuse(gpt2().edit("\"n_layer\": 2,", ""), {"n_layer", "??"});
  refuse(gpt2().edit("\"is_encoder_decoder\": false", "\"is_encoder_decoder\": true"),
         {"is_encoder_decoder", "only false"}, 3);
  refuse(gpt2().edit("[\"GPT2LMHeadModel\"]", "[\"GPT2LMHead\"]"), {"'GPT2LMHeadModel'"}, 3);
  refuse(gpt2().edit("\"gelu_new\"", "\"gelu_old\""), {"unknown activation 'gelu_old'", "'gelu"});
  refuse(gpt2().edit("\"gpt2\"", "\"gpt22\""), {"no family file", "'gpt2'"}, 3);
  Case copy = gpt2().tensor("lm_head.weight", {11, 8});
  EXPECT_TRUE(import(copy).ok);
  copy.different = {{"lm_head.weight", "transformer.wte.weight"}};
  refuse(copy, {"differs"});
  refuse(gpt2().tensor("ln_f.weight", {8}), {"both in the file"});
  refuse(gpt2().edit("\"n_head\": 2", "\"n_head\": 0"), {"division by zero", "'n_head' is 0"});
  refuse(gpt2().edit("\"n_head\": 2", "\"n_head\": 3"), {"3", "'n_head' is 3 here"});
}

TEST(Refusal, RequireAndLike) {
  Case plain;
  plain.config = R"json({"model_type": "plain", "size": 3, "scaling": {"kind": "linear"}})json";
  plain.families["plain"] = R"json({"heddle": 1,
    "family": {"model_type": "plain", "architectures": {"*": {}}, "require": {"scaling.kind": ["linear"], "relative": "=relative ?? true", "gone": []}},
    "config": {"n": "=size"}, "inputs": {"x": "f32[B,n]"}, "body": [{"y": "=x + 1"}], "outputs": ["y"]})json";
  EXPECT_TRUE(import(plain).ok) << import(plain).messages;
  refuse(plain.edit("\"linear\"", "\"yarn\""), {"config.json.scaling.kind", "only [\"linear\"] is supported"}, 3);
  refuse(plain.edit("\"size\": 3", "\"size\": 3, \"relative\": false"), {"config.json.relative", "found false"}, 3);
  refuse(plain.edit("\"size\": 3", "\"size\": 3, \"gone\": 1"), {"config.json.gone", "must be absent"}, 3);
  EXPECT_TRUE(import(plain.edit("\"size\": 3", "\"size\": 3, \"gone\": null, \"hidden_dropout_prob\": 0.1")).ok);
  refuse(plain.edit("\"kind\": \"linear\"", "\"kind\": \"linear\", \"more\": 1"), {"config.json.scaling.more"}, 3);

  Case circle = plain;
  circle.families["plain"] = R"json({"heddle": 1, "like": "other"})json";
  circle.families["other"] = R"json({"heddle": 1, "like": "plain"})json";
  refuse(circle, {"circle"});
  Case heir = plain;
  heir.families["base"] = plain.families["plain"];
  heir.families["plain"] = R"json({"heddle": 1, "like": "bas"})json";
  refuse(heir, {"$.like", "'base'"});
  heir.families["plain"] = R"json({"heddle": 1, "like": "base", "config": {"m": null}})json";
  refuse(heir, {"$.config.m", "null deletes"});
  heir.families["plain"] =
      R"json({"heddle": 1, "like": "base", "family": {"require": {"gone": null}}, "config": {"n": "=size * 2"}})json";
  Outcome o = import(heir);
  EXPECT_TRUE(o.ok) << o.messages;
  EXPECT_NE(o.ir.find("[B, 6]"), std::string::npos) << o.ir;
}

TEST(Refusal, AllOfThemInOneRun) {
  Outcome o = import(encoder()
                         .edit("\"pad\": 0}", "\"pad\": 0, \"extra\": 1}")
                         .edit("\"=words * sqrt(width) + places\"", "\"=words * sqr(width) + plces\"")
                         .edit("\"mask\": \"=real\"", "\"maks\": \"=real\"")
                         .without("embed.weight"));
  for (const char *w : {"$.config.extra", "'sqrt'", "'places'", "'mask'", "no weight 'embed.weight'"})
    EXPECT_NE(o.messages.find(w), std::string::npos) << w << "\n" << o.messages;
}

TEST(Refusal, PlacesInsideExpressionsAndBlocks) {
  Outcome o = import(encoder().edit("\"=words * sqrt(width) + places\"", "\"=words * sqrt(width) + plces\""));
  EXPECT_NE(
      o.messages.find("model.json:17:35: error[H0310]: $.body[3].x: unknown name 'plces'; did you mean 'places'?"),
      std::string::npos)
      << o.messages;
  o = import(encoder().edit("\"inner\": 16", "\"inner\": 17"));
  EXPECT_NE(
      o.messages.find(
          "model.json:20:14: error[H0342]: $.body[4].body[1].x > encoder_layer > feed_forward: linear: out should be 17"),
      std::string::npos)
      << o.messages;
  EXPECT_NE(o.messages.find("note: in the block 'feed_forward'"), std::string::npos) << o.messages;
}
