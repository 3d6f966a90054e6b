//===- Components.h - Components of tokenizer.json as stages ----*- C++ -*-===//
//
// Components of tokenizer.json compiled to stages of the blob: one function for
// each part of the file. A new component is one more case in one of them. All
// functions return false after an error, which is in `problem`.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_TOKENIZER_COMPONENTS_H
#define HEDDLE_COMPILER_TOKENIZER_COMPONENTS_H

#include "compiler/Tokenizer/Words.h"

#include <nlohmann/json.hpp>

namespace heddle::tok {

using Json = nlohmann::json;

/// Keeps the first error.
struct Problem {
  std::string text;
  /// Records an error; always false, so that it can be returned.
  bool say(const std::string &what) {
    if (text.empty())
      text = what;
    return false;
  }
};

/// The value of a key, or `otherwise` if it is absent or of another type.
std::string textOf(const Json &object, const char *key, const std::string &otherwise = "");
bool flagOf(const Json &object, const char *key, bool otherwise = false);
/// The value of a key; a JSON null if it is absent.
const Json &member(const Json &object, const char *key);
std::string typeOf(const Json &component);

/// An error unless every key that is read has a value of its kind (CheckKinds.cpp).
bool rightKinds(const Json &file, Problem &problem);

/// The `pattern` of a component, {"String": ...} or {"Regex": ...}, as a
/// regular expression.
bool patternOf(const Json &component, std::string &pattern, Problem &problem);
/// Appends a stage: its `content`, then the program of `pattern`.
bool programStage(Words &out, uint32_t kind, Words content, const std::string &pattern, Problem &problem);

/// The parts of the file, each appended to its section of the blob; a null
/// component appends nothing, except that of decoders, which joins with spaces.
bool normalizerStages(const Json &component, Words &out, Problem &problem, unsigned depth = 0);
bool splitterStages(const Json &component, Words &out, Problem &problem, unsigned depth = 0);
bool decoderStages(const Json &component, Words &out, Problem &problem, unsigned depth = 0);
/// The templates of one text and of a pair, as items of the section kTemplate.
struct Templates {
  Words single, pair;
  bool empty() const { return single.empty() && pair.empty(); }
};
bool templateItems(const Json &component, Templates &out, Problem &problem, unsigned depth = 0);

bool truncation(const Json &component, Words &out, Problem &problem);
bool padding(const Json &component, Words &out, Problem &problem);

} // namespace heddle::tok

#endif // HEDDLE_COMPILER_TOKENIZER_COMPONENTS_H
