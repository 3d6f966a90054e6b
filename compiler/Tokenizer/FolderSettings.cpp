//===- FolderSettings.cpp - What is beside tokenizer.json ---------------===//
//
// Where releases 4 and 5 of transformers differ, what a file says counts and what a class would assume does not.
//
//===----------------------------------------------------------------------===//
#include "compiler/Tokenizer/FolderSettings.h"

#include "compiler/Tokenizer/TokenFiles.h"

#include <algorithm>
#include <map>

namespace heddle {

using Json = nlohmann::json;

/// Reads a file where there is one.
static bool readIfThere(const ModelFolder &folder, const char *name, Json &value, std::string &error) {
  return !folder.has(name) || readJsonObject(folder, name, value, error);
}

bool FolderSettings::read(const ModelFolder &folder, std::string &error) {
  return readIfThere(folder, "tokenizer_config.json", config, error) &&
         readIfThere(folder, "special_tokens_map.json", map, error) &&
         readIfThere(folder, "added_tokens.json", added, error);
}

static bool saidFlag(const Json &object, const char *key, bool otherwise) {
  const Json &value = memberOf(object, key);
  return value.is_boolean() ? value.get<bool>() : otherwise;
}

std::string FolderSettings::roleOf(const char *role) const {
  std::string text = contentOf(memberOf(config, role));
  return text.empty() ? contentOf(memberOf(map, role)) : text;
}

std::optional<int64_t> FolderSettings::modelMaxLength() const {
  const Json &most = memberOf(config, "model_max_length");
  constexpr double kNoBound = 1e9; // the library writes 10^30 where there is none
  if (!most.is_number() || most.get<double>() < 1 || most.get<double>() > kNoBound)
    return std::nullopt;
  return int64_t(most.get<double>());
}

bool FolderSettings::truncatesLeft() const {
  const Json &side = memberOf(config, "truncation_side");
  return side.is_string() && side.get<std::string>() == "left";
}

bool FolderSettings::hasTwoVocabularies() const { return saidFlag(config, "separate_vocabs", false); }

//===----------------------------------------------------------------------===//

namespace {
/// The tokens of a tokenizer.json by their texts.
class Tokens {
public:
  explicit Tokens(Json &file) : list(file["added_tokens"]), vocab(memberOf(memberOf(file, "model"), "vocab")) {
    if (!list.is_array())
      list = Json::array();
    if (vocab.is_array()) // of a Unigram model: pieces with scores, in the order of their ids
      for (size_t i = 0; i < vocab.size(); ++i)
        if (vocab[i].is_array() && !vocab[i].empty() && vocab[i][0].is_string())
          pieces.emplace(vocab[i][0].get<std::string>(), i);
    for (size_t i = 0; i < list.size(); ++i)
      if (list[i].is_object())
        places[contentOf(list[i])] = i;
  }

  bool isAdded(const std::string &text) const { return places.count(text); }

  /// The id of a token; none where there is no such text.
  std::optional<uint64_t> idOf(const std::string &text) const {
    if (vocab.is_object()) {
      if (auto found = vocab.find(text); found != vocab.end() && found->is_number_unsigned())
        return found->get<uint64_t>();
    } else if (auto found = pieces.find(text); found != pieces.end()) {
      return found->second;
    }
    auto place = places.find(text);
    const Json &id = place == places.end() ? Json() : memberOf(list[place->second], "id");
    return id.is_number_unsigned() ? std::optional(id.get<uint64_t>()) : std::nullopt;
  }

  /// Adds a token, or changes its flags if it is one already. `token` is a text or an object.
  void set(const Json &token, bool special) {
    std::string text = contentOf(token);
    if (text.empty())
      return;
    Json entry = {{"content", text}, {"special", special || saidFlag(token, "special", false)}};
    entry["normalized"] = saidFlag(token, "normalized", !entry["special"].get<bool>());
    for (const char *flag : {"single_word", "lstrip", "rstrip"})
      entry[flag] = token.is_object() && saidFlag(token, flag, false);
    if (auto place = places.find(text); place != places.end()) {
      entry["id"] = memberOf(list[place->second], "id");
      list[place->second] = std::move(entry);
      return;
    }
    entry["id"] = idOf(text).value_or(next());
    places[text] = list.size();
    list.push_back(std::move(entry));
  }

private:
  /// The next free id.
  uint64_t next() const {
    uint64_t id = vocab.size();
    for (const Json &token : list)
      if (const Json &its = memberOf(token, "id"); its.is_number_unsigned())
        id = std::max(id, its.get<uint64_t>() + 1);
    return id;
  }

  Json &list;
  const Json &vocab;
  std::map<std::string, size_t> places, pieces;
};
} // namespace

void FolderSettings::addTokens(Json &file) const {
  Tokens tokens(file);
  const Json &decoder = memberOf(config, "added_tokens_decoder");
  std::map<int64_t, Json> listed; // by id, the order in which the library adds them
  if (decoder.is_object()) {
    for (const auto &token : decoder.items())
      listed[strtoll(token.key().c_str(), nullptr, 10)] = token.value();
  } else {
    for (const auto &token : added.items())
      if (token.value().is_number_unsigned())
        listed[token.value().get<int64_t>()] = token.key();
  }
  auto isSpecial = [&](const std::string &text) {
    return std::any_of(std::begin(kTokenRoles), std::end(kTokenRoles),
                       [&](const char *role) { return roleOf(role) == text; });
  };
  for (const auto &[id, token] : listed)
    tokens.set(token, isSpecial(contentOf(token)));
  auto add = [&](const Json &token) {
    if (!tokens.isAdded(contentOf(token)))
      tokens.set(token, /*special=*/true);
  };
  for (const char *role : kTokenRoles)
    add(contentOf(memberOf(config, role)).empty() ? memberOf(map, role) : memberOf(config, role));
  for (const char *key : {"additional_special_tokens", "extra_special_tokens"})
    for (const Json *from : {&config, &map})
      if (const Json &more = memberOf(*from, key); more.is_array() || more.is_object())
        for (const Json &token : more)
          add(token);
}

/// Whether a post-processor adds a token that is neither `bos` nor `eos`, as those of BERT and Whisper do.
static bool addsOthers(const Json &processor, const std::string &bos, const std::string &eos) {
  if (const Json &parts = memberOf(processor, "processors"); parts.is_array())
    return std::any_of(parts.begin(), parts.end(), [&](const Json &one) { return addsOthers(one, bos, eos); });
  const Json &specials = memberOf(processor, "special_tokens");
  if (specials.is_object())
    for (const auto &token : specials.items())
      if (token.key() != bos && token.key() != eos)
        return true;
  return processor.is_object() && processor.contains("cls"); // BertProcessing, RobertaProcessing
}

void FolderSettings::makeTemplate(Json &file) const {
  const Json &bos = memberOf(config, "add_bos_token"), &eos = memberOf(config, "add_eos_token");
  if (!bos.is_boolean() && !eos.is_boolean())
    return;
  // These classes make the template anew in both releases, with bos unless a setting says otherwise. Release 4 leaves
  // those of others as they are; there a token can be added, and what a file's own template adds stays.
  std::string kind = contentOf(memberOf(config, "tokenizer_class"));
  bool begins = kind.rfind("Llama", 0) == 0 || kind.rfind("Gemma", 0) == 0 || kind.rfind("Cohere", 0) == 0;
  bool asked = (bos.is_boolean() && bos.get<bool>()) || (eos.is_boolean() && eos.get<bool>());
  if (!begins && (!asked || addsOthers(memberOf(file, "post_processor"), roleOf("bos_token"), roleOf("eos_token"))))
    return;
  Tokens tokens(file);
  Json single = Json::array(), second = Json::array(), specials = Json::object();
  auto special = [&](bool wanted, const char *role) {
    std::string text = roleOf(role);
    std::optional<uint64_t> id = wanted && !text.empty() ? tokens.idOf(text) : std::nullopt;
    if (!id)
      return;
    specials[text] = {{"id", text}, {"ids", Json::array({*id})}, {"tokens", Json::array({text})}};
    single.push_back({{"SpecialToken", {{"id", text}, {"type_id", 0}}}});
    second.push_back({{"SpecialToken", {{"id", text}, {"type_id", 1}}}});
  };
  special(bos.is_boolean() ? bos.get<bool>() : begins, "bos_token");
  single.push_back({{"Sequence", {{"id", "A"}, {"type_id", 0}}}});
  second.push_back({{"Sequence", {{"id", "B"}, {"type_id", 1}}}});
  special(eos.is_boolean() && eos.get<bool>(), "eos_token");
  Json pair = single;
  pair.insert(pair.end(), second.begin(), second.end());
  file["post_processor"] = {
      {"type", "TemplateProcessing"}, {"single", single}, {"pair", pair}, {"special_tokens", specials}};
}

void FolderSettings::normalise(Json &file) const {
  std::string kind = contentOf(memberOf(config, "tokenizer_class"));
  auto found = file.find("normalizer");
  if (found == file.end() || contentOf(memberOf(*found, "type")) != "BertNormalizer" || kind.empty() ||
      kind.rfind("PreTrained", 0) == 0)
    return; // the general class changes nothing
  for (auto [key, its] : {std::pair("do_lower_case", "lowercase"),
                          {"strip_accents", "strip_accents"},
                          {"tokenize_chinese_chars", "handle_chinese_chars"}})
    if (const Json &value = memberOf(config, key); value.is_boolean())
      (*found)[its] = value;
}

void FolderSettings::apply(Json &file) const {
  if (!file.is_object())
    return; // what reads it next says so
  addTokens(file);
  makeTemplate(file);
  normalise(file);
}

} // namespace heddle
