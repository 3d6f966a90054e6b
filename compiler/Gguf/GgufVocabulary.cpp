//===- GgufVocabulary.cpp - tokenizer.ggml.* as checked tables ------------===//

#include "compiler/Gguf/GgufVocabulary.h"
#include "heddle/printable.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include <cmath>

namespace heddle {

using llvm::StringLiteral, llvm::StringRef;
using Model = GgufVocabulary::Model;

std::string ggmlKey(StringRef key) { return ("tokenizer.ggml." + key).str(); }

namespace {

/// One reading of the keys.
class Reader {
public:
  explicit Reader(TokenizerKeys &keys) : keys(keys) {}

  std::optional<GgufVocabulary> run();

private:
  bool model();
  bool tokens();
  bool lists();
  void roles();
  std::optional<uint32_t> role(StringRef name, std::optional<uint32_t> otherwise);

  TokenizerKeys &keys;
  GgufVocabulary out;
  bool none = false;
};

} // namespace

bool Reader::model() {
  static constexpr struct {
    StringLiteral name, what;
  } refused[] = {{"rwkv", "RWKV's tokenizer"},
                 {"plamo2", "PLaMo's tokenizer"},
                 {"hybriddna", "a tokenizer of DNA"},
                 {"whitespace", "words without bytes"},
                 {"gemma4", "Gemma 4's tokenizer"}};
  static constexpr struct {
    StringLiteral name;
    Model model;
  } read[] = {{"llama", Model::Pieces}, {"gpt2", Model::Bytes}, {"bert", Model::Words}, {"t5", Model::Unigram}};
  std::string key = ggmlKey("model");
  std::optional<StringRef> name = keys.text(key);
  none = !name || *name == "no_vocab" || *name == "none";
  if (none)
    return keys.ok();
  for (const auto &[known, model] : read)
    if (known == *name) {
      out.model = model;
      return true;
    }
  std::string quoted = "`" + printable(*name) + "`";
  for (const auto &[known, what] : refused)
    if (known == *name)
      return keys.unsupported(key, quoted + " is " + what.str() + ", which is not read; llama, gpt2, bert and t5 are");
  return keys.unsupported(key, quoted + " is not known; llama, gpt2, bert and t5 are read");
}

bool Reader::tokens() {
  std::string key = ggmlKey("tokens");
  std::optional<std::vector<StringRef>> texts = keys.texts(key);
  if (!keys.ok())
    return false;
  if (!texts || texts->empty())
    return keys.damaged(key, "the list of tokens is missing or empty");
  size_t bytes = 0;
  for (StringRef text : *texts)
    bytes += text.size();
  if (texts->size() > kMostTokens || bytes > kMostTokenBytes)
    return keys.unsupported(key, "it has " + std::to_string(texts->size()) + " tokens of " + std::to_string(bytes) +
                                     " bytes, at most " + std::to_string(kMostTokens) + " of " +
                                     std::to_string(kMostTokenBytes) + " are read");
  out.tokens.reserve(texts->size());
  for (auto [id, text] : llvm::enumerate(*texts)) {
    if (!isUtf8(text))
      return keys.unsupported(key, "the token " + std::to_string(id) + " is no UTF-8: `" + printable(text) + "`");
    out.tokens.push_back(text.empty() ? "[EMPTY_" + std::to_string(id) + "]" : text.str()); // as llama.cpp calls it
    auto [first, isNew] = out.ids.try_emplace(out.tokens.back(), id);
    if (!isNew)
      return keys.damaged(key, "the tokens " + std::to_string(first->second) + " and " + std::to_string(id) +
                                   " are the same, `" + printable(out.tokens.back()) + "`");
  }
  return true;
}

/// Kinds and scores. Without them all tokens are normal, and none is likelier than another.
bool Reader::lists() {
  const std::string kinds = ggmlKey("token_type"), scores = ggmlKey("scores");
  out.kinds = keys.integers(kinds).value_or(std::vector<int64_t>(out.size(), int64_t(TokenKind::Normal)));
  out.scores = keys.numbers(scores).value_or(std::vector<double>(out.size(), 0));
  if (!keys.ok())
    return false;
  for (auto [key, size] : {std::pair(&kinds, out.kinds.size()), std::pair(&scores, out.scores.size())})
    if (size != out.size())
      return keys.damaged(*key, "expected as many entries as tokenizer.ggml.tokens has, " + std::to_string(out.size()) +
                                    ", found " + std::to_string(size));
  for (auto [id, score] : llvm::enumerate(out.scores)) {
    score = double(float(score)); // files of SentencePiece have f32, and their tokenizer.json its exact value
    if (std::isnan(score) || (std::isinf(score) && out.model == Model::Unigram))
      return keys.damaged(scores, "the entry " + std::to_string(id) + " is no finite number");
  }
  return true;
}

/// The id of `name`_token_id. A default that is no token means none.
std::optional<uint32_t> Reader::role(StringRef name, std::optional<uint32_t> otherwise) {
  std::string key = ggmlKey(name) + "_token_id";
  std::optional<int64_t> id = keys.integer(key);
  if (!id)
    return otherwise && *otherwise < out.size() ? otherwise : std::nullopt;
  if (*id >= 0 && uint64_t(*id) < out.size())
    return uint32_t(*id);
  keys.damaged(key, "the id is " + std::to_string(*id) + ", and there are " + std::to_string(out.size()) + " tokens");
  return std::nullopt;
}

void Reader::roles() {
  auto when = [](bool condition, uint32_t id) { return condition ? std::optional(id) : std::nullopt; };
  bool pieces = out.model == Model::Pieces, words = out.model == Model::Words, unigram = out.model == Model::Unigram;
  out.bos = role("bos", when(pieces, 1));
  if (words && !keys.has(ggmlKey("bos_token_id")))
    out.bos = role("cls", 101);
  out.eos = role("eos", pieces ? when(true, 2) : when(unigram, 1));
  out.unk = role("unknown", pieces ? when(true, 0) : words ? when(true, 100) : when(unigram, 2));
  out.sep = role("seperator", when(words, 102)); // so it is spelt in files
  out.pad = role("padding", when(words || unigram, 0));
  out.mask = role("mask", when(words, 103));
  out.eot = role("eot", std::nullopt);
  out.eom = role("eom", std::nullopt);
}

std::optional<GgufVocabulary> Reader::run() {
  if (!model() || none || !tokens() || !lists())
    return std::nullopt;
  if (std::optional<StringRef> pre = keys.text(ggmlKey("pre")))
    out.pre = pre->str();
  roles();
  return keys.ok() ? std::optional(std::move(out)) : std::nullopt;
}

std::optional<GgufVocabulary> GgufVocabulary::read(TokenizerKeys &keys) { return Reader(keys).run(); }

std::vector<int64_t> endsOf(const GgufVocabulary &vocabulary) {
  using Kind = TokenKind;
  // llama.cpp has the same list and takes a token whatever its kind. Here one that is not written <|..|> counts only
  // if it is control or user defined: an ordinary `</s>` of Qwen ends a strike in HTML, and no text.
  static constexpr StringLiteral known[] = {
      "<|eot_id|>", "<|im_end|>", "<|end|>", "<|return|>", "<|call|>", "<|flush|>", "<|calls|>", "<end_of_turn>",
      "<|endoftext|>", "<|eom_id|>", "<EOT>", "_<EOT>", "[EOT]", "[EOS]", "<|end_of_text|>", "<end_of_utterance>",
      "<eos>", "<turn|>", "<|tool_response>", "<\uff5cend\u2581of\u2581sentence\uff5c>", "[e~[", "</s>",
      // of models that fill in the middle
      "<|fim_pad|>", "<fim-pad>", "<fim_pad>", "<PAD>", "<|fim_repo|>", "<|repo_name|>", "<fim-repo>", "<REPO>",
      "<reponame>", "<|file_sep|>"};
  if (vocabulary.model == Model::Words)
    return {};
  std::vector<int64_t> ends;
  for (std::optional<uint32_t> id : {vocabulary.eos, vocabulary.eot, vocabulary.eom})
    if (id)
      ends.push_back(*id);
  for (StringRef text : known) {
    auto found = vocabulary.ids.find(text);
    if (found == vocabulary.ids.end())
      continue;
    uint32_t id = found->second;
    if (vocabulary.is(id, Kind::Control) || vocabulary.is(id, Kind::UserDefined) || text.starts_with("<|") ||
        text.starts_with("<\uff5c"))
      ends.push_back(id);
  }
  auto has = [&](StringRef text) {
    return llvm::any_of(ends, [&](int64_t id) { return vocabulary.tokens[id] == text; });
  };
  auto drop = [&](StringRef text) { llvm::erase_if(ends, [&](int64_t id) { return vocabulary.tokens[id] == text; }); };
  bool harmony = has("<|return|>") && has("<|call|>"), solar = has("<|calls|>") && has("<|flush|>");
  bool answersTools = has("<|tool_response>");
  if (harmony || solar) // there a message of several ends so
    drop("<|end|>");
  if (answersTools)
    drop("</s>");
  llvm::sort(ends);
  ends.erase(llvm::unique(ends), ends.end());
  return ends;
}

} // namespace heddle
