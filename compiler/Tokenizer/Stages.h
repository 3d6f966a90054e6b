//===- Stages.h - Components of tokenizer.json as stages ----------*- C++
//-*-===//
//
// Each function turns one part of the file into a section of the blob. A new
// component is one more case in one of them.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_TOKENIZER_STAGES_H
#define HEDDLE_COMPILER_TOKENIZER_STAGES_H

#include "compiler/Tokenizer/Words.h"

#include <nlohmann/json.hpp>

namespace heddle::tok {

using Json = nlohmann::json;

/// Where errors are collected: the first one stands.
struct Problem {
  std::string text;
  bool say(const std::string &what) {
    if (text.empty())
      text = what;
    return false;
  }
};

/// Access that cannot fail on a wrong type: `otherwise` then.
std::string textOf(const Json &object, const char *key,
                   const std::string &otherwise = "");
bool flagOf(const Json &object, const char *key, bool otherwise = false);
/// Null where the key is absent.
const Json &member(const Json &object, const char *key);
std::string typeOf(const Json &component);

/// Every key that is read holds what it should.
bool rightKinds(const Json &file, Problem &problem);

/// {"String": ...} or {"Regex": ...} as a pattern.
bool patternOf(const Json &component, std::string &pattern, Problem &problem);
/// A stage that ends in the program of `pattern`.
bool programStage(Words &out, uint32_t kind, Words content,
                  const std::string &pattern, Problem &problem);

bool normalizerStages(const Json &component, Words &out, Problem &problem,
                      unsigned depth = 0);
bool splitterStages(const Json &component, Words &out, Problem &problem,
                    unsigned depth = 0);
bool decoderStages(const Json &component, Words &out, Problem &problem,
                   unsigned depth = 0);
/// What goes around one text, and around two.
struct Templates {
  Words single, pair;
  bool empty() const { return single.empty() && pair.empty(); }
};
bool templateItems(const Json &component, Templates &out, Problem &problem,
                   unsigned depth = 0);

bool truncation(const Json &component, Words &out, Problem &problem);
bool padding(const Json &component, Words &out, Problem &problem);

} // namespace heddle::tok

#endif // HEDDLE_COMPILER_TOKENIZER_STAGES_H
