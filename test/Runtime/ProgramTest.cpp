//===- ProgramTest.cpp - The command line of a compiled model -------------===//
//
// Whole calls of the program: exit codes, messages, files.
//
//===----------------------------------------------------------------------===//
#include "test/Runtime/Program.h"
#include "runtime/Bench/Peaks.h"
#include "test/Runtime/Files.h"

#include <climits>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

using namespace heddle;
using namespace heddle::rt;
using test::program;
using test::Result;
using Json = nlohmann::json;

namespace {

TEST(Program, RunWritesOutputs) {
  test::TemporaryFile in, out;
  Tensor ids = test::makeTensor("input_ids", {2, 3}, {1, 2, 3, 4, 5, 6});
  ASSERT_TRUE(writeTensors(in.path(), {&ids}).ok());
  Result result = program(fake::decoderOnly(), {"run", "--input", in.path(), "--output=" + out.path()});
  EXPECT_EQ(result.exit, 0) << result.err;
  TensorFile file;
  ASSERT_TRUE(file.open(out.path()).ok());
  ASSERT_EQ(file.tensors().size(), 2u);
  EXPECT_EQ(file.tensors()[0].name, "logits");
  EXPECT_EQ(file.tensors()[0].shape, (Shape{2, 3, 50}));
  EXPECT_EQ(file.tensors()[1].name, "hidden_states.0");
}

TEST(Program, RunRefuses) {
  test::TemporaryFile in, out;
  out.write("as it was");
  auto run = [&](const Tensor &tensor) {
    EXPECT_TRUE(writeTensors(in.path(), {&tensor}).ok());
    return program(fake::decoderOnly(), {"run", "--input", in.path(), "--output", out.path()});
  };
  Result result = run(test::makeTensor("input_idss", {1, 1}, {1}));
  EXPECT_EQ(result.exit, 1);
  EXPECT_NE(result.err.find("did you mean `input_ids`?"), std::string::npos);
  result = run(test::makeTensor("input_ids", {1, 1}, {50}));
  EXPECT_EQ(result.exit, 1);
  EXPECT_NE(result.err.find("id 50 is outside a table of 50 rows"), std::string::npos);
  result = run(test::makeTensor("input_ids", {1, 33}, std::vector<int64_t>(33)));
  EXPECT_NE(result.err.find("T = 33 is past the bound 32"), std::string::npos);
  result = run(test::makeTensor("\x1b[31mred", {1}, {1}));
  EXPECT_EQ(result.err.find('\x1b'), std::string::npos);
  EXPECT_EQ(out.read(), "as it was");
}

TEST(Program, UsageErrors) {
  Image image = fake::decoderOnly();
  for (const std::vector<std::string> &words :
       std::vector<std::vector<std::string>>{{"run"},
                                             {"run", "--input"},
                                             {"run", "--input", "a", "--output", "b", "--thread", "2"},
                                             {"run", "--input", "a", "--output", "b", "--threads", "0"},
                                             {"run", "--input", "a", "--output", "b", "--threads", "2x"},
                                             {"run", "--input", "a", "--output", "b", "--entry", "walk"},
                                             {"run", "--input", "a", "--input", "b", "--output", "c"},
                                             {"runn"},
                                             {"generate"},
                                             {"generate", "--ids", "1,2,"},
                                             {"generate", "--ids", "1", "--input", "x"},
                                             {"generate", "--input", "x"},
                                             {"generate", "--ids", "1", "-n", "-1"},
                                             {"generate", "--ids", "1", "--greedy", "--temp", "1"},
                                             {"generate", "--ids", "1", "--temp", "warm"},
                                             {"generate", "--ids", "1", "--seed", "1"},
                                             {"generate", "--ids", "1", "--num-beams", "0"},
                                             {"generate", "--ids", "1", "--num-beams", "2", "--temp", "1"},
                                             {"generate", "--ids", "1", "--num-beams", "2", "--greedy"},
                                             {"generate", "--ids", "1", "--length-penalty", "2"},
                                             {"generate", "--ids", "1", "--num-beams", "2", "--early-stopping", "soon"},
                                             {"generate", "--ids", "1", "--min-p", "2"},
                                             {"generate", "--ids", "1", "--repetition-penalty", "0"},
                                             {"generate", "--ids", "1", "--stop", "x"},
                                             {"generate", "--ids", "1", "--language", "en"},
                                             {"generate", "--ids", "1", "--task", "translate"},
                                             {"info", "more"},
                                             {"bench", "--input", "x"},
                                             {"bench", "--batch", "0"}}) {
    Result result = program(image, words);
    EXPECT_EQ(result.exit, 2) << words.back();
    EXPECT_NE(result.err.find("error["), std::string::npos);
    EXPECT_TRUE(result.out.empty()) << result.out;
  }
  EXPECT_EQ(program(image, {"generate", "--text", "x"}).exit, 3);
  EXPECT_EQ(program(image, {"run", "--input", "/nowhere", "--output", "x"}).exit, 5);
}

/// A short or a distant name is no likely slip of another.
TEST(Program, OptionsThatWereMeant) {
  auto said = [](const std::string &flag) {
    return program(fake::decoderOnly(), {"generate", "--ids", "1", flag}).err;
  };
  EXPECT_EQ(said("--yaml").find("--stop"), std::string::npos) << said("--yaml");
  EXPECT_EQ(said("-p").find("did you mean"), std::string::npos) << said("-p");
  EXPECT_NE(said("--yaml").find("see --help"), std::string::npos);
  for (const auto &[typed, meant] : {std::pair("--temprature", "--temperature?"),
                                     {"--gredy", "--greedy?"},
                                     {"--Top-K", "--top-k?"},
                                     {"--seeed", "--seed?"},
                                     {"-greedy", "--greedy?"},
                                     {"--max-new", "--max-new-tokens?"},
                                     {"--n", "-n?"},
                                     {"--sede", "--seed?"}})
    EXPECT_NE(said(typed).find(std::string("did you mean ") + meant), std::string::npos) << said(typed);
}

/// A word that is nearly a command is asked about, with the way to say it as a text.
TEST(Program, WordsThatLookLikeCommands) {
  Image image = fake::decoderOnly();
  for (const auto &[word, meant] : {std::pair("inof", "did you mean info?"),
                                    {"runn", "did you mean run?"},
                                    {"bnch", "did you mean bench?"},
                                    {"Help", "did you mean help?"},
                                    {"serve", "its commands: run, generate, info, bench"}}) {
    Result result = program(image, {word});
    EXPECT_EQ(result.exit, 2) << word;
    EXPECT_NE(result.err.find(meant), std::string::npos) << result.err;
  }
  Result late = program(image, {"-n", "5", "info"});
  EXPECT_EQ(late.exit, 2);
  EXPECT_NE(late.err.find("comes before the options"), std::string::npos) << late.err;
  // After -- it is a text, and this model takes none.
  EXPECT_EQ(program(image, {"--", "inof"}).exit, 3);
}

TEST(Program, OptionsWithoutTheirCommandOrValue) {
  Image image = fake::decoderOnly();
  for (const auto &[words, said] :
       {std::pair(std::vector<std::string>{"--ids", "7,8"}, "did you mean generate --ids?"),
        {{"--ids=7,8"}, "did you mean generate --ids?"},
        {{"--input", "x", "--output", "y"}, "did you mean run --input?"},
        {{"generate", "--ids", "-n", "3"}, "option --ids takes a value, and -n is an option"}}) {
    Result result = program(image, words);
    EXPECT_EQ(result.exit, 2) << result.err;
    EXPECT_NE(result.err.find(said), std::string::npos) << result.err;
  }
}

TEST(Program, TextWithoutTokenizer) {
  Result named = program(fake::decoderOnly(), {"generate", "hello"});
  EXPECT_EQ(named.exit, 3);
  EXPECT_NE(named.err.find("has no tokenizer"), std::string::npos) << named.err;
  Result result = program(fake::decoderOnly(), {"Once upon a time"});
  EXPECT_EQ(result.exit, 3);
  for (const char *words : {"has no tokenizer", "generate --ids 1,2,3 -n 20", "tokenizer.json next to config.json"})
    EXPECT_NE(result.err.find(words), std::string::npos) << result.err;
}

TEST(Program, TensorsToStandardOutput) {
  test::TemporaryFile in, out;
  Tensor ids = test::makeTensor("input_ids", {1, 2}, {1, 2});
  ASSERT_TRUE(writeTensors(in.path(), {&ids}).ok());
  Image image = fake::decoderOnly();
  Result piped = program(image, {"run", "--input", in.path(), "--output", "-"});
  EXPECT_EQ(piped.exit, 0) << piped.err;
  EXPECT_NE(access("-", F_OK), 0);
  Result filed = program(image, {"run", "--input", in.path(), "--output", out.path()});
  EXPECT_EQ(filed.exit, 0) << filed.err;
  EXPECT_EQ(piped.out, out.read());
  Result read = program(image, {"run", "--input", "-", "--output", out.path()});
  EXPECT_EQ(read.exit, 2);
  EXPECT_NE(read.err.find("come from a file"), std::string::npos) << read.err;
}

/// Without --seed every call draws one; the one that it names gives its text again.
TEST(Program, SeedIsDrawn) {
  auto sample = [](std::vector<std::string> more) {
    std::vector<std::string> words = {"generate", "--ids", "1,2",          "-n",     "12",
                                      "--temp",   "1000",  "--ignore-eos", "--stats"};
    words.insert(words.end(), more.begin(), more.end());
    return program(fake::decoderOnly(), words);
  };
  Result first = sample({});
  ASSERT_EQ(first.exit, 0) << first.err;
  size_t at = first.err.find("--seed ");
  ASSERT_NE(at, std::string::npos) << first.err;
  std::string seed = first.err.substr(at + 7, first.err.find(' ', at + 7) - at - 7);
  EXPECT_EQ(sample({"--seed", seed}).out, first.out);
  bool differs = false;
  for (int i = 0; i < 4; ++i)
    differs |= sample({}).out != first.out;
  EXPECT_TRUE(differs) << first.out;
  EXPECT_NE(first.err.find("stats: 2 tokens read in "), std::string::npos) << first.err;
  EXPECT_EQ(program(fake::decoderOnly(), {"generate", "--ids", "1", "--greedy", "--stats"}).err.find("--seed"),
            std::string::npos);
}

/// --ignore-eos means that no end is forced either.
TEST(Program, ForcedEndAndIgnoredEnd) {
  Image image = fake::decoderOnly(), forced = image;
  std::string card = image.card;
  card.insert(card.find("generate eos"), "generate forced_eos_token_id 9\n");
  forced.card = card.c_str();
  auto ids = [](const Image &which, std::vector<std::string> more) {
    more.insert(more.begin(), {"generate", "--ids", "1,2,3", "-n", "3"});
    return program(which, more).out;
  };
  std::string free = ids(image, {"--ignore-eos"});
  EXPECT_EQ(ids(forced, {"--ignore-eos"}), free);
  EXPECT_EQ(ids(forced, {}), free.substr(0, free.rfind(',')) + ",9\n");
  EXPECT_NE(program(forced, {"help", "generate"}).out.find("and force none"), std::string::npos);
}

TEST(Program, SharesOfThePeak) {
  EXPECT_EQ(shareText(0.123, false), "12.3 % of the peak");
  EXPECT_EQ(shareText(1, true), "100.0 % of the peak");
  for (bool cached : {false, true})
    EXPECT_EQ(shareText(1.2, cached).find('%'), std::string::npos);
  EXPECT_NE(shareText(1.2, false).find("not steady"), std::string::npos);
}

TEST(Program, HelpOfACommand) {
  Image image = fake::decoderOnly();
  for (const char *command : {"run", "generate", "info", "bench"}) {
    std::string help = program(image, {"help", command}).out;
    EXPECT_EQ(program(image, {command, "--help"}).out, help);
    EXPECT_NE(help.find("Example: model " + std::string(command)), std::string::npos) << help;
    for (const char *other : {"run", "generate", "info", "bench"})
      if (std::string(other) != command)
        EXPECT_EQ(help.find(" model " + std::string(other) + " "), std::string::npos) << help;
  }
  EXPECT_NE(program(image, {"help", "generate"}).out.find("[B, prompt + N]"), std::string::npos);
  EXPECT_EQ(program(image, {"help", "generat"}).exit, 2);
  Result version = program(image, {"--version"});
  EXPECT_EQ(version.out.rfind("model: ", 0), 0u) << version.out;
  EXPECT_NE(version.out.find("compiled by heddle "), std::string::npos);
}

TEST(Program, ErrorsAsJson) {
  Result result = program(fake::decoderOnly(), {"--error-format=json", "generate", "--ids", "99"});
  Json error = Json::parse(result.err, nullptr, false);
  ASSERT_TRUE(error.is_object()) << result.err;
  EXPECT_EQ(error["level"], "error");
  EXPECT_NE(error["message"].get<std::string>().find("99"), std::string::npos);
}

TEST(Program, InfoAndHelp) {
  Result result = program(fake::encoderDecoder(), {"info", "--json"});
  Json info = Json::parse(result.out, nullptr, false);
  ASSERT_TRUE(info.is_object()) << result.out;
  EXPECT_EQ(info["dims"]["T"], 32);
  EXPECT_TRUE(info["dims"]["B"].is_null());
  EXPECT_EQ(info["entries"].size(), 3u);
  EXPECT_EQ(info["generate"]["start"], 11);
  for (const char *word : {"--help", "-h", "help"})
    EXPECT_NE(program(fake::decoderOnly(), {word}).out.find("generate"), std::string::npos);
  EXPECT_EQ(program(fake::decoderOnly(), {}).exit, 0);
}

TEST(Program, GeneratesIds) {
  Result result = program(fake::decoderOnly(), {"generate", "--ids", "1,2,3", "-n", "5"});
  std::string wanted;
  for (int64_t id : fake::continuation(0, {1, 2, 3}, 5))
    wanted += (wanted.empty() ? "" : ",") + std::to_string(id);
  EXPECT_EQ(result.out, wanted + "\n");
  result = program(fake::decoderOnly(), {"generate", "--ids", "1,2,3", "-n", "99", "--ignore-eos"});
  EXPECT_EQ(result.exit, 0);
  EXPECT_NE(result.err.find("note: the text has reached the 32 positions"), std::string::npos);
}

/// What the card says of generation is what is done without flags.
TEST(Program, DefaultsOfTheCard) {
  Image image = fake::decoderOnly();
  std::string card = image.card;
  card.insert(card.find("generate eos"), "generate num_beams 3\ngenerate length_penalty 0.5\n"
                                         "generate max_new_tokens 6\ngenerate bos_token_id 1\n");
  Image said = image;
  said.card = card.c_str();
  auto ids = [](const Image &which, std::vector<std::string> more) {
    std::vector<std::string> words = {"generate", "--ids", "1,2,3"};
    words.insert(words.end(), more.begin(), more.end());
    Result result = program(which, words);
    EXPECT_EQ(result.exit, 0) << result.err;
    return result.out;
  };
  EXPECT_EQ(ids(said, {}), ids(image, {"-n", "6", "--num-beams", "3", "--length-penalty", "0.5"}));
  EXPECT_EQ(ids(said, {"-n", "4", "--greedy"}), ids(image, {"-n", "4"}));
  EXPECT_EQ(ids(said, {"--num-beams", "1"}), ids(image, {"-n", "6"}));
  card.insert(card.find("generate eos"), "generate top_q 3\n");
  EXPECT_EQ(program(said, {"info"}).exit, 70);
}

TEST(Program, HelpFitsTheModel) {
  std::string help = program(fake::decoderOnly(), {"--help"}).out;
  EXPECT_NE(help.find("--num-beams"), std::string::npos);
  EXPECT_EQ(help.find("--stop"), std::string::npos); // there is no tokenizer
  EXPECT_EQ(help.find("--language"), std::string::npos);
  EXPECT_EQ(help.find("--top N"), std::string::npos);
  EXPECT_NE(help.find("takes                     input_ids i64[B, T]"), std::string::npos) << help;
  EXPECT_NE(help.find("Example: model generate --ids 1,2,3 -n 20"), std::string::npos) << help;
}

TEST(Program, InfoSaysWhatEntriesAreFor) {
  std::string info = program(fake::encoderDecoder(), {"info"}).out;
  for (const char *line : {"lengths that inputs may have: ", "entry run (tensors in, tensors out)",
                           "entry once (the source of a text; ", "entry step (the next tokens; "})
    EXPECT_NE(info.find(line), std::string::npos) << line << "\n" << info;
  // Its name first; what memory comes to, and no formula.
  EXPECT_EQ(info.rfind("model: ", 0), 0u) << info;
  EXPECT_NE(info.find(" a row\n"), std::string::npos) << info;
  EXPECT_EQ(info.find(" bytes"), std::string::npos) << info;
}

TEST(Program, PromptTooLong) {
  std::string ids = "1";
  for (int i = 0; i < 40; ++i)
    ids += ",1";
  Result result = program(fake::decoderOnly(), {"generate", "--ids", ids});
  EXPECT_EQ(result.exit, 1);
  EXPECT_NE(result.err.find("the text has 41 tokens, and this model takes at "
                            "most 32 (T)"),
            std::string::npos)
      << result.err;
  EXPECT_NE(result.err.find("help:"), std::string::npos);
}

TEST(Program, SideFileOfWeights) {
  char self[PATH_MAX];
  ssize_t n = readlink("/proc/self/exe", self, sizeof self);
  ASSERT_GT(n, 0);
  std::string folder(self, n);
  folder = folder.substr(0, folder.rfind('/') + 1);
  const std::string name = "heddle_runtime_test.weights", bytes(1000, 'w');
  Image image = fake::decoderOnly();
  image.weightsFile = name.c_str();
  image.weightsSize = bytes.size();
  Seal seal;
  IndexWriter writer;
  writer.tensor("w");
  writer.update(bytes.data(), bytes.size());
  std::string index = writer.finish(seal.weights);
  seal.weightsBytes = bytes.size();
  seal.cardBytes = strlen(image.card) + 1;
  seal.card = digestOf(image.card, seal.cardBytes);
  seal.indexBytes = index.size();
  seal.index = digestOf(index.data(), index.size());
  seal.fileBytes = name.size() + 1;
  seal.file = digestOf(name.c_str(), seal.fileBytes);
  seal.self = seal.ofItself();
  image.seal = &seal;
  image.index = reinterpret_cast<const unsigned char *>(index.data());
  auto with = [&](const std::string &content) {
    FILE *file = fopen((folder + name).c_str(), "wb");
    EXPECT_NE(file, nullptr);
    fwrite(content.data(), 1, content.size(), file);
    fclose(file);
    Result result = program(image, {"generate", "--ids", "1", "-n", "2"});
    unlink((folder + name).c_str());
    return result;
  };
  EXPECT_EQ(with(bytes).exit, 0);
  EXPECT_EQ(with(bytes.substr(1)).exit, 1);
  EXPECT_EQ(with("x" + bytes.substr(1)).exit, 1);
  EXPECT_EQ(program(image, {"generate", "--ids", "1", "-n", "2"}).exit, 5);
  // A pipe of that name is waited for by nobody.
  ASSERT_EQ(mkfifo((folder + name).c_str(), 0600), 0);
  Result pipe = program(image, {"generate", "--ids", "1", "-n", "2"});
  unlink((folder + name).c_str());
  EXPECT_EQ(pipe.exit, 1);
  EXPECT_NE(pipe.err.find("a regular file expected, found a pipe"), std::string::npos) << pipe.err;
}

TEST(Program, OtherProcessorIsRefused) {
  Image image = fake::decoderOnly();
  std::string card = image.card;
  card.insert(card.find("dim B"), "needs avx512f-of-another-planet\n");
  image.card = card.c_str();
  // What cannot be asked for is not there.
  Result result = program(image, {"generate", "--ids", "1", "-n", "1"});
  EXPECT_EQ(result.exit, 3);
  EXPECT_NE(result.err.find("lacks avx512f-of-another-planet"), std::string::npos) << result.err;
}

} // namespace
