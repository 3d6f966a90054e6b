//===- PreTokenizers.cpp - What tokenizer.ggml.pre names ------------------===//
//
// The rules are those of the published tokenizer.json of the models that the names stand for. A new name is a row.
//
//===----------------------------------------------------------------------===//

#include "compiler/Gguf/PreTokenizers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/Twine.h"
#include <vector>

namespace heddle {

using Json = nlohmann::json;
using llvm::StringLiteral, llvm::StringRef, llvm::Twine;

namespace {

//===--- parts of regular expressions -----------------------------------------===//

constexpr StringLiteral contractions = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";
constexpr StringLiteral word = R"([^\r\n\p{L}\p{N}]?)"; // in front of letters: a space or another sign
constexpr StringLiteral blanks = R"(\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr StringLiteral signs = R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr StringLiteral slashedSigns = R"( ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr StringLiteral han = R"([\x{4e00}-\x{9fa5}\x{3040}-\x{309f}\x{30a0}-\x{30ff}]+)";
constexpr StringLiteral wideHan = R"([\x{4e00}-\x{9fa5}\x{800}-\x{4e00}\x{ac00}-\x{d7ff}]+)";
constexpr StringLiteral upper = R"([\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}])", lower = R"([\p{Ll}\p{Lm}\p{Lo}\p{M}])";

} // namespace

/// Words of letters, numbers by `digits`, then all else.
static std::string lettersAnd(StringRef digits, const Twine &rest = signs) {
  return (contractions + Twine("|") + word + R"(\p{L}+|)" + digits + "|" + rest).str();
}

/// Words that begin anew at a capital letter after small ones; `end` may follow each.
static std::string casedAnd(StringRef end, StringRef digits) {
  return (word + Twine(upper) + "*" + lower + "+" + end + "|" + word + upper + "+" + lower + "*" + end + "|" + digits +
          "|" + slashedSigns)
      .str();
}

/// The letters that have a case (Latin, Greek, Cyrillic ..) in Unicode 15, as DeepSeek LLM lists them.
static std::string casedLetters() {
  static constexpr StringLiteral ranges =
      "41-5a 61-7a b5 c0-d6 d8-f6 f8-1ba 1bc-1bf 1c4-293 295-2af 370-373 376 377 37b-37d 37f 386 388-38a 38c 38e-3a1 "
      "3a3-3f5 3f7-481 48a-52f 531-556 10a0-10c5 13a0-13f5 13f8-13fd 1c90-1cba 1cbd-1cbf 1d00-1d2b 1d6b-1d77 1d79-1d9a "
      "1e00-1f15 1f18-1f1d 1f20-1f45 1f48-1f4d 1f50-1f57 1f59 1f5b 1f5d 1f5f-1f7d 1f80-1fb4 1fb6-1fbc 1fbe 1fc2-1fc4 "
      "1fc6-1fcc 1fd0-1fd3 1fd6-1fdb 1fe0-1fec 1ff2-1ff4 1ff6-1ffc 2102 2107 210a-2113 2115 2119-211d 2124 2126 2128 "
      "212a-212d 212f-2134 2139 213c-213f 2145-2149 214e 2183 2184 2c00-2c7b 2c7e-2ce4 2ceb-2cee 2cf2 2cf3 a640-a66d "
      "a680-a69b a722-a76f a771-a787 a78b-a78e ab70-abbf fb00-fb06 fb13-fb17 ff21-ff3a ff41-ff5a 10400-1044f "
      "104b0-104d3 104d8-104fb 10c80-10cb2 10cc0-10cf2 118a0-118df 1e900-1e943";
  std::string out;
  llvm::SmallVector<StringRef> parts;
  ranges.split(parts, ' ');
  for (StringRef part : parts) {
    auto [first, last] = part.split('-');
    out += "\\x{" + first.str() + "}";
    if (!last.empty())
      out += "-\\x{" + last.str() + "}";
  }
  return out;
}

/// Runs of blanks of Jais 2: the longest power of two that is there.
static std::string powersOfBlanks() {
  std::string out;
  for (int n = 512; n >= 4; n /= 2)
    out += R"(\s{)" + std::to_string(n) + R"(}(?!\S)|)";
  return out + R"(\s{1,2}(?!\S)|\s{1})";
}

//===--- stages ---------------------------------------------------------------===//

static Json split(const Twine &regex) {
  return {{"type", "Split"}, {"pattern", {{"Regex", regex.str()}}}, {"behavior", "Isolated"}, {"invert", false}};
}

static Json digits(bool individual) { return {{"type", "Digits"}, {"individual_digits", individual}}; }

/// Letters for bytes; `regex`: cut as GPT-2 does first.
static Json byteLevel(bool regex) {
  return {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", regex}};
}

namespace {
enum Flags : unsigned { None = 0, Composes = 1, WholeWords = 2, Raw = 4, AddsBos = 8 };

struct Row {
  StringRef names; ///< with spaces between them
  std::vector<Json> stages;
  unsigned flags = None;
};
} // namespace

static std::vector<Row> table() {
  const Json gpt2 = byteLevel(true);
  const std::string three = R"(\p{N}{1,3})", one = R"(\p{N})", suffix = (contractions + Twine("?")).str();
  const std::string bloom = R"( ?[^(\s|[.,!?\x{2026}\x{3002}\x{ff0c}\x{3001}\x{964}\x{6d4}\x{60c}])]+)";
  return {
      {"llama3 llama-v3 llama-bpe falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano",
       {split(lettersAnd(three))},
       WholeWords | AddsBos},
      {"dbrx smaug-bpe glm4 chatglm-bpe", {split(lettersAnd(three))}},
      {"gpt-2 phi-2 jina-es jina-de jina-v2-es jina-v2-de gigachat a.x-4.0 mellum exaone4 jais trillion "
       "granite-docling roberta-bpe jina-v1-en jina-v2-code",
       {gpt2}},
      {"mpt olmo modern-bert", {gpt2}, Composes},
      {"starcoder refact command-r smollm codeshell exaone minerva-7b mellum2", {digits(true), gpt2}},
      {"qwen2 deepseek-r1-qwen kormo f2llmv2 megrez", {split(lettersAnd(one))}, Composes},
      {"stablelm2 hunyuan solar-open grok-2", {split(lettersAnd(one))}},
      {"qwen35",
       {split(contractions + Twine("|") + word + R"([\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|)" + blanks)},
       Composes},
      {"falcon",
       {{{"type", "Punctuation"}, {"behavior", "Contiguous"}}, gpt2, digits(false), split("[0-9][0-9][0-9]")}},
      {"deepseek-v3 hunyuan-dense joyai-llm",
       {split(three), split(han),
        split(R"re([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+|)re"
              R"( ?[\p{P}\p{S}]+[\r\n]*|)" +
              Twine(blanks))}},
      {"deepseek-llm",
       {split("[\r\n]"), split(R"(\s?[)" + Twine(casedLetters()) + "]+"),
        split(R"(\s?[!-/:-~\x{ff01}-\x{ff0f}\x{ff1a}-\x{ff5e}\x{2018}-\x{201f}\x{3000}-\x{3002}]+)"), split(R"(\s+$)"),
        split(wideHan), digits(false)}},
      {"deepseek-coder", {split("[\r\n]"), split(R"(\s?\p{L}+)"), split(R"(\s?\p{P}+)"), split(wideHan), digits(true)}},
      {"bloom poro-chat gpt3-finnish", {split(bloom)}},
      {"viking", {split(bloom), digits(true)}},
      {"tekken", {split(casedAnd("", one))}, WholeWords | AddsBos},
      {"gpt-4o llama4 kanana2 talkie minimax-m2", {split(casedAnd(suffix, three))}},
      {"granite-embed-multi-97m", {split(casedAnd(suffix, three))}, WholeWords},
      {"tiny_aya cohere2moe", {split(R"(\d{1,3}(?=(?:\d{3})*\b))"), split(casedAnd(suffix, three))}},
      {"seed-coder", {split(lettersAnd(R"(\p{N}{1})", R"( ?[^\s\p{L}\p{N}\r\n]+|)" + Twine(blanks)))}},
      {"bailingmoe bailingmoe2 llada-moe",
       {split(R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|)"
              R"(\s*[\r\n]|\s+(?!\S)|\s+)")}},
      {"superbpe", {split(R"(\p{N}+)"), split(R"((?=(\d{3})+(?!\d)))")}},
      {"minicpm5", {split(three), split(lettersAnd(R"(\p{N}+)"))}, WholeWords},
      {"exaone-moe",
       {split(contractions + Twine("|") + word +
              R"((?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+)")}},
      {"jais-2", {split(lettersAnd(three, R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|)" + Twine(powersOfBlanks())))}},
      {"youtu",
       {split(R"([\x{ac00}-\x{d7a3}\x{3131}-\x{318e}]+|)"
              R"([\x{ff01}\x{2026}\x{201c}\x{201d}\x{2018}\x{2019}\x{2014}\x{ff1a}\x{ff1b}\x{ff0c}\x{3001}-\x{303f})"
              R"(\x{fe30}-\x{fe4f}]+|[\x{3105}-\x{312f}]+|)" +
              Twine(han)),
        split(casedAnd(suffix, one))},
       WholeWords},
      {"laguna", {split(R"([^\n]+|[\n]+)"), split(lettersAnd(one))}},
      {kUnnamedPreTokenizer,
       {split(R"([\p{P}\$\+<=>\^~\|]+)"),
        split(R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S))"), split(R"(\p{N}+)"),
        split("[0-9][0-9][0-9]")}},
      {"gemma4 granite-embed-multi-311m sarvam-moe", {}, Raw},
  };
}

std::optional<PreTokenizer> preTokenizerNamed(StringRef name) {
  for (Row &row : table()) {
    llvm::SmallVector<StringRef> names;
    row.names.split(names, ' ');
    if (!llvm::is_contained(names, name))
      continue;
    PreTokenizer out;
    bool cuts = false;
    for (Json &stage : row.stages) {
      cuts |= stage["type"] == "ByteLevel";
      out.stages.push_back(std::move(stage));
    }
    out.raw = row.flags & Raw;
    out.composes = row.flags & Composes;
    out.wholeWords = row.flags & WholeWords;
    out.addsBos = row.flags & AddsBos;
    if (!cuts && !out.raw)
      out.stages.push_back(byteLevel(false));
    return out;
  }
  return std::nullopt;
}

StringRef whyPreTokenizerIsRefused(StringRef name) {
  static constexpr struct {
    StringLiteral name, why;
  } refused[] = {{"kimi-k2", "a separate program cuts words"},
                 {"afmoe", "a separate program cuts digits"},
                 {"whitespace", "words without bytes (jina-bert)"},
                 {"chameleon", "images are tokens"}};
  for (const auto &[known, why] : refused)
    if (known == name)
      return why;
  return "";
}

} // namespace heddle
