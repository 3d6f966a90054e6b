//===- TemplateBlob.cpp - Chat templates to the runtime's blob ------------===//

#include "compiler/Template/TemplateBlob.h"

#include "compiler/Template/CharacterTables.h"
#include "compiler/Template/Writer.h"
#include "compiler/Tokenizer/Unicode.h"

#include <algorithm>
#include <cstring>

namespace heddle {

using namespace tpl;
using tok::Words;

namespace {

/// The code of all functions, one after the other.
void appendFunctions(const std::vector<Function> &functions, uint32_t first, Parsed &parsed, Words &table,
                     Words &code) {
  for (const Function &f : functions) {
    auto begin = uint32_t(code.size() / kInstructionWords);
    for (const Instruction &i : f.code) {
      uint32_t a = i.a, b = i.b;
      switch (i.op) {
      case kJump:
      case kJumpIfFalse:
      case kAnd:
      case kOr:
      case kLoopNext:
      case kLoopEnd: a += begin; break;
      case kCompareChain:
      case kDefault: b += begin; break;
      case kMacro: a += first; break;
      default: break;
      }
      code.insert(code.end(), {uint32_t(i.op) | i.line << 8, a, b, i.c});
    }
    auto names = uint32_t(parsed.names.size());
    parsed.names.push_back(f.parameters);
    table.insert(table.end(), {begin, uint32_t(code.size() / kInstructionWords), f.slots, uint32_t(f.parameters.size()),
                               names, f.flags, f.name});
  }
}

/// Lists become offsets: that of the list in words, which the instructions and functions then name.
Words namesSection(const Parsed &parsed, Words &functions, Words &code) {
  Words words, offsets;
  for (const std::vector<uint32_t> &list : parsed.names) {
    offsets.push_back(uint32_t(words.size()));
    words.push_back(uint32_t(list.size()));
    words.insert(words.end(), list.begin(), list.end());
  }
  for (size_t f = 0; f < functions.size(); f += kFunctionWords)
    functions[f + kParameterNames] = offsets[functions[f + kParameterNames]];
  for (size_t i = 0; i < code.size(); i += kInstructionWords) {
    uint32_t op = code[i] & 255;
    if (op == kCall || op == kFilter || op == kTest || op == kUnknownFilter || op == kUnknownTest)
      code[i + 2] = offsets[code[i + 2]];
  }
  return words;
}

Words textsSection(const std::vector<std::string> &texts) {
  Words words = {uint32_t(texts.size())};
  std::string bytes;
  for (const std::string &text : texts) {
    words.push_back(uint32_t(bytes.size()));
    bytes += text;
  }
  words.push_back(uint32_t(bytes.size()));
  tok::appendBytes(words, bytes);
  return words;
}

} // namespace

std::vector<TemplateMistake> compileTemplates(const std::vector<TemplateText> &templates,
                                              const std::vector<std::pair<std::string, std::string>> &variables,
                                              std::string &blob) {
  std::vector<TemplateMistake> mistakes;
  std::vector<Words> sections(kSections);
  Parsed parsed;
  std::string all;
  for (size_t which = 0; which < templates.size(); ++which) {
    parsed.body.clear();
    parsed.mistakes.clear();
    std::string source = normalized(templates[which].text);
    uint32_t c;
    for (size_t at = 0; at < source.size();)
      if (!tok::nextCharacter(source, at, c)) {
        parsed.mistakes.push_back({{uint32_t(1 + std::count(source.begin(), source.begin() + long(at), '\n')), 1},
                                   "the template is no UTF-8"});
        break;
      }
    std::vector<Function> functions;
    if (parsed.mistakes.empty())
      parse(source, parsed);
    if (parsed.mistakes.empty())
      functions = writeCode(parsed);
    for (const Mistake &m : parsed.mistakes)
      mistakes.push_back({which, m.place.line, m.place.column, m.message});
    if (!mistakes.empty())
      continue;
    auto first = uint32_t(sections[kFunctions].size() / kFunctionWords);
    sections[kTemplates].insert(sections[kTemplates].end(), {parsed.texts.intern(templates[which].name), first});
    appendFunctions(functions, first, parsed, sections[kFunctions], sections[kCode]);
    all += source;
  }
  if (!mistakes.empty())
    return mistakes;
  for (const auto &[name, value] : variables) {
    uint32_t named = parsed.texts.intern(name);
    sections[kVariables].insert(sections[kVariables].end(), {named, parsed.texts.intern(value)});
  }
  sections[kNames] = namesSection(parsed, sections[kFunctions], sections[kCode]);
  sections[kTexts] = textsSection(parsed.texts.list());
  for (uint64_t bits : parsed.numbers)
    sections[kNumbers].insert(sections[kNumbers].end(), {uint32_t(bits), uint32_t(bits >> 32)});
  sections[kHidden] = hiddenCharacters();
  // Tables about case only where a word of the template asks for them.
  auto mentions = [&](std::initializer_list<const char *> words) {
    return std::any_of(words.begin(), words.end(),
                       [&](const char *word) { return all.find(word) != std::string::npos; });
  };
  bool title = mentions({"title", "capitalize"});
  if (mentions({"upper"}) || title)
    sections[kUpper] = upperCase();
  if (mentions({"lower", "sort", "unique", "min", "max"}) || title)
    sections[kLower] = lowerCase();
  if (title)
    sections[kTitle] = titleCase();
  if (mentions({"upper", "lower", "isal", "isdigit"}) || title)
    sections[kKinds] = characterKinds();

  Words head = {kMagic, kVersion, 0}, body;
  for (const Words &section : sections)
    head[2] += !section.empty();
  auto start = uint32_t(head.size()) + 3 * head[2];
  for (uint32_t kind = 0; kind < sections.size(); ++kind) {
    const Words &section = sections[kind];
    if (section.empty())
      continue;
    head.insert(head.end(), {kind, uint32_t(start + body.size()) * 4, uint32_t(section.size())});
    body.insert(body.end(), section.begin(), section.end());
  }
  blob.assign(reinterpret_cast<const char *>(head.data()), head.size() * 4);
  blob.append(reinterpret_cast<const char *>(body.data()), body.size() * 4);
  return mistakes;
}

} // namespace heddle
