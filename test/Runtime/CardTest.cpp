//===- CardTest.cpp - Cards and size forms --------------------------------===//
//
// What is read, and that nothing odd is read in silence.
//
//===----------------------------------------------------------------------===//
#include "runtime/Core/Card.h"
#include "heddle/card_words.h"
#include "runtime/Core/Model.h"

#include <gtest/gtest.h>

using namespace heddle::rt;

namespace {

std::optional<int64_t> value(const std::string &text, std::vector<int64_t> dims = {3, 7, 1}) {
  Form form;
  if (!Form::parse(text, {"B", "T", "max"}, form).ok())
    return -12345;
  return form.evaluate(dims.data());
}

// What the compiler reads too.
TEST(Form, Values) {
#define SIZE(form, number) EXPECT_EQ(value(form), number) << form;
#define NO_VALUE(form) EXPECT_EQ(value(form), std::nullopt) << form;
#define NO_SIZE(form) EXPECT_EQ(value(form), -12345) << form;
#include "test/support/size_forms.def"
}

TEST(Form, Overflows) {
  EXPECT_EQ(value("9223372036854775807 + T"), std::nullopt);
  EXPECT_EQ(value("B*T*9223372036854775807"), std::nullopt);
}

TEST(Form, Refused) {
  EXPECT_EQ(value("Q"), -12345); // no dim of the entry
  EXPECT_EQ(value(std::string(100000, '(')), -12345);
  EXPECT_EQ(value(std::string(100000, '-') + "1"), -12345);
  std::string deep = "1";
  for (int i = 0; i < 200; ++i)
    deep = "1+(" + deep + ")";
  EXPECT_EQ(value(deep), -12345);
}

const char kGood[] = R"(heddle-card 1
name two%20words
target cpu%20znver5
masked_rows zero
needs sse2 avx
license apache-2.0
note whatever there is to say
dim B -
dim T 1024
generate tokens input_ids
generate logits logits
generate extend token_type_ids 0
generate eos 1 2
entry run
dims B T
input input_ids i64 [B, T]       # ids
input x f32 [B, max(T, 2), 3] default
input s f32 []
output logits f32 [B, T, 50257]
output hidden_states.0 f32 [B, T, 768] optional-all
arena 4*B*T*768+1024
entry step
dims B past new capacity
input input_ids i64 [B, new]
output logits f32 [B, 50257]
state k0 12*B*((capacity+127)//128)*128*1536*4
pieces 512 beyond 768
end
)";

TEST(Card, Reads) {
  Card card;
  Status status = Card::parse(kGood, card);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(card.name, "two words");
  EXPECT_EQ(card.bound("T"), 1024);
  EXPECT_EQ(card.bound("B"), std::nullopt);
  EXPECT_EQ(card.roles.eos, (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(card.roles.extend.at("token_type_ids"), 0);
  ASSERT_EQ(card.entries.size(), 2u);
  const Entry &run = card.entries[0];
  ASSERT_EQ(run.inputs.size(), 3u);
  EXPECT_EQ(run.inputs[1].typeText(), "f32[B, max(T, 2), 3]");
  EXPECT_TRUE(run.inputs[1].hasDefault);
  EXPECT_TRUE(run.inputs[2].axes.empty());
  EXPECT_TRUE(run.outputs[1].optionalAll);
  EXPECT_EQ(card.entry("step")->states[0].name, "k0");
  EXPECT_EQ(card.entry("step")->longestPiece, 512);
  EXPECT_EQ(card.entry("step")->ring, 768);
  EXPECT_EQ(run.longestPiece, 0);
}

TEST(Card, HowNumbersAreStored) {
  for (std::string line :
       {"", "dtype f32", "dtype bf16 wide", "dtype bf16 dots", "dtype bf16", "dtype f16", "dtype bf16 fast",
        "dtype f32 dots", "dtype f16 wide", "dtype", "dtype bf16 wide attention dots", "dtype bf16 dots attention wide",
        "dtype bf16 dots attention", "dtype bf16 dots wide", "dtype bf16 dots attention f32"}) {
    Card card;
    std::string text = "heddle-card 1\n" + line + "\ndim T 4\nentry run\ndims T\nend\n";
    bool mixed = line.find("attention") < line.size();
    bool good = line != "dtype bf16 dots attention" && line != "dtype bf16 dots wide" &&
                line != "dtype bf16 dots attention f32" && line != "dtype" && line != "dtype bf16" &&
                line != "dtype f16 wide" && line != "dtype bf16 fast" && line != "dtype f32 dots";
    EXPECT_EQ(Card::parse(text.c_str(), card).ok(), good) << line;
    if (good) {
      EXPECT_EQ(card.dtype, line.find("bf16") < line.size() ? "bf16" : line == "dtype f16" ? "f16" : "f32");
      EXPECT_EQ(card.dots, line.find("bf16 dots") < line.size());
      EXPECT_EQ(card.attentionDots, card.dots != mixed);
    }
  }
}

TEST(Card, EveryLineMatters) {
  // A card that lacks a line may be fine; one that is cut never crashes.
  std::string good = kGood;
  for (size_t n = 0; n < good.size(); ++n) {
    Card card;
    std::string cut = good.substr(0, n);
    Status status = Card::parse(cut.c_str(), card);
    EXPECT_EQ(status.ok(), n >= good.find("end\n") + 3) << n;
  }
}

TEST(Card, Refused) {
  auto with = [](const std::string &line) { return "heddle-card 1\ndim T 4\nentry run\ndims T\n" + line + "\nend\n"; };
  for (const char *line : {"frobnicate",
                           "input x i64",
                           "input x i63 [T]",
                           "input x i64 [T",
                           "input x i64 [T] sometimes",
                           "input x i64 [Q]",
                           "input x i64 [T,]",
                           "dims T",
                           "arena Q",
                           "pieces",
                           "pieces 0 beyond 4",
                           "pieces 4 behind 8",
                           "pieces 4 beyond",
                           "pieces 8 beyond 4",
                           "state s",
                           "entry run",
                           "output y f32 [T] default",
                           "input x i64 [T]\ninput x i64 [T]",
                           "dim T 5",
                           "dim U x",
                           "generate tokens",
                           "generate tokens a b",
                           "name",
                           "name two words",
                           "label a b",
                           "label 100%",
                           "label %4",
                           "label %41",
                           "label a%",
                           "label %0a",
                           "label caf\xc3\xa9",
                           "entry a\"b",
                           "input a\x1b i64 [T]",
                           "phase op turns 1 operations 0 bytes 0 # two words",
                           "generate magic x",
                           "generate pad x",
                           "generate extend a b",
                           "generate eos 1 x",
                           "generate temperature",
                           "generate temperature 1 2",
                           "generate temperature -1",
                           "generate temperature nan",
                           "generate top_k 0.5",
                           "generate num_beams 257",
                           "generate top_k 4\ngenerate top_k 4",
                           "generate size 4",
                           "picture size 4 x",
                           "picture size 4 0.5",
                           "picture top_k 4",
                           "sound size 4",
                           "codes 4 32 1 64",
                           "codes 4 32 1 64 dots64",
                           "slots yes why",
                           "require T >= T",
                           "state s 4 groups 0",
                           "state s 4 groups 1 rows 1 2"}) {
    Card card;
    Status status = Card::parse(with(line).c_str(), card);
    EXPECT_EQ(status.exit(), heddle::Exit::Internal) << line;
  }
  for (const char *text :
       {"", "heddle-card", "heddle-card 2\nend\n", "heddle-card 1\nend\n", "heddle-card 1\nentry run\nend\n"}) {
    Card card;
    EXPECT_FALSE(Card::parse(text, card).ok()) << text;
  }
}

/// An error is the row of card.def, unless there is more to say.
TEST(Card, ErrorsSayWhatTheLineShouldBe) {
  for (auto [line, why] : {std::pair("pieces 8 beyond 4", "line 2: expected `pieces N beyond ROWS`"),
                           {"generate pad x", "line 2: expected `generate pad ID`"},
                           {"name two words", "line 2: unexpected `words`"},
                           {"arena Q", "line 2: "},
                           {"generate magic 1", "line 2: unknown setting `magic`"},
                           {"generate top_p 2", "line 2: `top_p` takes other numbers"},
                           {"frobnicate", "line 2: unknown word `frobnicate`"}}) {
    Card card;
    std::string entry = std::string_view(line).substr(0, 8) == "generate" ? "" : "entry run\ndims T\n";
    std::string at = entry.empty() ? "line 2" : "line 4", text = why;
    text.replace(0, 6, at);
    Status status = Card::parse(("heddle-card 1\n" + entry + line + "\nend\n").c_str(), card);
    EXPECT_NE(status.message().find(text), std::string::npos) << status.message();
  }
}

/// What a model does not say is as the table has it.
TEST(Card, SettingsHaveDefaults) {
  Card card;
  ASSERT_TRUE(Card::parse("heddle-card 1\ngenerate tokens a\ngenerate logits b\ngenerate top_p 0.5\n"
                          "generate suppress_tokens 3 -1\npicture crop 4 5\nentry run\ndims\nend\n",
                          card)
                  .ok());
  const Settings &settings = card.roles.settings;
  EXPECT_EQ(settings.number(heddle::generation::top_p), 0.5);
  EXPECT_EQ(settings.number(heddle::generation::temperature), 1);
  EXPECT_EQ(settings.integer(heddle::generation::top_k), -1);
  EXPECT_EQ(settings.number(heddle::generation::top_k, 50), 50);
  EXPECT_FALSE(settings.flag(heddle::generation::do_sample));
  EXPECT_EQ(settings.integers(heddle::generation::suppress_tokens), (std::vector<int64_t>{3, -1}));
  EXPECT_EQ(card.picture.integers(heddle::picture::crop), (std::vector<int64_t>{4, 5}));
  EXPECT_FALSE(card.picture.has(heddle::picture::size));
  EXPECT_EQ(card.sound.integer(heddle::sound::rate), 16000);
}

TEST(Card, EveryTextIsOneWord) {
  std::string all;
  for (int c = 0; c < 256; ++c)
    all += char(c);
  for (const std::string &text :
       {std::string(), std::string("%"), std::string("x\nend\n"), std::string("a # b"), all}) {
    std::string word = heddle::cardWord(text);
    EXPECT_EQ(word.find_first_of(" \n#"), std::string::npos) << word;
    EXPECT_EQ(heddle::textOfCardWord(word), text);
    Card card;
    std::string lines =
        "heddle-card 1\nname " + word + "\nlabel " + word + "\nentry run\ndims\nphase op # " + word + "\nend\n";
    ASSERT_TRUE(Card::parse(lines.c_str(), card).ok()) << word;
    EXPECT_EQ(card.texts(), (std::vector<std::string>{text, "", text, "run"}));
    EXPECT_EQ(card.entries[0].phases[0].weight, text);
  }
}

TEST(Card, NothingBehindTheEnd) {
  std::string good = kGood;
  Card card;
  std::optional<Card> device;
  EXPECT_TRUE(Card::parse(good.c_str(), card, device).ok());
  EXPECT_FALSE(Card::parse((good + "more\n").c_str(), card, device).ok());
  EXPECT_FALSE(Card::parse((good + good + good).c_str(), card, device).ok());
}

TEST(Card, Launches) {
  Card card;
  Status status = Card::parse(R"(heddle-card 1
device sm_80 sm_90a
dim T 8
entry run
dims B T
arena 64
length 64*T + 8
length max(B, T)
launch first items max(B, 2) * T of 32 threads 256 # linear,%20%24.layers[0]%20%23%20x
repeat 3
launch second items T of 1 threads 96 optional shared 1024
launch fourth items T of 1 threads 96 shared 65536 on sm_89 sm_90a with 7 # on%20top
repeat B + 1
launch third items 1 of 32 threads 32 with 5 -1 4294967296
again
again
entry other
dims B
end
)",
                              card);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(card.devices, (std::vector<std::string>{"sm_80", "sm_90a"}));
  const std::vector<LaunchLine> &lines = card.entries[0].launches;
  using Kind = LaunchLine::Kind;
  ASSERT_EQ(lines.size(), 8u);
  const Kind kinds[] = {Kind::Launch, Kind::Repeat, Kind::Launch, Kind::Launch,
                        Kind::Repeat, Kind::Launch, Kind::Again,  Kind::Again};
  for (size_t i = 0; i < 8; ++i)
    EXPECT_EQ(lines[i].kind, kinds[i]) << i;
  const int64_t dims[] = {1, 5};
  EXPECT_EQ(lines[0].kernel, "first");
  EXPECT_EQ(lines[0].count.evaluate(dims), 10);
  EXPECT_EQ(lines[0].lanes, 32);
  EXPECT_EQ(lines[0].place, "linear, $.layers[0] # x");
  EXPECT_EQ(lines[2].place, "");
  EXPECT_EQ(lines[0].threads, 256);
  EXPECT_EQ(lines[0].shared, 0);
  EXPECT_EQ(lines[1].count.evaluate(dims), 3);
  EXPECT_EQ(lines[2].lanes, 1);
  EXPECT_EQ(lines[2].shared, 1024);
  EXPECT_TRUE(lines[2].optional);
  EXPECT_FALSE(lines[3].optional);
  EXPECT_TRUE(lines[2].chips.empty());
  EXPECT_EQ(lines[3].shared, 65536);
  EXPECT_EQ(lines[3].chips, (std::vector<std::string>{"sm_89", "sm_90a"}));
  EXPECT_EQ(lines[3].place, "on top");
  EXPECT_EQ(lines[3].numbers, (std::vector<int64_t>{7}));
  EXPECT_EQ(lines[4].count.evaluate(dims), 2);
  EXPECT_EQ(lines[5].numbers, (std::vector<int64_t>{5, -1, int64_t(1) << 32}));
  EXPECT_TRUE(lines[2].numbers.empty());
  ASSERT_EQ(card.entries[0].lengths.size(), 2u);
  EXPECT_EQ(card.entries[0].lengths[0].evaluate(dims), 328);
  EXPECT_EQ(card.entries[0].lengths[1].evaluate(dims), 5);
  EXPECT_TRUE(card.entries[1].launches.empty());
}

TEST(Card, Regroups) {
  auto parse = [](const char *lines, Card &card) {
    return Card::parse(("heddle-card 1\ndevice sm_80\n" + std::string(lines) + "\nentry run\ndims T\nend\n").c_str(),
                       card);
  };
  Card card;
  Status status = parse("regroup 64 8 2 32\nregroup 2112 4 1 32", card);
  ASSERT_TRUE(status.ok()) << status.message();
  ASSERT_EQ(card.regroups.size(), 2u);
  EXPECT_EQ(card.regroups[0].bytes(), 2048u);
  EXPECT_EQ(card.regroups[1].offset, 2112);
  for (const char *lines : {"regroup", "regroup 64", "regroup 64 8 2", "regroup 64 8 2 x", "regroup -64 8 2 32",
                            "regroup 8 8 2 32", "regroup 64 6 2 32", "regroup 64 0 2 32", "regroup 64 8 0 32",
                            "regroup 64 8 2 0", "regroup 64 8 2 32\nregroup 2048 4 1 32"}) {
    Card other;
    EXPECT_FALSE(parse(lines, other).ok()) << lines;
  }
}

/// A card for each of two targets: what is the target's own is taken over.
TEST(Card, TwoTargets) {
  auto text = [](const char *head, const char *dims, const char *rest) {
    return "heddle-card 1\n" + std::string(head) + "\nentry run\ndims " + dims + "\n" + rest + "\nend\n";
  };
  std::string host = text("target cpu%20x", "B T", "arena 64*threads"),
              gpu = text("target cuda%20sm_80\ndevice sm_80", "B T", "arena 128*T\nlaunch k items T of 32 threads 32");
  Card card;
  std::optional<Card> device;
  ASSERT_TRUE(Card::parse(host.c_str(), card, device).ok());
  EXPECT_FALSE(device);
  Status status = Card::parse((host + gpu).c_str(), card, device);
  ASSERT_TRUE(status.ok()) << status.message();
  ASSERT_TRUE(device);
  EXPECT_EQ(card.text, host + gpu);
  const Entry *run = card.entry("run");
  EXPECT_TRUE(run->launches.empty());
  card.adopt(*device);
  EXPECT_EQ(card.entry("run"), run);
  EXPECT_EQ(card.target, "cuda sm_80");
  EXPECT_EQ(card.devices, std::vector<std::string>{"sm_80"});
  EXPECT_EQ(run->launches.size(), 1u);
  const int64_t dims[] = {1, 5, 7};
  EXPECT_EQ(run->arena.evaluate(dims), 640);
  std::string other = text("target cuda%20sm_80", "B", "arena 64");
  EXPECT_FALSE(Card::parse((host + other).c_str(), card, device).ok());
  EXPECT_FALSE(Card::parse((host + "more").c_str(), card, device).ok());
}

TEST(Card, LaunchesRefused) {
  auto parse = [](const std::string &lines, const char *device = "device sm_80") {
    Card card;
    return Card::parse(("heddle-card 1\n" + std::string(device) + "\nentry run\ndims T\n" + lines + "\nend\n").c_str(),
                       card);
  };
  EXPECT_TRUE(parse("launch k items T of 32 threads 64").ok());
  for (const char *lines : {"launch",
                            "launch k",
                            "launch k items",
                            "launch k items T",
                            "launch k items T of 32",
                            "launch k items T of 32 threads",
                            "launch k items T of 32 threads x",
                            "launch k items T of 16 threads 64",
                            "launch k items T of 32 threads 40",
                            "launch k items T of 32 threads 0",
                            "launch k items T of 32 threads 2048",
                            "launch k items Q of 32 threads 64",
                            "launch k T of 32 threads 64",
                            "launch k items T of 32 threads 64 extra",
                            "launch k items T of 32 threads 64optional",
                            "launch k items T of 32 optional threads 64",
                            "launch k items T of 32 threads 64 shared",
                            "launch k items T of 32 threads 64 shared -1",
                            "launch k items T of 32 threads 64 shared 8 9",
                            "launch k items T of 32 threads 64 on sm_80",
                            "launch k items T of 32 threads 64 with",
                            "launch k items T of 32 threads 64 with x",
                            "launch k items T of 32 threads 64 with 1  2",
                            "length",
                            "length Q",
                            "repeat",
                            "repeat Q",
                            "repeat 2",
                            "repeat 2\nlaunch k items T of 32 threads 64",
                            "again",
                            "repeat 2\nagain\nagain",
                            "repeat 2\nagain now",
                            "repeat 2\nrepeat 2\nrepeat 2\nagain\nagain\nagain",
                            "repeat 2\nentry other\ndims T",
                            "device"}) {
    Status status = parse(lines);
    EXPECT_EQ(status.exit(), heddle::Exit::Internal) << lines;
    EXPECT_NE(status.message().find("line "), std::string::npos) << lines;
  }
  EXPECT_FALSE(parse("launch k items T of 32 threads 64", "").ok());
  EXPECT_FALSE(parse("", "device").ok());
  EXPECT_FALSE(parse("", "device sm_80\ndevice sm_90a").ok());
}

struct Bound {
  Card card;
  std::vector<int64_t> dims;
  Status status;

  Bound(const std::vector<Shape> &shapes) {
    Status parsed = Card::parse(R"(heddle-card 1
dim T 8
entry run
dims B T S
input a i64 [B, T]
input b f32 [B, 3, 2*S+1] default
input c f32 [T, T] default
end
)",
                                card);
    EXPECT_TRUE(parsed.ok());
    std::vector<Given> given;
    for (size_t i = 0; i < shapes.size(); ++i)
      given.push_back({&card.entries[0].inputs[i], shapes[i]});
    status = bindDims(card, card.entries[0], given, dims);
  }
};

TEST(Bind, ReadsAndSolves) {
  Bound good({{2, 5}, {2, 3, 9}, {5, 5}});
  ASSERT_TRUE(good.status.ok()) << good.status.message();
  EXPECT_EQ(good.dims, (std::vector<int64_t>{2, 5, 4}));
  Bound broadcast({{2, 5}, {9}});
  ASSERT_TRUE(broadcast.status.ok()) << broadcast.status.message();
  EXPECT_EQ(broadcast.dims[2], 4);
  Bound alone({{5}, {9}});
  ASSERT_TRUE(alone.status.ok()) << alone.status.message();
  EXPECT_EQ(alone.dims, (std::vector<int64_t>{1, 5, 4}));
}

TEST(Bind, WhatOnlyLeftOutInputsHaveIsNothing) {
  Bound bound({{2, 5}});
  ASSERT_TRUE(bound.status.ok()) << bound.status.message();
  EXPECT_EQ(bound.dims, (std::vector<int64_t>{2, 5, 0}));
}

TEST(Bind, Refuses) {
  auto says = [](const std::vector<Shape> &shapes, const char *what) {
    Bound bound(shapes);
    EXPECT_EQ(bound.status.exit(), heddle::Exit::Input);
    EXPECT_NE(bound.status.message().find(what), std::string::npos) << bound.status.message();
  };
  says({{2, 9}, {9}}, "past the bound 8");
  says({}, "nothing given tells the length `B`");
  says({{2, 5}, {8}}, "no S makes 2*S+1 8");
  says({{2, 5}, {4, 9}}, "its first axis is 4, expected 3");
  says({{2, 5}, {2, 4, 9}}, "its axis 1 is 4, expected 3");
  says({{2, 5}, {1, 3, 9}}, "B is 2 in `a`");
  says({{1, 2, 5}, {9}}, "3 axes where 2 are declared");
  says({{2, 5}, {9}, {4, 5}}, "T is 5 in `a`");
  says({{0, 5}, {9}}, "B = 0");
}

} // namespace
