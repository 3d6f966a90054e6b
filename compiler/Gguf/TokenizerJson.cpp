//===- TokenizerJson.cpp - A vocabulary as tokenizer.json -----------------===//
//
// The components are those that Hugging Face's library saves for such a model; vocabulary and merges stay tables.
//
//===----------------------------------------------------------------------===//

#include "compiler/Gguf/TokenizerJson.h"
#include "compiler/Gguf/PieceMerges.h"
#include "compiler/Gguf/PreTokenizers.h"
#include "heddle/printable.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include <array>
#include <nlohmann/json.hpp>

namespace heddle {

using Json = nlohmann::json;
using llvm::StringRef;
using Model = GgufVocabulary::Model;

static const char kSpaceSign[] = "\u2581"; // SentencePiece's letter for a space

static std::string base64Of(llvm::ArrayRef<int64_t> bytes) {
  static constexpr char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t at = 0; at < bytes.size(); at += 3) {
    uint32_t three = 0;
    for (size_t i = 0; i < 3; ++i)
      three = three << 8 | (at + i < bytes.size() ? uint32_t(bytes[at + i] & 0xff) : 0);
    for (size_t i = 0; i < 4; ++i)
      text += at + i > bytes.size() ? '=' : letters[three >> (18 - 6 * i) & 63];
  }
  return text;
}

namespace {

/// Writes the files of one vocabulary.
class TokenizerWriter {
public:
  TokenizerWriter(const GgufVocabulary &v, StringRef name, TokenizerKeys &keys, std::vector<std::string> &warnings)
      : v(v), name(name), keys(keys), warnings(warnings) {}

  std::optional<TokenizerFiles> run();

private:
  bool pieces();
  bool bytes();
  bool readMerges();
  bool words();
  bool unigram();
  bool charsMap(Json &steps);
  void rawPieces(bool prefix);
  std::string label(uint32_t id) const { return v.model == Model::Words ? spelt[id] : v.tokens[id]; }
  Json labelOf(std::optional<uint32_t> id) const { return id ? Json(label(*id)) : Json(); }
  bool flag(const char *key, bool otherwise) { return keys.flag(ggmlKey(key)).value_or(otherwise); }
  bool isPre(std::initializer_list<StringRef> names) const {
    return v.pre && llvm::is_contained(names, StringRef(*v.pre));
  }
  bool postProcessor();
  void addTemplate(llvm::ArrayRef<uint32_t> first, llvm::ArrayRef<uint32_t> last, llvm::ArrayRef<uint32_t> between,
                   int secondType);
  Json addedTokens() const;
  void keepTokens();
  Json config() const;

  const GgufVocabulary &v;
  StringRef name;
  TokenizerKeys &keys;
  std::vector<std::string> &warnings;

  bool addsBos = false;           ///< where the file does not say
  std::vector<std::string> spelt; ///< WordPiece: tokens as Hugging Face has them, by id
  Json model, parts = Json::object();
  WordTables tables;
};

} // namespace

//===--- kinds of tokenizers --------------------------------------------------===//

static Json spacesToSigns() { return {{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", kSpaceSign}}; }

/// What pieces of SentencePiece and BPE have alike: signs for spaces, bytes for characters that are no piece.
void TokenizerWriter::rawPieces(bool prefix) {
  model = {{"type", "BPE"}, {"unk_token", labelOf(v.unk)}, {"fuse_unk", true}, {"byte_fallback", true}};
  parts["normalizer"] = spacesToSigns();
  Json steps = Json::array({{{"type", "Replace"}, {"pattern", {{"String", kSpaceSign}}}, {"content", " "}},
                            {{"type", "ByteFallback"}},
                            {{"type", "Fuse"}}});
  if (prefix) {
    parts["normalizer"] = {
        {"type", "Sequence"},
        {"normalizers", Json::array({{{"type", "Prepend"}, {"prepend", kSpaceSign}}, spacesToSigns()})}};
    steps.push_back({{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}});
  }
  parts["decoder"] = {{"type", "Sequence"}, {"decoders", std::move(steps)}};
}

bool TokenizerWriter::pieces() {
  addsBos = true;
  rawPieces(flag("add_space_prefix", true));
  keepTokens();
  if (!mergesOfScores(v, tables.merges))
    return keys.unsupported(ggmlKey("tokens"), "its pieces join in more than " + std::to_string(kMostMerges) + " ways");
  return true;
}

/// "a b", split at the first space after the first character. Both parts and their whole must be tokens.
bool TokenizerWriter::readMerges() {
  const std::string key = ggmlKey("merges");
  std::optional<std::vector<StringRef>> list = keys.texts(key);
  if (!list)
    return keys.damaged(key, "the list is missing: a tokenizer of the model gpt2 needs it");
  if (list->size() > kMostMerges)
    return keys.unsupported(key, "it has " + std::to_string(list->size()) + " entries, at most " +
                                     std::to_string(kMostMerges) + " are read");
  tables.merges.reserve(list->size());
  for (auto [number, text] : llvm::enumerate(*list)) {
    auto wrong = [&, number = number](StringRef what) {
      return keys.damaged(key, "the entry " + std::to_string(number) + what.str());
    };
    size_t space = text.find(' ', 1);
    if (space == StringRef::npos || space + 1 == text.size() || !isUtf8(text))
      return wrong(", `" + printable(text) + "`, is no pair");
    std::string joined = (text.take_front(space) + text.drop_front(space + 1)).str();
    std::array<uint32_t, 3> ids;
    for (auto [id, part] :
         llvm::zip_equal(ids, std::array{text.take_front(space), text.drop_front(space + 1), StringRef(joined)})) {
      auto found = v.ids.find(part);
      if (found == v.ids.end() || !v.isUsed(found->second))
        return wrong(" makes or joins `" + printable(part) + "`, which is no token");
      id = found->second;
    }
    tables.merges.push_back(ids);
  }
  return true;
}

bool TokenizerWriter::bytes() {
  if (!v.pre)
    warnings.push_back("tokenizer.ggml.pre is missing: words are cut as llama.cpp cuts them then, which may not be how "
                       "the model was trained");
  StringRef pre = v.pre ? StringRef(*v.pre) : StringRef(kUnnamedPreTokenizer);
  std::string quoted = "`" + printable(pre) + "`";
  if (StringRef why = whyPreTokenizerIsRefused(pre); !why.empty())
    return keys.unsupported(ggmlKey("pre"), quoted + " is not read: " + why.str());
  std::optional<PreTokenizer> cuts = preTokenizerNamed(pre);
  if (!cuts)
    return keys.unsupported(ggmlKey("pre"), quoted + " is not known");
  addsBos = cuts->addsBos;
  keepTokens();
  if (!readMerges())
    return false;
  if (cuts->raw) {
    rawPieces(false);
    parts["pre_tokenizer"] = {
        {"type", "Split"}, {"pattern", {{"String", " "}}}, {"behavior", "MergedWithPrevious"}, {"invert", false}};
  } else {
    if (cuts->composes)
      parts["normalizer"] = {{"type", "NFC"}};
    parts["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", cuts->stages}};
    parts["decoder"] = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}};
    model = {{"type", "BPE"}, {"ignore_merges", cuts->wholeWords}};
  }
  return true;
}

/// WordPiece: in the file the sign for a space begins a word; Hugging Face has ## in front of what continues one.
bool TokenizerWriter::words() {
  addsBos = true;
  tables.pieces.resize(v.size());
  llvm::StringMap<uint32_t> last;
  for (uint32_t id = 0; id < v.size(); ++id) {
    StringRef token = v.tokens[id], rest = token;
    spelt.push_back(v.is(id, TokenKind::Control)     ? token.str()
                    : rest.consume_front(kSpaceSign) ? rest.str()
                                                     : "##" + token.str());
    if (v.isUsed(id))
      last[spelt[id]] = id;
  }
  for (uint32_t id = 0; id < v.size(); ++id)
    if ((v.isAdded(id) || v.hasRole(id)) && last[spelt[id]] != id)
      return keys.damaged(ggmlKey("tokens"), "the tokens " + std::to_string(id) + " and " +
                                                 std::to_string(last[spelt[id]]) + " are the same word, `" +
                                                 printable(spelt[id]) + "`");
  if (!v.bos || !v.sep)
    return keys.damaged(ggmlKey(v.bos ? "seperator_token_id" : "cls_token_id"),
                        "it is missing, and there are " + std::to_string(v.size()) + " tokens");
  Json accents;
  if (std::optional<bool> strips = keys.flag(ggmlKey("normalizer.strip_accents")))
    accents = *strips;
  parts["normalizer"] = {{"type", "BertNormalizer"},
                         {"clean_text", true},
                         {"handle_chinese_chars", true},
                         {"strip_accents", std::move(accents)},
                         {"lowercase", flag("normalizer.lowercase", true)}};
  parts["pre_tokenizer"] = {{"type", "BertPreTokenizer"}};
  parts["decoder"] = {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}};
  model = {{"type", "WordPiece"},
           {"unk_token", v.unk ? label(*v.unk) : "[UNK]"},
           {"continuing_subword_prefix", "##"},
           {"max_input_chars_per_word", 100}};
  for (uint32_t id = 0; id < v.size(); ++id)
    if (auto found = last.find(spelt[id]); found != last.end() && found->second == id)
      tables.pieces[id] = spelt[id];
  return true;
}

/// SentencePiece's table of characters: the bytes of a trie, which begin with their number, and strings.
bool TokenizerWriter::charsMap(Json &steps) {
  const std::string key = ggmlKey("precompiled_charsmap");
  std::optional<std::vector<int64_t>> map = keys.integers(key);
  if (!map || map->empty())
    return keys.ok();
  uint64_t trie = 0;
  for (size_t i = 0; i < 4 && i < map->size(); ++i)
    trie |= uint64_t((*map)[i] & 0xff) << (8 * i);
  if (map->size() < 4 || trie % 4 || trie > map->size() - 4)
    return keys.damaged(key, "it is cut off: its trie has " + std::to_string(trie) + " of " +
                                 std::to_string(map->size()) + " bytes");
  steps.push_back({{"type", "Precompiled"}, {"precompiled_charsmap", base64Of(*map)}});
  return true;
}

bool TokenizerWriter::unigram() {
  Json steps = Json::array();
  if (!charsMap(steps))
    return false;
  if (flag("remove_extra_whitespaces", false)) {
    steps.push_back({{"type", "Strip"}, {"strip_left", true}, {"strip_right", true}});
    steps.push_back({{"type", "Replace"}, {"pattern", {{"Regex", " {2,}"}}}, {"content", " "}});
  }
  parts["normalizer"] = {{"type", "Sequence"}, {"normalizers", std::move(steps)}};
  const char *scheme = flag("add_space_prefix", true) ? "always" : "never";
  parts["pre_tokenizer"] = {
      {"type", "Metaspace"}, {"replacement", kSpaceSign}, {"prepend_scheme", scheme}, {"split", true}};
  parts["decoder"] = parts["pre_tokenizer"];
  model = {{"type", "Unigram"},
           {"unk_id", v.unk ? Json(*v.unk) : Json()},
           {"byte_fallback", llvm::is_contained(v.kinds, int64_t(TokenKind::Byte))}};
  size_t count = v.size(); // ids are places in the list, so unused tokens are left out at its end alone
  while (count > 1 && !v.isUsed(uint32_t(count - 1)))
    --count;
  tables.pieces.assign(v.tokens.begin(), v.tokens.begin() + ptrdiff_t(count));
  tables.scores.assign(v.scores.begin(), v.scores.begin() + ptrdiff_t(count));
  return true;
}

//===--- what all of them have ------------------------------------------------===//

void TokenizerWriter::keepTokens() {
  tables.pieces = v.tokens;
  for (uint32_t id = 0; id < v.size(); ++id)
    if (!v.isUsed(id))
      tables.pieces[id].clear();
}

/// Tokens that are cut out of a text first: those of a kind that says so, and those with a role. `<mask>` takes the
/// spaces in front of it where its model's tokenizer does, and phi-3's tokens those after them.
Json TokenizerWriter::addedTokens() const {
  bool unigram = v.model == Model::Unigram;
  bool phi3 = name.contains_insensitive("phi-3") || name.contains_insensitive("phi3");
  bool maskStrips = unigram || isPre({"jina-v2-de", "jina-v2-es", "jina-v2-code", "roberta-bpe", "modern-bert"});
  Json list = Json::array();
  for (uint32_t id = 0; id < v.size(); ++id) {
    bool isMask = v.mask == id;
    bool isAdded = v.isAdded(id);
    if (!isAdded && !v.hasRole(id))
      continue;
    StringRef token = v.tokens[id];
    bool steers = v.is(id, TokenKind::Control) || v.is(id, TokenKind::UserDefined);
    bool strips = phi3 && isAdded &&
                  (token == "</s>" || (steers && token != "<unk>" && token != "<s>" && token != "<|endoftext|>"));
    list.push_back({{"id", id},
                    {"content", label(id)},
                    {"single_word", false},
                    {"lstrip", isMask && maskStrips && (isAdded || (unigram && v.is(id, TokenKind::Normal)))},
                    {"rstrip", strips},
                    {"normalized", false},
                    {"special", !v.is(id, TokenKind::UserDefined)}});
  }
  return list;
}

/// Templates of one text and of a pair: `first` A `last`, then B `last`, with `between` in front of B, or `first` again
/// where there is nothing between.
void TokenizerWriter::addTemplate(llvm::ArrayRef<uint32_t> first, llvm::ArrayRef<uint32_t> last,
                                  llvm::ArrayRef<uint32_t> between, int secondType) {
  Json single = Json::array(), second = Json::array(), specials = Json::object();
  auto add = [&](Json &to, llvm::ArrayRef<uint32_t> ids, int type) {
    for (uint32_t id : ids) {
      std::string text = label(id);
      to.push_back({{"SpecialToken", {{"id", text}, {"type_id", type}}}});
      specials[text] = {{"id", text}, {"ids", Json::array({id})}, {"tokens", Json::array({text})}};
    }
  };
  auto text = [](const char *which, int type) -> Json { return {{"Sequence", {{"id", which}, {"type_id", type}}}}; };
  add(single, first, 0);
  single.push_back(text("A", 0));
  add(single, last, 0);
  add(second, between, 0);
  if (between.empty() && v.model != Model::Words)
    add(second, first, secondType);
  second.push_back(text("B", secondType));
  add(second, last, secondType);
  Json pair = single;
  pair.insert(pair.end(), second.begin(), second.end());
  parts["post_processor"] = {{"type", "TemplateProcessing"},
                             {"single", std::move(single)},
                             {"pair", std::move(pair)},
                             {"special_tokens", std::move(specials)}};
}

bool TokenizerWriter::postProcessor() {
  bool unigram = v.model == Model::Unigram;
  if (v.model == Model::Words) {
    addTemplate(*v.bos, *v.sep, {}, 1);
    return true;
  }
  llvm::SmallVector<uint32_t, 1> first, last;
  if (flag("add_bos_token", addsBos) && v.bos)
    first.push_back(*v.bos);
  if (flag("add_eos_token", unigram) && v.eos)
    last.push_back(*v.eos);
  bool separates =
      v.model == Model::Bytes && flag("add_sep_token", isPre({"jina-v1-en", "jina-v2-code", "roberta-bpe"}));
  bool both = !first.empty() && !last.empty();
  if (both && separates)
    addTemplate(first, last, v.sep ? *v.sep : *v.eos, 0);
  else if (both && unigram)
    addTemplate(first, last, last, 0);
  else if (!first.empty() || !last.empty())
    addTemplate(first, last, {}, first.empty() ? 0 : 1);
  return keys.ok();
}

Json TokenizerWriter::config() const {
  Json out = {{"tokenizer_class", "PreTrainedTokenizerFast"}, {"clean_up_tokenization_spaces", false}};
  for (auto [key, id] : {std::pair("bos_token", v.bos),
                         {"eos_token", v.eos},
                         {"unk_token", v.unk},
                         {"sep_token", v.sep},
                         {"pad_token", v.pad},
                         {"mask_token", v.mask}})
    if (id)
      out[key] = label(*id);
  Json &special = out["additional_special_tokens"] = Json::array(); // where a turn ends is looked for among them
  for (uint32_t id = 0; id < v.size(); ++id)
    if (v.is(id, TokenKind::Control) && !v.hasRole(id))
      special.push_back(label(id));
  return out;
}

std::optional<TokenizerFiles> TokenizerWriter::run() {
  bool good = v.model == Model::Pieces  ? pieces()
              : v.model == Model::Bytes ? bytes()
              : v.model == Model::Words ? words()
                                        : unigram();
  if (!good || !keys.ok() || !postProcessor())
    return std::nullopt;
  parts["added_tokens"] = addedTokens();
  parts["model"] = model;
  return TokenizerFiles{parts.dump(), config().dump(), std::move(tables)};
}

std::optional<TokenizerFiles> writeTokenizer(const GgufVocabulary &vocabulary, StringRef name, TokenizerKeys &keys,
                                             std::vector<std::string> &warnings) {
  return TokenizerWriter(vocabulary, name, keys, warnings).run();
}

} // namespace heddle
