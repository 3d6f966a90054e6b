//===- Components.cpp - Normalizers and splitters -------------------------===//
//
// Normalizers and pre-tokenizers. Many components are the same stage with
// another pattern or another map of characters.
//
//===----------------------------------------------------------------------===//
#include "compiler/Tokenizer/Components.h"

#include "compiler/Tokenizer/CharacterSets.h"
#include "compiler/Tokenizer/Pattern.h"
#include "compiler/Tokenizer/Unicode.h"
#include "heddle/tokenizer_format.h"

#include <algorithm>
#include <array>

namespace heddle::tok {

static constexpr unsigned kMaxDepth = 16;

const Json &member(const Json &object, const char *key) {
  static const Json none;
  if (!object.is_object())
    return none;
  auto found = object.find(key);
  return found == object.end() ? none : *found;
}

std::string textOf(const Json &object, const char *key, const std::string &otherwise) {
  const auto *text = member(object, key).get_ptr<const std::string *>();
  return text ? *text : otherwise;
}

bool flagOf(const Json &object, const char *key, bool otherwise) {
  const auto *flag = member(object, key).get_ptr<const bool *>();
  return flag ? *flag : otherwise;
}

std::string typeOf(const Json &component) { return textOf(component, "type"); }

static bool unsupported(const char *part, const Json &component, Problem &problem) {
  std::string type = typeOf(component);
  return problem.say(std::string("unsupported ") + part + " `" + (type.empty() ? "without type" : type) + "`");
}

/// A literal string is escaped, so both kinds become a regular expression.
bool patternOf(const Json &component, std::string &pattern, Problem &problem) {
  const Json &from = member(component, "pattern");
  if (member(from, "Regex").is_string())
    pattern = textOf(from, "Regex");
  else if (member(from, "String").is_string())
    pattern = escapePattern(textOf(from, "String"));
  else
    return problem.say("`" + typeOf(component) + "` without a pattern");
  return true;
}

static bool inSequence(const Json &component, const char *key, Words &out, Problem &problem, unsigned depth,
                       bool (*stages)(const Json &, Words &, Problem &, unsigned)) {
  const Json &list = member(component, key);
  if (!list.is_array() || depth > kMaxDepth)
    return problem.say("`Sequence` without `" + std::string(key) + "`");
  for (const Json &part : list)
    if (!stages(part, out, problem, depth + 1))
      return false;
  return true;
}

bool programStage(Words &out, uint32_t kind, Words content, const std::string &pattern, Problem &problem) {
  std::string error;
  if (!compilePattern(pattern, content, error))
    return problem.say(error);
  appendStage(out, kind, content);
  return true;
}

/// The steps of BertNormalizer in its order.
static bool bertStages(const Json &component, Words &out, Problem &problem) {
  if (flagOf(component, "clean_text", true)) {
    // Tab, line feed and carriage return count as spaces, not as controls.
    if (!programStage(out, kReplaceMatch, {0},
                      "[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f\\p{Cf}\\p{Co}"
                      "\\x{fffd}]",
                      problem))
      return false;
    Words space;
    appendString(space, " ");
    if (!programStage(out, kReplaceMatch, space, "\\s", problem))
      return false;
  }
  if (flagOf(component, "handle_chinese_chars", true) &&
      !programStage(out, kSurround, {},
                    "[\\x{4e00}-\\x{9fff}\\x{3400}-\\x{4dbf}\\x{20000}-\\x{2a6df}"
                    "\\x{2a700}-\\x{2b73f}\\x{2b740}-\\x{2b81f}"
                    "\\x{2b920}-\\x{2ceaf}\\x{f900}-\\x{faff}"
                    "\\x{2f800}-\\x{2fa1f}]",
                    problem))
    return false;
  bool lower = flagOf(component, "lowercase", true);
  if (flagOf(component, "strip_accents", lower))
    appendStage(out, kMapCharacters, characterMap(stripAccents));
  if (lower)
    appendStage(out, kMapCharacters, characterMap(lowercase));
  return true;
}

static void normalForm(bool compatibility, bool compose, Words &out) {
  appendStage(out, kMapCharacters, characterMap([=](uint32_t c, std::vector<uint32_t> &parts) {
                return decompose(c, compatibility, parts);
              }));
  Words classes = combiningClasses(), order = {1};
  order.insert(order.end(), classes.begin(), classes.end());
  appendStage(out, kOrderMarks, order);
  if (!compose)
    return;
  Words pairs = compositions(), content = {uint32_t(pairs.size() / 3)};
  content.insert(content.end(), pairs.begin(), pairs.end());
  content.insert(content.end(), classes.begin(), classes.end());
  appendStage(out, kCompose, content);
}

static bool decodeBase64(const std::string &text, std::string &bytes) {
  uint32_t buffer = 0;
  int bits = 0;
  for (char c : text) {
    int digit = c >= 'A' && c <= 'Z'   ? c - 'A'
                : c >= 'a' && c <= 'z' ? c - 'a' + 26
                : c >= '0' && c <= '9' ? c - '0' + 52
                : c == '+'             ? 62
                : c == '/'             ? 63
                                       : -1;
    if (c == '=')
      continue;
    if (digit < 0)
      return false;
    buffer = buffer << 6 | uint32_t(digit);
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes += static_cast<char>(buffer >> bits & 0xff);
    }
  }
  return true;
}

/// SentencePiece's charsmap in base64: bytes of the trie, the trie, its
/// strings.
static bool charsMapStage(const Json &component, Words &out, Problem &problem) {
  std::string bytes;
  uint32_t size = 0;
  if (!decodeBase64(textOf(component, "precompiled_charsmap"), bytes))
    return problem.say("`Precompiled` without a charsmap");
  if (bytes.empty())
    return true;
  if (bytes.size() >= 4)
    memcpy(&size, bytes.data(), 4);
  if (bytes.size() < 4 || size % 4 || size > bytes.size() - 4)
    return problem.say("the charsmap of `Precompiled` is cut off");
  Words content;
  appendString(content, bytes.substr(4, size));
  appendString(content, bytes.substr(4 + size));
  appendStage(out, kCharsMap, content);
  return true;
}

/// SentencePiece's rules `nmt`: controls are dropped, other blanks become
/// spaces.
static bool nmtStages(Words &out, Problem &problem) {
  Words space;
  appendString(space, " ");
  return programStage(out, kReplaceMatch, {0}, "[\\x01-\\x08\\x0b\\x0e-\\x1f\\x7f\\x8f\\x9f]", problem) &&
         programStage(out, kReplaceMatch, space,
                      "[\\t\\n\\x0c\\r\\x{1680}\\x{200b}-\\x{200f}\\x{2028}\\x{2029}"
                      "\\x{2581}\\x{feff}\\x{fffd}]",
                      problem);
}

// One case for each type of component.
bool normalizerStages(const Json &component, Words &out, Problem &problem, unsigned depth) {
  if (component.is_null())
    return true;
  std::string type = typeOf(component);
  if (type == "Sequence")
    return inSequence(component, "normalizers", out, problem, depth, normalizerStages);
  if (type == "Lowercase") {
    appendStage(out, kMapCharacters, characterMap(lowercase));
    return true;
  }
  if (type == "NFC" || type == "NFD" || type == "NFKC" || type == "NFKD") {
    normalForm(type[2] == 'K', type.back() == 'C', out);
    return true;
  }
  if (type == "StripAccents")
    return programStage(out, kReplaceMatch, {0}, "\\p{M}", problem);
  if (type == "Precompiled")
    return charsMapStage(component, out, problem);
  if (type == "Nmt")
    return nmtStages(out, problem);
  if (type == "ByteLevel") {
    appendStage(out, kLettersForBytes, {});
    return true;
  }
  if (type == "BertNormalizer")
    return bertStages(component, out, problem);
  if (type == "Prepend") {
    Words content;
    appendString(content, textOf(component, "prepend"));
    appendStage(out, kPrependText, content);
    return true;
  }
  if (type == "Strip") {
    appendStage(out, kStripText, {flagOf(component, "strip_left"), flagOf(component, "strip_right")});
    return true;
  }
  if (type == "Replace") {
    Words content;
    const Json &from = member(component, "pattern");
    if (member(from, "String").is_string()) {
      appendString(content, textOf(from, "String"));
      appendString(content, textOf(component, "content"));
      appendStage(out, kReplaceText, content);
      return true;
    }
    std::string pattern;
    appendString(content, textOf(component, "content"));
    return patternOf(component, pattern, problem) && programStage(out, kReplaceMatch, content, pattern, problem);
  }
  return unsupported("normalizer", component, problem);
}

static bool behaviorOf(const Json &component, uint32_t &behavior, Problem &problem) {
  std::string name = textOf(component, "behavior", "Isolated");
  static const char *const names[] = {"Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"};
  for (behavior = 0; behavior < 5; ++behavior)
    if (name == names[behavior])
      return true;
  return problem.say("unsupported behavior `" + name + "`");
}

static const char *const kGpt2Pattern = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|"
                                        "\\s+(?!\\S)|\\s+";
static const char *const kPunctuation = "[\\p{P}\\x21-\\x2f\\x3a-\\x40\\x5b-\\x60\\x7b-\\x7e]";

/// The script of every character as ranges; the three scripts of Japanese are
/// one.
static Words scriptTable() {
  std::vector<std::array<uint32_t, 3>> rows;
  uint32_t han = 0;
  for (size_t script = 0; script < scriptCount(); ++script) {
    std::string name = scriptName(script);
    if (name == "Han")
      han = uint32_t(script) + 1;
  }
  for (size_t script = 0; script < scriptCount(); ++script) {
    std::string name = scriptName(script);
    bool kana = name == "Hiragana" || name == "Katakana";
    if (name == "Alphabetic marks")
      continue;
    for (auto [first, last] : scriptRanges(script))
      rows.push_back({first, last, kana ? han : uint32_t(script) + 1});
  }
  std::sort(rows.begin(), rows.end());
  Words table;
  for (const auto &row : rows)
    table.insert(table.end(), row.begin(), row.end());
  return table;
}

static bool metaspaceStage(const Json &component, Words &out, Problem &problem) {
  std::string scheme = textOf(component, "prepend_scheme");
  if (scheme.empty())
    scheme = flagOf(component, "add_prefix_space", true) ? "always" : "never";
  uint32_t prepend = scheme == "never" ? 0 : scheme == "first" ? 1 : 2;
  Words content;
  appendString(content, textOf(component, "replacement", "\xe2\x96\x81"));
  content.push_back(prepend);
  content.push_back(flagOf(component, "split", true));
  if (scheme != "never" && scheme != "first" && scheme != "always")
    return problem.say("unsupported prepend_scheme `" + scheme + "`");
  appendStage(out, kMetaspace, content);
  return true;
}

// One case for each type of component.
bool splitterStages(const Json &component, Words &out, Problem &problem, unsigned depth) {
  if (component.is_null())
    return true;
  std::string type = typeOf(component);
  if (type == "Sequence")
    return inSequence(component, "pretokenizers", out, problem, depth, splitterStages);
  uint32_t behavior = kIsolated;
  if (type == "ByteLevel") {
    // The space in front is added before the text is split.
    bool space = flagOf(component, "add_prefix_space", true);
    if (flagOf(component, "use_regex", true)) {
      if (space)
        appendStage(out, kPrefixSpace, {});
      if (!programStage(out, kSplit, {kIsolated, 0}, kGpt2Pattern, problem))
        return false;
      space = false;
    }
    appendStage(out, kByteLevel, {space});
    return true;
  }
  if (type == "Split") {
    std::string pattern;
    return patternOf(component, pattern, problem) && behaviorOf(component, behavior, problem) &&
           programStage(out, kSplit, {behavior, flagOf(component, "invert")}, pattern, problem);
  }
  if (type == "Whitespace")
    return programStage(out, kSplit, {kRemoved, 1},
                        "[\\p{Word}\\x{200c}\\x{200d}]+|"
                        "[^\\p{Word}\\s\\x{200c}\\x{200d}]+",
                        problem);
  if (type == "CharDelimiterSplit") {
    std::string delimiter = textOf(component, "delimiter");
    if (delimiter.empty())
      return problem.say("`CharDelimiterSplit` without a delimiter");
    return programStage(out, kSplit, {kRemoved, 0}, escapePattern(delimiter), problem);
  }
  if (type == "UnicodeScripts") {
    appendStage(out, kScripts, scriptTable());
    return true;
  }
  if (type == "WhitespaceSplit")
    return programStage(out, kSplit, {kRemoved, 0}, "\\s", problem);
  if (type == "Digits") {
    bool each = flagOf(component, "individual_digits");
    return programStage(out, kSplit, {uint32_t(each ? kIsolated : kContiguous), 0}, "\\p{N}", problem);
  }
  if (type == "Punctuation")
    return behaviorOf(component, behavior, problem) && programStage(out, kSplit, {behavior, 0}, kPunctuation, problem);
  if (type == "BertPreTokenizer")
    return programStage(out, kSplit, {kRemoved, 0}, "\\s", problem) &&
           programStage(out, kSplit, {kIsolated, 0}, kPunctuation, problem);
  if (type == "Metaspace")
    return metaspaceStage(component, out, problem);
  return unsupported("pre_tokenizer", component, problem);
}

} // namespace heddle::tok
