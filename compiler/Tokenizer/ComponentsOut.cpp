//===- ComponentsOut.cpp - Templates and decoders -------------------------===//
//
// What follows the model: templates, truncation and padding, and the decoder.
//
//===----------------------------------------------------------------------===//
#include "compiler/Tokenizer/Components.h"

#include "heddle/tokenizer_format.h"

namespace heddle::tok {

static constexpr unsigned kMostNested = 16;

static bool idOf(const Json &value, uint32_t &id) {
  if (!value.is_number_unsigned())
    return false;
  auto number = value.get<uint64_t>();
  id = uint32_t(number);
  return number < (1u << 30);
}

static uint32_t typeIdOf(const Json &item) {
  uint32_t id = 0;
  idOf(member(item, "type_id"), id);
  return id;
}

/// The list "single" or "pair" of a TemplateProcessing.
static bool templateList(const Json &list, const Json &tokens, Words &out, Problem &problem) {
  for (const Json &item : list) {
    const Json &text = member(item, "Sequence"), &special = member(item, "SpecialToken");
    if (text.is_object()) {
      bool second = textOf(text, "id") == "B";
      out.insert(out.end(), {second ? kSecond : kFirst, typeIdOf(text)});
      continue;
    }
    std::string name = textOf(special, "id");
    const Json &ids = member(member(tokens, name.c_str()), "ids");
    if (!ids.is_array())
      return problem.say("the template's token `" + name + "` has no ids");
    for (const Json &one : ids) {
      uint32_t id;
      if (!idOf(one, id))
        return problem.say("the template's token `" + name + "` has no ids");
      out.insert(out.end(), {id, typeIdOf(special)});
    }
  }
  return true;
}

static bool templateProcessing(const Json &component, Templates &out, Problem &problem) {
  const Json &single = member(component, "single"), &pair = member(component, "pair"),
             &tokens = member(component, "special_tokens");
  if (!single.is_array())
    return problem.say("`TemplateProcessing` without `single`");
  if (!pair.is_array())
    out.pair = {kFirst, 0, kSecond, 1};
  return templateList(single, tokens, out.single, problem) &&
         (!pair.is_array() || templateList(pair, tokens, out.pair, problem));
}

/// The id in a pair of text and id, ["</s>", 2].
static bool pairId(const Json &component, const char *key, uint32_t &id, Problem &problem) {
  const Json &pair = member(component, key);
  if (pair.is_array() && pair.size() == 2 && idOf(pair[1], id))
    return true;
  return problem.say("`" + typeOf(component) + "` without `" + key + "`");
}

bool templateItems(const Json &component, Templates &out, Problem &problem, unsigned depth) {
  if (component.is_null())
    return true;
  std::string type = typeOf(component);
  if (type == "ByteLevel") // changes offsets only
    return true;
  if (type == "Sequence" && depth < kMostNested) {
    for (const Json &part : member(component, "processors")) {
      Templates items;
      if (!templateItems(part, items, problem, depth + 1))
        return false;
      if (!items.empty() && !out.empty())
        return problem.say("unsupported: two templates in one post_processor");
      if (!items.empty())
        out = items;
    }
    return true;
  }
  if (type == "TemplateProcessing")
    return templateProcessing(component, out, problem);
  if (type == "RobertaProcessing" || type == "BertProcessing") {
    uint32_t cls, sep;
    if (!pairId(component, "cls", cls, problem) || !pairId(component, "sep", sep, problem))
      return false;
    out.single = {cls, 0, kFirst, 0, sep, 0};
    if (type == "BertProcessing")
      out.pair = {cls, 0, kFirst, 0, sep, 0, kSecond, 1, sep, 1};
    else
      out.pair = {cls, 0, kFirst, 0, sep, 0, sep, 0, kSecond, 0, sep, 0};
    return true;
  }
  return problem.say("unsupported post_processor `" + type + "`");
}

bool truncation(const Json &component, Words &out, Problem &problem) {
  if (component.is_null())
    return true;
  uint32_t most = 0, strategy = 0;
  std::string name = textOf(component, "strategy", "LongestFirst");
  static const char *const names[] = {"LongestFirst", "OnlyFirst", "OnlySecond"};
  while (strategy < 3 && name != names[strategy])
    ++strategy;
  std::string side = textOf(component, "direction", "Right");
  if (!idOf(member(component, "max_length"), most) || strategy == 3 || (side != "Left" && side != "Right"))
    return problem.say("unsupported: `truncation` of this kind");
  out = {most, strategy, side == "Left"};
  return true;
}

bool padding(const Json &component, Words &out, Problem &problem) {
  if (component.is_null())
    return true;
  const Json &strategy = member(component, "strategy");
  uint32_t fixed = 0, multiple = 0, id = 0, type = 0;
  bool longest = textOf(component, "strategy") == "BatchLongest";
  if (!longest && !idOf(member(strategy, "Fixed"), fixed))
    return problem.say("unsupported: `padding` of this kind");
  idOf(member(component, "pad_to_multiple_of"), multiple);
  if (fixed > kMaxPadding || multiple > kMaxPadding)
    return problem.say("padding to more than " + std::to_string(kMaxPadding) + " ids");
  idOf(member(component, "pad_id"), id);
  idOf(member(component, "pad_type_id"), type);
  out = {fixed, multiple, textOf(component, "direction") == "Left", id, type};
  appendString(out, textOf(component, "pad_token", "[PAD]"));
  return true;
}

static bool replaceStage(const Json &component, Words &out, Problem &problem) {
  const Json &from = member(component, "pattern");
  Words content;
  if (!member(from, "String").is_string()) {
    std::string pattern;
    appendString(content, textOf(component, "content"));
    return patternOf(component, pattern, problem) && programStage(out, kReplaceInDecoded, content, pattern, problem);
  }
  appendString(content, textOf(from, "String"));
  appendString(content, textOf(component, "content"));
  appendStage(out, kReplaceDecoded, content);
  return true;
}

// One case for each type of component; no decoder joins words with spaces.
bool decoderStages(const Json &component, Words &out, Problem &problem, unsigned depth) {
  Words content;
  if (component.is_null()) {
    appendStage(out, kJoinWithSpaces, {0});
    return true;
  }
  std::string type = typeOf(component);
  if (type == "Sequence" && depth < kMostNested) {
    for (const Json &part : member(component, "decoders"))
      if (!decoderStages(part, out, problem, depth + 1))
        return false;
    return true;
  }
  if (type == "Replace")
    return replaceStage(component, out, problem);
  if (type == "ByteLevel" || type == "Fuse" || type == "ByteFallback") {
    appendStage(out, type == "Fuse" ? kFuse : type == "ByteLevel" ? kBytesFromLetters : kBytesFromPieces, {});
    return true;
  }
  if (type == "CTC") {
    appendString(content, textOf(component, "pad_token", "<pad>"));
    appendString(content, textOf(component, "word_delimiter_token", "|"));
    content.push_back(flagOf(component, "cleanup", true));
    appendStage(out, kCollapse, content);
    return true;
  }
  if (type == "BPEDecoder") {
    appendString(content, textOf(component, "suffix", "</w>"));
    appendStage(out, kSuffixToSpace, content);
    return true;
  }
  if (type == "WordPiece") {
    appendString(content, textOf(component, "prefix", "##"));
    content.push_back(flagOf(component, "cleanup", true));
    appendStage(out, kJoinPieces, content);
    return true;
  }
  if (type == "Metaspace") {
    std::string scheme = textOf(component, "prepend_scheme");
    bool drop = scheme.empty() ? flagOf(component, "add_prefix_space", true) : scheme != "never";
    appendString(content, textOf(component, "replacement", "\xe2\x96\x81"));
    content.push_back(drop);
    appendStage(out, kSpaceFromMeta, content);
    return true;
  }
  if (type == "Strip") {
    uint32_t start = 0, stop = 0;
    if (!idOf(member(component, "start"), start) || !idOf(member(component, "stop"), stop))
      return problem.say("decoder `Strip` without start and stop");
    appendString(content, textOf(component, "content", " "));
    content.push_back(start);
    content.push_back(stop);
    appendStage(out, kStripDecoded, content);
    return true;
  }
  return problem.say("unsupported decoder `" + type + "`");
}

} // namespace heddle::tok
