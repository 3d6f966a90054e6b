//===- FolderSettings.h - What is beside tokenizer.json -------*- C++ -*-===//
//
// In a directory tokenizer.json is not alone: tokenizer_config.json, special_tokens_map.json and added_tokens.json say
// more, and Hugging Face's library (transformers, releases 4 and 5) changes the tokenizer that it has loaded by them.
// The bare library (tokenizers), and so `heddle tokenize FILE`, knows none of them.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_TOKENIZER_FOLDERSETTINGS_H
#define HEDDLE_COMPILER_TOKENIZER_FOLDERSETTINGS_H

#include "compiler/Folder/ModelFolder.h"
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace heddle {

/// The files next to the tokenizer.json of a directory.
class FolderSettings {
public:
  /// Reads what is there; false with `error` (a file and what is wrong with it) for a file that is no JSON object.
  bool read(const ModelFolder &folder, std::string &error);

  /// Changes `file`, the tokenizer.json: adds and changes added tokens, makes the template of bos and eos anew where
  /// add_bos_token or add_eos_token say so, and sets what BertNormalizer does.
  void apply(nlohmann::json &file) const;

  /// The length to which the tokenizer itself cuts a text; none where the file says a number that means "no bound".
  std::optional<int64_t> modelMaxLength() const;
  /// Whether a text that is too long loses its beginning.
  bool truncatesLeft() const;
  /// Whether what is read and what is written have a vocabulary each (`separate_vocabs`).
  bool hasTwoVocabularies() const;

private:
  using Json = nlohmann::json;
  std::string roleOf(const char *role) const;
  void addTokens(Json &file) const;
  void makeTemplate(Json &file) const;
  void normalise(Json &file) const;

  Json config = Json::object(), map = Json::object(), added = Json::object();
};

} // namespace heddle

#endif // HEDDLE_COMPILER_TOKENIZER_FOLDERSETTINGS_H
