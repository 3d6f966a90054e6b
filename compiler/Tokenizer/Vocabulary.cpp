//===- Vocabulary.cpp - Tokenizers of before tokenizer.json ---------------===//
//
// The class named in tokenizer_config.json decides about everything but the
// vocabulary; defaults are those of the classes in Hugging Face's library.
//
//===----------------------------------------------------------------------===//
#include "compiler/Tokenizer/Vocabulary.h"

#include "compiler/Tokenizer/SentencePiece.h"
#include "compiler/Tokenizer/TokenFiles.h"
#include "heddle/input_file.h"

#include <algorithm>
#include <cstring>
#include <sys/stat.h>
#include <vector>

namespace heddle {

using Json = nlohmann::json;

namespace {

bool isThere(const std::string &path) { return heddle::isThere(path.c_str()); }

bool read(const std::string &path, std::string &text, std::string &error) {
  ReadFile file = readInputFile(path.c_str(), kMostFileBytes);
  text = std::move(file.bytes);
  if (!file.ok())
    error = path + ": " + file.why;
  return file.ok();
}

/// Advice: a command that saves a tokenizer.json of whatever the library reads.
std::string recipe(const std::string &folder) {
  return "this makes one: python3 -c \"from transformers import AutoTokenizer "
         "as T; T.from_pretrained('" +
         folder + "').save_pretrained('" + folder + "')\"";
}

class Builder {
public:
  explicit Builder(const std::string &folder) : folder(folder) {}

  /// Translates the files of the folder to `text`. `pieces`: the SentencePiece model that cuts texts; "" for none.
  bool build(const std::string &pieces, std::string &text);
  std::string error;
  bool unsupported = false;

private:
  bool fail(const std::string &file, const std::string &why) {
    error = folder + "/" + file + ": " + why;
    return false;
  }
  /// The error for a class that is not one of those here.
  bool unknownClass(const std::string &kind) {
    unsupported = true;
    return fail("tokenizer_config.json",
                "the class " + kind + "Tokenizer is unsupported without tokenizer.json; " + recipe(folder));
  }
  bool json(const char *name, Json &value) { return readJsonObject(folder, name, value, error); }
  bool vocabularyOfJson(const char *name = "vocab.json");
  bool lines(const char *name, std::vector<std::string> &list);
  bool merges();
  bool addedTokens();
  void add(const Json &token, int64_t id);
  std::string named(const char *role, const char *otherwise) const;
  bool isSpecial(const std::string &token) const;
  bool flag(const char *key, bool otherwise) const;
  Json template_(const std::string &first, const std::string &last, const std::string &between, int pairType);
  bool kindOf(std::string &kind);
  bool byteLevel(const std::string &kind);
  bool ofWords(const std::string &kind);
  bool wordPiece(const std::string &kind);
  bool letters(const std::string &kind);
  bool ofPieces(const std::string &file, const std::string &kind);
  std::string whyNot(const PieceFile &pieces) const;

  std::string folder;
  Json config = Json::object(), vocab = Json::object(), out;
};

bool Builder::vocabularyOfJson(const char *name) {
  if (!json(name, vocab))
    return false;
  for (const auto &entry : vocab.items())
    if (!entry.value().is_number_unsigned())
      return fail(name, "the id of `" + entry.key() + "` is no number");
  return true;
}

bool Builder::lines(const char *name, std::vector<std::string> &list) {
  std::string text;
  if (!read(folder + "/" + name, text, error))
    return false;
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    if (!line.empty() && line.back() == '\r')
      line.pop_back();
    list.push_back(std::move(line));
    at = end + 1;
  }
  return true;
}

bool Builder::merges() {
  std::vector<std::string> list;
  if (!lines("merges.txt", list))
    return false;
  Json pairs = Json::array();
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i].empty() || list[i].rfind("#version", 0) == 0)
      continue;
    size_t space = list[i].find(' ');
    if (space == std::string::npos || space == 0 || list[i].find(' ', space + 1) != std::string::npos)
      return fail("merges.txt", "line " + std::to_string(i + 1) + " is no pair of pieces");
    pairs.push_back(list[i]);
  }
  out["model"]["merges"] = std::move(pairs);
  return true;
}

/// The text of a token that tokenizer_config.json gives the role, or
/// `otherwise`.
std::string Builder::named(const char *role, const char *otherwise) const {
  auto found = config.find(role);
  std::string text = found == config.end() ? "" : contentOf(*found);
  return text.empty() ? otherwise : text;
}

bool Builder::flag(const char *key, bool otherwise) const {
  auto found = config.find(key);
  const auto *value = found == config.end() ? nullptr : found->get_ptr<const bool *>();
  return value ? *value : otherwise;
}

void Builder::add(const Json &token, int64_t id) {
  Json entry = token.is_object() ? token : Json{{"content", token}};
  entry["id"] = id;
  for (const char *key : {"single_word", "lstrip", "rstrip", "normalized"})
    if (!entry.contains(key))
      entry[key] = false;
  if (!entry.contains("special"))
    entry["special"] = true;
  for (const Json &known : out["added_tokens"])
    if (known["id"] == entry["id"])
      return;
  out["added_tokens"].push_back(std::move(entry));
}

/// Whether the configuration gives `token` any role.
bool Builder::isSpecial(const std::string &token) const {
  for (const char *role : kTokenRoles)
    if (named(role, "") == token)
      return true;
  auto list = config.find("additional_special_tokens");
  return list != config.end() && list->is_array() &&
         std::any_of(list->begin(), list->end(), [&](const Json &one) { return contentOf(one) == token; });
}

/// Writes added_tokens: with the flags of the configuration, else by their
/// roles.
bool Builder::addedTokens() {
  out["added_tokens"] = Json::array();
  if (auto list = config.find("added_tokens_decoder"); list != config.end() && list->is_object()) {
    for (const auto &token : list->items()) {
      char *end = nullptr;
      long long id = strtoll(token.key().c_str(), &end, 10);
      if (token.key().empty() || *end || id < 0 || !token.value().is_object())
        return fail("tokenizer_config.json", "added_tokens_decoder: `" + token.key() + "` is no id");
      add(token.value(), id);
    }
  }
  Json more = Json::object();
  if (isThere(folder + "/added_tokens.json") && !json("added_tokens.json", more))
    return false;
  for (const auto &token : more.items())
    if (bool special = isSpecial(token.key()); token.value().is_number_unsigned())
      add({{"content", token.key()}, {"special", special}, {"normalized", !special}}, token.value());
    else
      return fail("added_tokens.json", "the id of `" + token.key() + "` is no number");
  if (auto list = config.find("additional_special_tokens"); list != config.end() && list->is_array())
    for (const Json &token : *list)
      if (std::string text = contentOf(token); !text.empty() && vocab.contains(text))
        add({{"content", text}}, vocab[text]);
  for (const char *role : kTokenRoles) {
    auto found = config.find(role);
    std::string text = named(role, "");
    if (text.empty() || !vocab.contains(text))
      continue;
    Json token = {{"content", text}};
    for (const char *key : {"lstrip", "rstrip"})
      if (found->is_object() && found->contains(key))
        token[key] = (*found)[key];
    add(token, vocab[text]);
  }
  std::sort(out["added_tokens"].begin(), out["added_tokens"].end(),
            [](const Json &a, const Json &b) { return a["id"] < b["id"]; });
  return true;
}

Json Builder::template_(const std::string &first, const std::string &last, const std::string &between, int pairType) {
  auto special = [](const std::string &id, int type) {
    return Json{{"SpecialToken", {{"id", id}, {"type_id", type}}}};
  };
  auto text = [](const char *id, int type) { return Json{{"Sequence", {{"id", id}, {"type_id", type}}}}; };
  Json single = Json::array(), pair, specials = Json::object();
  if (!first.empty())
    single.push_back(special(first, 0));
  single.push_back(text("A", 0));
  if (!last.empty())
    single.push_back(special(last, 0));
  pair = single;
  if (!between.empty())
    pair.push_back(special(between, 0));
  pair.push_back(text("B", pairType));
  if (!last.empty())
    pair.push_back(special(last, pairType));
  for (const std::string &name : {first, last, between})
    if (!name.empty())
      specials[name] = {
          {"id", name}, {"ids", Json::array({vocab.value(name, Json(0))})}, {"tokens", Json::array({name})}};
  return {{"type", "TemplateProcessing"}, {"single", single}, {"pair", pair}, {"special_tokens", specials}};
}

/// vocab.json and merges.txt: byte-level BPE as in GPT-2, and what the classes
/// of RoBERTa, CLIP and Qwen2 change: default tokens, how text is split, the
/// template.
bool Builder::byteLevel(const std::string &kind) {
  if (!vocabularyOfJson())
    return false;
  bool clip = kind == "CLIP", qwen = kind == "Qwen2";
  bool roberta = kind == "Roberta" || kind == "Bart" || kind == "Longformer" || kind == "LED" || kind == "MVP";
  if (!roberta && !clip && !qwen && kind != "GPT2" && kind != "Whisper" && kind != "Codegen" && kind != "CodeGen" &&
      !kind.empty())
    return unknownClass(kind);
  auto preset = [&](const char *role, const char *text) {
    if (!config.contains(role))
      config[role] = text;
  };
  if (roberta) {
    for (auto [role, text] : {std::pair("bos_token", "<s>"),
                              {"eos_token", "</s>"},
                              {"sep_token", "</s>"},
                              {"cls_token", "<s>"},
                              {"unk_token", "<unk>"},
                              {"pad_token", "<pad>"}})
      preset(role, text);
    if (!config.contains("mask_token"))
      config["mask_token"] = {{"content", "<mask>"}, {"lstrip", true}};
  } else {
    preset("eos_token", "<|endoftext|>");
    preset("unk_token", "<|endoftext|>");
    if (clip)
      preset("bos_token", "<|startoftext|>");
    else if (!qwen)
      preset("bos_token", "<|endoftext|>");
  }
  out["model"] = {{"type", "BPE"},
                  {"dropout", nullptr},
                  {"unk_token", nullptr},
                  {"continuing_subword_prefix", ""},
                  {"end_of_word_suffix", ""},
                  {"fuse_unk", false},
                  {"byte_fallback", false}};
  bool prefix = flag("add_prefix_space", false);
  Json bytes = {{"type", "ByteLevel"}, {"add_prefix_space", prefix}, {"trim_offsets", true}, {"use_regex", !qwen}};
  out["pre_tokenizer"] = bytes;
  out["decoder"] = bytes;
  if (qwen) {
    out["normalizer"] = {{"type", "NFC"}};
    const char *regex = "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| "
                        "?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
    Json split = {{"type", "Split"}, {"pattern", {{"Regex", regex}}}, {"behavior", "Isolated"}, {"invert", false}};
    out["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", Json::array({split, bytes})}};
  }
  if (clip) {
    const char *regex = "'s|'t|'re|'ve|'m|'ll|'d|[\\p{L}]+|[\\p{N}]|"
                        "[^\\s\\p{L}\\p{N}]+";
    bytes["use_regex"] = true;
    bytes["add_prefix_space"] = false;
    // clang-format off
    out["normalizer"] = {
        {"type", "Sequence"},
        {"normalizers",
         Json::array({{{"type", "NFC"}},
                      {{"type", "Replace"},
                       {"pattern", {{"Regex", "\\s+"}}},
                       {"content", " "}},
                      {{"type", "Lowercase"}}})}};
    // clang-format on
    Json split = {{"type", "Split"}, {"pattern", {{"Regex", regex}}}, {"behavior", "Removed"}, {"invert", true}};
    out["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", Json::array({split, bytes})}};
    out["model"]["end_of_word_suffix"] = "</w>";
    out["model"]["unk_token"] = named("unk_token", "<|endoftext|>");
    out["decoder"] = bytes;
  }
  if (!merges() || !addedTokens())
    return false;
  std::string first = roberta ? named("cls_token", "<s>")
                      : clip  ? named("bos_token", "<|startoftext|>")
                              : "",
              last = roberta ? named("sep_token", "</s>")
                     : clip  ? named("eos_token", "<|endoftext|>")
                             : "";
  if (flag("add_bos_token", false) && !roberta && !clip)
    first = named("bos_token", "");
  for (const std::string &token : {first, last})
    if (!token.empty() && !vocab.contains(token))
      return fail("vocab.json", "`" + token + "` of the template is missing");
  if (roberta || clip)
    // clang-format off
    out["post_processor"] = {
        {"type", "RobertaProcessing"},
        {"sep", Json::array({last, vocab[last]})},
        {"cls", Json::array({first, vocab[first]})},
        {"trim_offsets", true},
        {"add_prefix_space", prefix}};
  // clang-format on
  else if (!first.empty())
    out["post_processor"] = template_(first, "", "", 1);
  out["model"]["vocab"] = std::move(vocab);
  return true;
}

/// vocab.json and merges.txt: BPE of the letters of words, whose last ends in
/// `</w>`, as in GPT-1. CTRL's vocabulary says it the other way round, with
/// `@@` after what is not last, its words keep a new line after them, and
/// nothing is done to letters.
bool Builder::ofWords(const std::string &kind) {
  const std::string last = "</w>", within = "@@";
  if (!vocabularyOfJson())
    return false;
  std::string unknown = named("unk_token", "<unk>");
  config["unk_token"] = unknown;
  if (!vocab.contains(unknown))
    return fail("vocab.json", "`" + unknown + "` is missing");
  out["model"] = {{"type", "BPE"},
                  {"dropout", nullptr},
                  {"unk_token", unknown},
                  {"continuing_subword_prefix", ""},
                  {"end_of_word_suffix", last},
                  {"fuse_unk", false},
                  {"byte_fallback", false}};
  out["decoder"] = {{"type", "BPEDecoder"}, {"suffix", last}};
  if (!merges() || !addedTokens())
    return false;
  if (kind == "OpenAIGPT") {
    out["normalizer"] = {{"type", "BertNormalizer"},
                         {"clean_text", true},
                         {"handle_chinese_chars", true},
                         {"strip_accents", nullptr},
                         {"lowercase", true}};
    out["pre_tokenizer"] = {{"type", "BertPreTokenizer"}};
    out["model"]["vocab"] = std::move(vocab);
    return true;
  }
  out["pre_tokenizer"] = {
      {"type", "Split"}, {"pattern", {{"Regex", "\\S+\\n?"}}}, {"behavior", "Removed"}, {"invert", true}};
  Json pieces = Json::object();
  for (const auto &[piece, id] : vocab.items()) {
    size_t letters = piece.size() - std::min(piece.size(), within.size());
    bool inside = letters > 0 && piece.compare(letters, within.size(), within) == 0;
    pieces[piece == unknown ? piece : inside ? piece.substr(0, letters) : piece + last] = id;
  }
  out["model"]["vocab"] = std::move(pieces);
  return true;
}

/// vocab.txt: WordPiece as in BERT; ids are line numbers.
bool Builder::wordPiece(const std::string &kind) {
  static const char *const known[] = {
      "",         "Bert",        "DistilBert",         "Electra",          "LayoutLM", "MobileBert",
      "ConvBert", "SqueezeBert", "DPRQuestionEncoder", "DPRContextEncoder"};
  if (std::find(std::begin(known), std::end(known), kind) == std::end(known))
    return unknownClass(kind);
  std::vector<std::string> words;
  if (!lines("vocab.txt", words))
    return false;
  // Of equal lines the last counts, also an empty one at the end of the file.
  for (size_t id = 0; id < words.size(); ++id)
    vocab[words[id]] = id;
  for (auto [role, text] : {std::pair("unk_token", "[UNK]"),
                            {"sep_token", "[SEP]"},
                            {"pad_token", "[PAD]"},
                            {"cls_token", "[CLS]"},
                            {"mask_token", "[MASK]"}})
    if (!config.contains(role))
      config[role] = text;
  Json strip = config.value("strip_accents", Json());
  bool basic = flag("do_basic_tokenize", true);
  // clang-format off
  out["normalizer"] = {
      {"type", "BertNormalizer"},
      {"clean_text", true},
      {"handle_chinese_chars", basic && flag("tokenize_chinese_chars", true)},
      {"strip_accents", !basic               ? Json(false)
                        : strip.is_boolean() ? strip
                                             : Json()},
      {"lowercase", basic && flag("do_lower_case", true)}};
  // clang-format on
  out["pre_tokenizer"] = {{"type", "BertPreTokenizer"}};
  out["model"] = {{"type", "WordPiece"},
                  {"unk_token", named("unk_token", "[UNK]")},
                  {"continuing_subword_prefix", "##"},
                  {"max_input_chars_per_word", 100}};
  out["decoder"] = {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}};
  std::string cls = named("cls_token", "[CLS]"), sep = named("sep_token", "[SEP]");
  for (const std::string &token : {cls, sep, named("unk_token", "[UNK]")})
    if (!vocab.contains(token))
      return fail("vocab.txt", "`" + token + "` is missing");
  out["post_processor"] = template_(cls, sep, "", 1);
  if (!addedTokens())
    return false;
  out["model"]["vocab"] = std::move(vocab);
  return true;
}

/// vocab.json alone: the letters of a CTC model, used for decoding only.
bool Builder::letters(const std::string &kind) {
  if (!kind.empty() && kind != "Wav2Vec2CTC" && kind != "Wav2Vec2")
    return unknownClass(kind);
  if (!vocabularyOfJson())
    return false;
  for (auto [role, text] :
       {std::pair("unk_token", "<unk>"), {"pad_token", "<pad>"}, {"bos_token", "<s>"}, {"eos_token", "</s>"}})
    if (!config.contains(role))
      config[role] = text;
  if (!addedTokens())
    return false;
  std::string space = named("word_delimiter_token", "|"), unknown = named("unk_token", "<unk>");
  if (!vocab.contains(unknown))
    return fail("vocab.json", "`" + unknown + "` is missing");
  out["pre_tokenizer"] = {
      {"type", "Split"}, {"pattern", {{"Regex", "[\\s\\S]"}}}, {"behavior", "Isolated"}, {"invert", false}};
  out["normalizer"] = {{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", space}};
  out["model"] = {{"type", "WordLevel"}, {"unk_token", unknown}, {"vocab", std::move(vocab)}};
  // clang-format off
  out["decoder"] = {
      {"type", "Sequence"},
      {"decoders", Json::array({{{"type", "Replace"},
                                 {"pattern", {{"String", space}}},
                                 {"content", " "}},
                                {{"type", "Fuse"}}})}};
  // clang-format on
  return true;
}

static std::string base64Of(const std::string &bytes) {
  static constexpr char kLetters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t at = 0; at < bytes.size(); at += 3) {
    uint32_t word = 0;
    for (size_t i = 0; i < 3; ++i)
      word = word << 8 | (at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0);
    for (size_t i = 0; i < 4; ++i)
      text += at + i > bytes.size() ? '=' : kLetters[word >> (18 - 6 * i) & 63];
  }
  return text;
}

/// What of a SentencePiece model has no translation here; "" if all has.
std::string Builder::whyNot(const PieceFile &pieces) const {
  if (pieces.model != 1)
    return "a SentencePiece model that is no Unigram";
  if (pieces.spacesEndWords || !pieces.escapesSpaces)
    return "a SentencePiece model with spaces that are not in front of words";
  for (const PieceFile::Piece &piece : pieces.pieces)
    if (piece.kind == PieceFile::UserDefined || piece.kind == PieceFile::Byte)
      return "a SentencePiece model with the piece `" + piece.text + "`, which is a symbol or a byte,";
  return "";
}

/// A SentencePiece model and ids of its pieces in a vocab.json, as Marian has them for either side: `file` is
/// source.spm, or target.spm, whose ids are in target_vocab.json where there is one. A piece without an id is the
/// unknown token.
bool Builder::ofPieces(const std::string &file, const std::string &kind) {
  if (!kind.empty() && kind != "Marian")
    return unknownClass(kind);
  bool apart = file == "target.spm" && isThere(folder + "/target_vocab.json");
  const char *ids = apart ? "target_vocab.json" : "vocab.json";
  PieceFile pieces;
  std::string bytes, why;
  if (!vocabularyOfJson(ids) || !read(folder + "/" + file, bytes, error))
    return false;
  if (!pieces.read(bytes, why))
    return fail(file, why);
  if (why = whyNot(pieces); !why.empty()) {
    unsupported = true;
    return fail(file, why + " is unsupported; give tokenizer.json for what is read and, where the target has a "
                            "separate vocabulary, target_tokenizer.json for what is written");
  }
  for (auto [role, text] : {std::pair("eos_token", "</s>"), {"unk_token", "<unk>"}, {"pad_token", "<pad>"}})
    if (!config.contains(role))
      config[role] = text;
  std::string unknown = named("unk_token", "<unk>"), last = named("eos_token", "</s>");
  for (const std::string &token : {unknown, last})
    if (!vocab.contains(token))
      return fail(ids, "`" + token + "` is missing");
  if (!addedTokens())
    return false;
  for (const auto &[token, id] : vocab.items()) // >>fra<< in front of a text says into which language
    if (token.size() > 4 && token.rfind(">>", 0) == 0 && token.compare(token.size() - 2, 2, "<<") == 0)
      add({{"content", token}, {"special", false}, {"rstrip", true}}, id);
  const char *mark = "\xe2\x96\x81";
  Json steps = Json::array(), list = Json::array();
  auto replace = [&](const char *kind, const char *what, const char *by) {
    steps.push_back({{"type", "Replace"}, {"pattern", {{kind, what}}}, {"content", by}});
  };
  if (!pieces.charsMap.empty())
    steps.push_back({{"type", "Precompiled"}, {"precompiled_charsmap", base64Of(pieces.charsMap)}});
  if (pieces.collapsesSpaces) {
    replace("Regex", "^ +| +$", "");
    replace("Regex", " {2,}", " ");
  }
  if (pieces.prefixesSpace)
    steps.push_back({{"type", "Prepend"}, {"prepend", mark}});
  replace("String", " ", mark);
  for (const PieceFile::Piece &piece : pieces.pieces)
    if (piece.kind == PieceFile::Normal && !piece.text.empty())
      list.push_back(Json::array({piece.text, piece.score}));
  out["normalizer"] = {{"type", "Sequence"}, {"normalizers", steps}};
  out["decoder"] = {{"type", "Metaspace"}, {"replacement", mark}, {"prepend_scheme", "always"}};
  out["post_processor"] = template_("", last, "", 0);
  Json &pair = out["post_processor"]["pair"];
  pair.erase(1); // one end is after both texts
  out["model"] = {{"type", "SentencePiece"}, {"unk_token", unknown}, {"pieces", list}, {"vocab", std::move(vocab)}};
  return true;
}

/// The class without `Tokenizer` and `Fast`. Where none is named beside
/// merges.txt, that of the model type in config.json, as the library chooses
/// it; "" is GPT-2's.
bool Builder::kindOf(std::string &kind) {
  kind = named("tokenizer_class", "");
  for (const char *end : {"Fast", "Tokenizer"})
    if (size_t n = strlen(end); kind.size() >= n && kind.compare(kind.size() - n, n, end) == 0)
      kind.resize(kind.size() - n);
  Json model;
  if (!kind.empty() || !isThere(folder + "/merges.txt") || !isThere(folder + "/config.json"))
    return true;
  if (!json("config.json", model))
    return false;
  // clang-format off
  static const std::pair<const char *, const char *> classes[] = {
      {"bart", "Bart"}, {"biogpt", "BioGpt"}, {"blenderbot", "Blenderbot"}, {"blenderbot-small", "BlenderbotSmall"},
      {"clip", "CLIP"}, {"clip_text_model", "CLIP"}, {"ctrl", "CTRL"}, {"deberta", "Deberta"}, {"led", "LED"},
      {"longformer", "Longformer"}, {"mvp", "MVP"}, {"openai-gpt", "OpenAIGPT"}, {"plbart", "PLBart"},
      {"qwen2", "Qwen2"}, {"qwen2_moe", "Qwen2"}, {"roberta", "Roberta"}};
  // clang-format on
  auto type = model.find("model_type");
  if (const auto *name = type == model.end() ? nullptr : type->get_ptr<const std::string *>())
    for (auto [known, its] : classes)
      if (*name == known)
        kind = its;
  return true;
}

bool Builder::build(const std::string &pieces, std::string &text) {
  if (isThere(folder + "/tokenizer_config.json") && !json("tokenizer_config.json", config))
    return false;
  if (isThere(folder + "/special_tokens_map.json")) {
    Json map;
    if (!json("special_tokens_map.json", map))
      return false;
    for (const auto &token : map.items())
      if (!config.contains(token.key()))
        config[token.key()] = token.value();
  }
  std::string kind;
  if (!kindOf(kind))
    return false;
  out = {
      {"version", "1.0"},      {"truncation", nullptr},    {"padding", nullptr},        {"added_tokens", Json::array()},
      {"normalizer", nullptr}, {"pre_tokenizer", nullptr}, {"post_processor", nullptr}, {"decoder", nullptr}};
  bool words = kind == "OpenAIGPT" || kind == "CTRL";
  bool good = !pieces.empty()                   ? ofPieces(pieces, kind)
              : isThere(folder + "/merges.txt") ? words ? ofWords(kind) : byteLevel(kind)
              : isThere(folder + "/vocab.txt")  ? wordPiece(kind)
                                                : letters(kind);
  if (good)
    text = out.dump(-1, ' ', false, Json::error_handler_t::replace);
  return good;
}

} // namespace

/// Translates the files of a folder; `name` becomes `shown`, or what is wrong.
static TokenizerFound translated(const std::string &folder, const std::string &pieces, const std::string &shown,
                                 std::string &text, std::string &name) {
  Builder builder(folder);
  bool good = builder.build(pieces, text);
  name = good ? folder + "/" + shown : builder.error;
  return good ? TokenizerFound::Yes : builder.unsupported ? TokenizerFound::Elsewhere : TokenizerFound::Broken;
}

TokenizerFound findTokenizer(const ModelFolder &folder, std::string &text, std::string &name) {
  if (!folder.isMade())
    return findTokenizer(folder.place(), text, name);
  name = folder.path("tokenizer.json");
  const MadeText *made = folder.made("tokenizer.json");
  text = made ? made->text : "";
  return made ? TokenizerFound::Yes : TokenizerFound::No;
}

TokenizerFound findTokenizer(const std::string &path, std::string &text, std::string &name) {
  struct stat info;
  bool folder = stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
  name = folder ? ModelFolder(path).path("tokenizer.json") : path;
  std::string last = path.substr(path.rfind('/') + 1);
  if (!folder && last.size() > 4 && last.compare(last.size() - 4, 4, ".spm") == 0)
    return translated(last.size() < path.size() ? path.substr(0, path.size() - last.size() - 1) : ".", last, last, text,
                      name);
  if (!folder || isThere(name)) {
    std::string error;
    if (read(name, text, error))
      return TokenizerFound::Yes;
    name = error;
    return TokenizerFound::Broken;
  }
  bool words = isThere(path + "/vocab.txt"), ids = isThere(path + "/vocab.json"),
       merges = isThere(path + "/merges.txt");
  if (ids && isThere(path + "/source.spm"))
    return translated(path, "source.spm", "source.spm", text, name);
  if (isThere(path + "/vocab-src.json")) {
    name = path + "/vocab-src.json is the source's part of a tokenizer that is unsupported; give tokenizer.json for "
                  "what is read and target_tokenizer.json for what is written";
    return TokenizerFound::Elsewhere;
  }
  std::string pieces; // vocab.json next to it has ids, not the letters of CTC
  for (const char *file : {"spiece.model", "sentencepiece.bpe.model", "tokenizer.model", "spm.model", "source.spm"})
    if (pieces.empty() && isThere(path + "/" + file))
      pieces = path + "/" + file;
  if (words || (ids && (merges || pieces.empty())))
    return translated(path, "", merges ? "vocab.json and merges.txt" : words ? "vocab.txt" : "vocab.json", text, name);
  if (!pieces.empty()) {
    name = pieces + " is a SentencePiece model, unsupported without tokenizer.json; " + recipe(path);
    return TokenizerFound::Elsewhere;
  }
  return TokenizerFound::No;
}

} // namespace heddle
