//===- TokenizerBlob.cpp - tokenizer.json to the runtime's blob -----------===//
//
// Reads the file, checks vocabulary and merges, and lays out the tables.
//
//===----------------------------------------------------------------------===//
#include "compiler/Tokenizer/TokenizerBlob.h"

#include "compiler/Tokenizer/Components.h"
#include "compiler/Tokenizer/FolderSettings.h"
#include "compiler/Tokenizer/Unicode.h"
#include "compiler/Tokenizer/Vocabulary.h"
#include "compiler/Tokenizer/WordTables.h"
#include "heddle/tokenizer_format.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <limits>
#include <map>
#include <string_view>
#include <unordered_map>

namespace heddle {

using namespace tok;

namespace {

constexpr uint32_t kMaxId = 1 << 24, kMaxNesting = 64;
// Unused ids are allowed, but a file of a few entries cannot demand a large
// table.
constexpr uint32_t kMostGaps = 1 << 16, kGapsAnEntry = 16;

class Writer {
public:
  /// `given` may be null: then `file` has vocabulary and merges itself.
  Writer(const Json &file, const WordTables *given) : file(file), given(given) {}

  bool write(std::string &blob);
  TokenizerFacts facts() const;
  Problem problem;

private:
  bool vocabulary();
  bool model();
  bool merges(const Json &model, const std::string &prefix);
  void layMerges(const std::vector<std::array<uint32_t, 3>> &list);
  size_t vocabularySize() const { return given ? given->pieces.size() : member(member(file, "model"), "vocab").size(); }
  bool merge(const Json &pair, std::string_view &left, std::string_view &right);
  bool unigram(const Json &model);
  bool piecesOfWords(const Json &model);
  uint32_t idLimit() const;
  bool addedTokens();
  std::vector<std::pair<std::string_view, uint32_t>> sortedIds() const;
  bool give(uint32_t id, const std::string &text);
  bool tooLarge(uint32_t id, const std::string &text);
  void idOfPiece(const Json &model, const char *key, uint32_t &plusOne);

  const Json &file;
  const WordTables *given;
  uint32_t mostIds = 0;
  /// The model's vocabulary; texts are those of `file` or `given`.
  std::unordered_map<std::string_view, uint32_t> ids;
  std::vector<std::string> pieces;     ///< by id, added tokens too
  uint32_t firstWordless = UINT32_MAX; ///< pieces from here on are cut out of texts and have no id
  std::vector<Words> sections = std::vector<Words>(16);
};

uint32_t Writer::idLimit() const {
  size_t entries = vocabularySize() + member(file, "added_tokens").size();
  return uint32_t(std::min<size_t>(kMaxId, entries * kGapsAnEntry + kMostGaps));
}

bool Writer::tooLarge(uint32_t id, const std::string &text) {
  return problem.say("the id " + std::to_string(id) + " of `" + text.substr(0, 60) +
                     "` is too large for a vocabulary of this size");
}

std::vector<std::pair<std::string_view, uint32_t>> Writer::sortedIds() const {
  std::vector<std::pair<std::string_view, uint32_t>> sorted(ids.begin(), ids.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

/// Makes `text` the piece of `id`; false if it has another one.
bool Writer::give(uint32_t id, const std::string &text) {
  if (id >= mostIds)
    return tooLarge(id, text);
  if (id >= pieces.size())
    pieces.resize(id + 1);
  if (!pieces[id].empty() && pieces[id] != text)
    return problem.say("two tokens have the id " + std::to_string(id));
  pieces[id] = text;
  return true;
}

bool Writer::vocabulary() {
  if (given) {
    pieces = given->pieces;
    for (uint32_t id = 0; id < given->pieces.size(); ++id)
      if (!given->pieces[id].empty())
        ids[given->pieces[id]] = id;
    return true;
  }
  const Json &vocab = member(member(file, "model"), "vocab");
  if (!vocab.is_object() || vocab.empty())
    return problem.say("the model has no vocabulary");
  for (auto entry = vocab.begin(); entry != vocab.end(); ++entry) {
    if (!entry.value().is_number_unsigned() || entry.value().get<uint64_t>() >= kMaxId)
      return problem.say("the id of `" + entry.key().substr(0, 60) + "` is no number of 0 to " +
                         std::to_string(kMaxId - 1));
    auto id = uint32_t(entry.value().get<uint64_t>());
    if (!give(id, entry.key()))
      return false;
    ids[entry.key()] = id;
  }
  return true;
}

/// The ids of added tokens are those that Hugging Face's library gives, which
/// ignores the ids in the file: a token of the vocabulary keeps its id, any
/// other gets the next free one in the list's order.
bool Writer::addedTokens() {
  const Json &list = member(file, "added_tokens");
  if (list.is_null())
    return true;
  std::map<std::string, uint32_t> added;
  const auto entries = uint32_t(vocabularySize());
  uint32_t next = entries;
  for (const Json &token : list) {
    const Json &id = member(token, "id");
    std::string content = textOf(token, "content");
    if (!id.is_number_unsigned() || id.get<uint64_t>() >= kMaxId || content.empty())
      return problem.say("an added token without id and content");
    auto number = uint32_t(id.get<uint64_t>());
    if (number >= mostIds)
      return tooLarge(number, content);
    auto known = ids.find(content);
    if (auto again = added.find(content); again != added.end())
      number = again->second;
    else
      number = known == ids.end() ? next : known->second;
    added[content] = number;
    next = std::max(next, std::max(number + 1, entries));
    if (!give(number, content))
      return false;
    uint32_t flags = 0;
    flags |= flagOf(token, "single_word") ? kSingleWord : 0u;
    flags |= flagOf(token, "lstrip") ? kStripLeft : 0u;
    flags |= flagOf(token, "rstrip") ? kStripRight : 0u;
    flags |= flagOf(token, "normalized", true) ? kNormalized : 0u;
    flags |= flagOf(token, "special") ? kSpecial : 0u;
    sections[kAdded].insert(sections[kAdded].end(), {number, flags});
  }
  return true;
}

/// 1 + the id of the piece that `key` names; 0 for null and for a piece that is
/// not in the vocabulary (a text that needs it is then an error at run time).
void Writer::idOfPiece(const Json &model, const char *key, uint32_t &plusOne) {
  plusOne = 0;
  auto found = ids.find(textOf(model, key));
  if (found != ids.end())
    plusOne = found->second + 1;
}

/// Takes a merge apart: "a b" or ["a", "b"].
bool Writer::merge(const Json &pair, std::string_view &left, std::string_view &right) {
  if (const auto *text = pair.get_ptr<const std::string *>()) {
    size_t space = text->find(' ');
    if (space == std::string::npos || space == 0 || text->find(' ', space + 1) != std::string::npos)
      return problem.say("the merge `" + *text + "` is no pair");
    left = std::string_view(*text).substr(0, space);
    right = std::string_view(*text).substr(space + 1);
    return true;
  }
  if (!pair.is_array() || pair.size() != 2 || !pair[0].is_string() || !pair[1].is_string())
    return problem.say("a merge is no pair");
  left = *pair[0].get_ptr<const std::string *>();
  right = *pair[1].get_ptr<const std::string *>();
  return true;
}

/// BPE: the table of merges, open addressing over (left, right) with the rank
/// and the id of the result. A rank is an index in the list.
void Writer::layMerges(const std::vector<std::array<uint32_t, 3>> &list) {
  size_t slots = 1;
  while (slots < list.size() * 2)
    slots *= 2;
  Words &table = sections[kMerges];
  if (!list.empty())
    table.assign(slots * 4, UINT32_MAX);
  for (uint32_t rank = 0; rank < list.size(); ++rank) {
    auto [left, right, joined] = list[rank];
    for (size_t slot = hashPair(left, right);; ++slot) {
      uint32_t *entry = table.data() + (slot & (slots - 1)) * 4;
      bool same = entry[0] == left && entry[1] == right;
      if (entry[0] != UINT32_MAX && !same)
        continue;
      // If a merge occurs twice, the later rank counts, as in the library.
      entry[0] = left;
      entry[1] = right;
      entry[2] = rank;
      entry[3] = joined;
      break;
    }
  }
}

bool Writer::merges(const Json &model, const std::string &prefix) {
  if (given) {
    layMerges(given->merges);
    return true;
  }
  const Json &list = member(model, "merges");
  if (!list.is_array())
    return problem.say("BPE without merges");
  std::vector<std::array<uint32_t, 3>> found;
  found.reserve(list.size());
  std::string joined;
  for (const Json &pair : list) {
    std::string_view left, right;
    if (!merge(pair, left, right))
      return false;
    joined = left;
    bool prefixed = !prefix.empty() && right.compare(0, prefix.size(), prefix) == 0;
    joined += right.substr(prefixed ? prefix.size() : 0);
    std::array<uint32_t, 3> operands;
    const std::string_view names[] = {left, right, joined};
    for (int i = 0; i < 3; ++i) {
      auto token = ids.find(names[i]);
      if (token == ids.end())
        return problem.say("the merge of `" + std::string(left) + "` and `" + std::string(right) + "` uses `" +
                           std::string(names[i]) + "`, which is not in the vocabulary");
      operands[i] = token->second;
    }
    found.push_back(operands);
  }
  layMerges(found);
  return true;
}

static void appendDouble(Words &words, double value) {
  uint32_t halves[2];
  memcpy(halves, &value, 8);
  words.insert(words.end(), {halves[0], halves[1]});
}

/// Unigram: the vocabulary is a list of [piece, score]; an id is an index in
/// it.
bool Writer::unigram(const Json &model) {
  const Json &vocab = member(model, "vocab"), &unk = member(model, "unk_id");
  if (!given && (!vocab.is_array() || vocab.empty() || vocab.size() >= kMaxId))
    return problem.say("the model has no vocabulary");
  double least = std::numeric_limits<double>::infinity();
  Words &scores = sections[kScores];
  uint32_t id = 0;
  auto add = [&](const std::string &piece, double score) {
    if (!give(id, piece))
      return false;
    ids[piece] = id++;
    least = std::min(least, score);
    appendDouble(scores, score);
    return true;
  };
  for (size_t i = 0; given && i < given->pieces.size(); ++i)
    if (!add(given->pieces[i], given->scores[i]))
      return false;
  for (const Json &entry : vocab) {
    if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string() || !entry[1].is_number())
      return problem.say("a piece of the vocabulary is no [text, score]");
    if (!add(*entry[0].get_ptr<const std::string *>(), entry[1].get<double>()))
      return false;
  }
  for (const auto &[piece, id] : sortedIds())
    if (!piece.empty())
      sections[kSortedPieces].push_back(id);
  uint32_t unknown = 0;
  if (!unk.is_null()) {
    if (!unk.is_number_unsigned() || unk.get<uint64_t>() >= id)
      return problem.say("unk_id is not in the vocabulary");
    unknown = uint32_t(unk.get<uint64_t>()) + 1;
  }
  sections[kModel] = {kUnigram, unknown, flagOf(model, "byte_fallback")};
  appendDouble(sections[kModel], least - 10);
  sections[kModel].push_back(firstWordless);
  return true;
}

/// A SentencePiece model next to a vocabulary (Vocabulary.cpp): `pieces`, a list of [piece, score], cut a text, and
/// `vocab` has their ids, and others that no text has. A piece that has none follows all ids.
bool Writer::piecesOfWords(const Json &model) {
  firstWordless = uint32_t(pieces.size());
  std::map<std::string, uint32_t> searched;
  std::vector<double> scores(pieces.size());
  double least = std::numeric_limits<double>::infinity();
  for (const Json &entry : member(model, "pieces")) {
    if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string() || !entry[1].is_number())
      return problem.say("a piece is no [text, score]");
    std::string piece = entry[0].get<std::string>();
    auto found = ids.find(piece);
    uint32_t id = found == ids.end() ? uint32_t(pieces.size()) : found->second;
    if (!searched.emplace(piece, id).second)
      continue;
    if (found == ids.end()) {
      pieces.push_back(piece);
      scores.push_back(0);
    }
    scores[id] = entry[1].get<double>();
    least = std::min(least, scores[id]);
  }
  uint32_t unknown = 0;
  idOfPiece(model, "unk_token", unknown);
  if (!unknown || searched.empty())
    return problem.say("`pieces` or `unk_token` is missing");
  for (double score : scores)
    appendDouble(sections[kScores], score);
  for (const auto &[piece, id] : searched)
    sections[kSortedPieces].push_back(id);
  sections[kModel] = {kUnigram, unknown, /*byte_fallback=*/0};
  appendDouble(sections[kModel], least - 10);
  sections[kModel].push_back(firstWordless);
  return true;
}

/// The model's type. Files older than tokenizers 0.9 do not say it (those of bert-base-uncased, t5-small, gpt2): as in
/// the library the keys do. A WordLevel model has some of a WordPiece's.
static std::string typeOfModel(const Json &model) {
  std::string type = typeOf(model);
  if (!type.empty())
    return type;
  auto has = [&](const char *key) { return !member(model, key).is_null(); };
  bool list = member(model, "vocab").is_array(), map = member(model, "vocab").is_object();
  if (map && member(model, "merges").is_array())
    return "BPE";
  if (map && has("unk_token"))
    return has("continuing_subword_prefix") && has("max_input_chars_per_word") ? "WordPiece" : "WordLevel";
  return list ? "Unigram" : "";
}

/// The model: its vocabulary and tables, then its kind and parameters (kModel).
bool Writer::model() {
  const Json &model = member(file, "model");
  std::string type = typeOfModel(model);
  Words &words = sections[kModel];
  uint32_t unknown = 0;
  if (!member(model, "dropout").is_null() && member(model, "dropout") != 0.0)
    return problem.say("unsupported: `dropout` in the model");
  if (type == "Unigram")
    return unigram(model);
  if (type == "SentencePiece")
    return vocabulary();
  if (type != "BPE" && type != "WordLevel" && type != "WordPiece")
    return problem.say(type.empty() ? "`model` has no type, and its keys are those of none: expected `vocab` with "
                                      "`merges` (BPE), with `unk_token` (WordPiece, WordLevel), or as a list (Unigram)"
                                    : "unsupported model `" + type + "`");
  if (!vocabulary())
    return false;
  idOfPiece(model, "unk_token", unknown);
  if (type == "BPE") {
    uint32_t flags = 0;
    flags |= flagOf(model, "fuse_unk") ? kFuseUnk : 0u;
    flags |= flagOf(model, "byte_fallback") ? kByteFallback : 0u;
    flags |= flagOf(model, "ignore_merges") ? kIgnoreMerges : 0u;
    if (!unknown && !member(model, "unk_token").is_null())
      flags |= kNeedsUnknown;
    std::string prefix = textOf(model, "continuing_subword_prefix");
    words = {kBpe, unknown, flags};
    appendString(words, prefix);
    appendString(words, textOf(model, "end_of_word_suffix"));
    return merges(model, prefix);
  }
  if (type == "WordLevel") {
    words = {kWordLevel, unknown};
    return true;
  }
  const Json &most = member(model, "max_input_chars_per_word");
  size_t longest = 0;
  for (const auto &[piece, id] : ids)
    longest = std::max(longest, piece.size());
  words = {kWordPiece, unknown, most.is_number_unsigned() ? uint32_t(most.get<uint64_t>()) : 100u, uint32_t(longest)};
  appendString(words, textOf(model, "continuing_subword_prefix", "##"));
  return true;
}

/// All sections in order: stages, pieces by id, pieces by text, classes; then
/// the head with offsets.
bool Writer::write(std::string &blob) {
  if (!file.is_object())
    return problem.say("the file is no object");
  if (!rightKinds(file, problem))
    return false;
  mostIds = idLimit();
  Templates templates;
  const Json &its = member(file, "model");
  if (!model() || !addedTokens() || (typeOf(its) == "SentencePiece" && !piecesOfWords(its)) ||
      !normalizerStages(member(file, "normalizer"), sections[kNormalizer], problem) ||
      !splitterStages(member(file, "pre_tokenizer"), sections[kSplitter], problem) ||
      !templateItems(member(file, "post_processor"), templates, problem) ||
      !truncation(member(file, "truncation"), sections[kTruncation], problem) ||
      !padding(member(file, "padding"), sections[kPadding], problem) ||
      !decoderStages(member(file, "decoder"), sections[kDecoder], problem))
    return false;
  sections[kTemplate] = templates.single;
  sections[kTemplatePair] = templates.pair;

  Words &table = sections[kPieces];
  std::string bytes;
  table.push_back(uint32_t(pieces.size()));
  for (const std::string &piece : pieces) {
    table.push_back(uint32_t(bytes.size()));
    bytes += piece;
  }
  table.push_back(uint32_t(bytes.size()));
  appendBytes(table, bytes);

  size_t slots = 1;
  while (slots < ids.size() * 2)
    slots *= 2;
  Words &index = sections[kPieceIndex];
  index.resize(slots);
  for (const auto &[text, id] : sortedIds()) { // in one order, so that a blob has always the same bytes
    size_t slot = hashBytes(text.data(), text.size());
    while (index[slot & (slots - 1)])
      ++slot;
    index[slot & (slots - 1)] = id + 1;
  }
  sections[kClasses] = classTable();

  Words head = {kMagic, kVersion, 0}, body;
  for (const Words &section : sections)
    head[2] += !section.empty();
  uint32_t start = uint32_t(head.size()) + 3 * head[2];
  for (uint32_t kind = 0; kind < sections.size(); ++kind) {
    const Words &section = sections[kind];
    if (section.empty())
      continue;
    head.insert(head.end(), {kind, uint32_t(start + body.size()) * 4, uint32_t(section.size())});
    body.insert(body.end(), section.begin(), section.end());
  }
  if ((head.size() + body.size()) >> 30)
    return problem.say("the tokenizer is too large");
  blob.assign(reinterpret_cast<const char *>(head.data()), head.size() * 4);
  blob.append(reinterpret_cast<const char *>(body.data()), body.size() * 4);
  return true;
}

TokenizerFacts Writer::facts() const {
  TokenizerFacts out;
  for (const auto &[text, id] : ids)
    out.vocabulary = std::max(out.vocabulary, id + 1);
  for (uint32_t id = 0; id < std::min<size_t>(pieces.size(), firstWordless); ++id)
    if (!pieces[id].empty() && !ids.count(pieces[id]))
      out.added.push_back({id, pieces[id]});
  return out;
}

} // namespace

/// Whether lists and objects of a JSON text stand in each other more than `most` deep. A parser that watches the depth
/// takes twice the time.
static bool nestsDeeper(std::string_view text, unsigned most) {
  unsigned depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '"')
      quoted = !quoted;
    else if (quoted)
      i += c == '\\'; // what is escaped ends nothing
    else if (c == '[' || c == '{') {
      if (++depth > most)
        return true;
    } else if ((c == ']' || c == '}') && depth)
      --depth;
  }
  return false;
}

bool tokenizerBlobFromText(const std::string &text, const std::string &name, std::string &blob, std::string &error,
                           const TokenizerUse &use, TokenizerFacts *facts) {
  bool deep = nestsDeeper(text, kMaxNesting);
  Json file = deep ? Json() : Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (deep || file.is_discarded()) {
    error = name + ": " + (deep ? "nested too deep" : "no valid JSON");
    return false;
  }
  FolderSettings settings;
  if (use.folder) {
    if (!settings.read(*use.folder, error))
      return false;
    settings.apply(file);
  }
  if (file.is_object() && !use.keepsTruncation)
    file["truncation"] = nullptr;
  if (file.is_object() && use.most)
    file["truncation"] = {{"max_length", uint64_t(*use.most)},
                          {"stride", 0},
                          {"strategy", "LongestFirst"},
                          {"direction", use.cutsLeft ? "Left" : "Right"}};
  if (file.is_object() && use.lowers) {
    Json all = Json::array({{{"type", "Lowercase"}}});
    if (file.contains("normalizer") && !file["normalizer"].is_null())
      all.push_back(file["normalizer"]);
    file["normalizer"] = {{"type", "Sequence"}, {"normalizers", all}};
  }
  WordTables tables;
  const MadeText *made = use.folder ? use.folder->made(WordTables::kName) : nullptr;
  Writer writer(file, made && tables.read(made->text) ? &tables : nullptr);
  bool good = writer.write(blob);
  if (facts)
    *facts = writer.facts();
  if (good)
    return true;
  error = name + ": " + writer.problem.text;
  return false;
}

bool writeTokenizerBlob(const std::string &path, std::string &blob, std::string &error) {
  return writeTokenizerBlob(ModelFolder(path), blob, error);
}

bool writeTokenizerBlob(const ModelFolder &folder, std::string &blob, std::string &error) {
  std::string text, name;
  TokenizerUse use;
  switch (findTokenizer(folder, text, name)) {
  case TokenizerFound::Yes:
    if (name == folder.path("tokenizer.json")) // then the files next to it count
      use.folder = folder;
    return tokenizerBlobFromText(text, name, blob, error, use);
  case TokenizerFound::No:
    error =
        folder.place() + (folder.isMade() ? ": no tokenizer in it" : ": no tokenizer.json, vocab.json or vocab.txt");
    return false;
  default: error = name; return false;
  }
}

} // namespace heddle
