//===- Templates.cpp - The blob of the templates, checked -----------------===//

#include "runtime/Template/Machine.h"

#include <algorithm>

namespace heddle::rt::chat {

using namespace tpl;

std::string_view Templates::text(uint32_t i) const {
  const uint32_t *offsets = sections[kTexts].data + 1;
  return {bytes + offsets[i], offsets[i + 1] - offsets[i]};
}

bool Templates::checkInstruction(size_t i, size_t begin, size_t end) const {
  const uint32_t *word = sections[kCode].data + i * kInstructionWords;
  uint32_t op = word[0] & 255, a = word[1], b = word[2], c = word[3];
  auto isText = [&](uint32_t n) { return n < textCount; };
  auto isJump = [&](uint32_t n) { return n >= begin && n < end; };
  auto isNames = [&](uint32_t n) {
    const WordSpan &names = sections[kNames];
    if (n >= names.count || names.data[n] >= names.count - n)
      return false;
    return std::all_of(names.data + n + 1, names.data + n + 1 + names.data[n], isText);
  };
  switch (op) {
  case kText:
  case kConst: return isText(a);
  case kInteger:
  case kFloat: return a < sections[kNumbers].count / 2;
  case kJump:
  case kJumpIfFalse:
  case kAnd:
  case kOr:
  case kLoopNext:
  case kLoopEnd: return isJump(a);
  case kCompareChain: return isJump(b) && a <= kNotIn && isText(c);
  case kCompare: return a <= kNotIn && isText(c);
  case kDefault: return isJump(b) && isText(c);
  case kCall: return isNames(b) && isText(c);
  case kFilter: return isNames(b) && c < kFilters;
  case kTest: return isNames(b) && c < kTests;
  case kMacro: return a < sections[kFunctions].count / kFunctionWords;
  case kLoad:
  case kResolve:
  case kNotGiven:
  case kAttribute:
  case kItem:
  case kSetAttribute:
  case kUnknownFilter:
  case kUnknownTest:
  case kNegate:
  case kPlus:
  case kAdd:
  case kSubtract:
  case kMultiply:
  case kDivide:
  case kFloorDivide:
  case kModulo:
  case kPower: return isText(c);
  default: return op < kOps;
  }
}

const char *Templates::check() const {
  const WordSpan &offsets = sections[kTexts], &functions = sections[kFunctions], &templates = sections[kTemplates];
  for (uint32_t i = 0; i <= textCount; ++i)
    if (offsets.data[1 + i] > byteCount || (i && offsets.data[1 + i] < offsets.data[i]))
      return "a text is outside";
  if (functions.count % kFunctionWords || sections[kCode].count % kInstructionWords || sections[kNumbers].count % 2)
    return "a section is cut off";
  size_t instructions = sections[kCode].count / kInstructionWords;
  for (size_t f = 0; f < functions.count; f += kFunctionWords) {
    const uint32_t *words = functions.data + f;
    size_t begin = words[kBegin], end = words[kEnd], names = words[kParameterNames];
    if (begin >= end || end > instructions || words[kSlots] > (1u << 20) || words[kName] >= textCount)
      return "a function is outside";
    if ((sections[kCode].data[(end - 1) * kInstructionWords] & 255) != kReturn)
      return "a function without its end";
    const WordSpan &lists = sections[kNames];
    if (names >= lists.count || lists.data[names] != words[kParameters] || words[kParameters] >= lists.count - names ||
        words[kParameters] + 3 > words[kSlots] + 3)
      return "parameters lie outside";
    for (size_t i = begin; i < end; ++i)
      if (!checkInstruction(i, begin, end))
        return "an instruction names something outside";
  }
  if (templates.count < 2 || templates.count % 2)
    return "no template";
  for (size_t i = 0; i < templates.count; i += 2)
    if (templates.data[i] >= textCount || templates.data[i + 1] >= functions.count / kFunctionWords)
      return "a template is outside";
  const WordSpan &variables = sections[kVariables];
  for (size_t i = 0; i < variables.count; ++i)
    if (variables.data[i] >= textCount || variables.count % 2)
      return "a variable is outside";
  for (const WordSpan *map : {&tables.upper, &tables.lower, &tables.title}) {
    if (!map->count)
      continue;
    size_t entries = map->data[0], targets = map->count - 1;
    if (entries > targets / 3)
      return "a table of characters is cut off";
    targets -= entries * 3;
    for (size_t i = 0; i < entries; ++i) {
      const uint32_t *row = map->data + 1 + i * 3;
      if (row[1] > targets || row[2] > targets - row[1])
        return "a table of characters is cut off";
    }
  }
  return nullptr;
}

const char *Templates::open(const unsigned char *data, uint64_t size) {
  if (reinterpret_cast<uintptr_t>(data) % 4 || size < 12)
    return "too short or not aligned";
  const auto *words = reinterpret_cast<const uint32_t *>(data);
  if (words[0] != kMagic || words[1] != kVersion)
    return "made for another version of the runtime";
  uint64_t count = words[2];
  if (count > 64 || 12 + count * 12 > size)
    return "too many sections";
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t kind = words[3 + i * 3], offset = words[4 + i * 3], length = words[5 + i * 3];
    if (kind >= kSections || offset % 4 || offset > size || length > (size - offset) / 4)
      return "a section is outside";
    sections[kind] = {words + offset / 4, size_t(length)};
  }
  const WordSpan &texts = sections[kTexts];
  if (texts.count < 3 || texts.data[0] == 0 || texts.data[0] > texts.count - 2)
    return "no texts";
  textCount = texts.data[0];
  bytes = reinterpret_cast<const char *>(texts.data + textCount + 2);
  byteCount = (texts.count - textCount - 2) * 4;
  tables = {sections[kHidden], sections[kUpper], sections[kLower], sections[kTitle], sections[kKinds]};
  return check();
}

bool Templates::has(std::string_view name) const {
  const WordSpan &templates = sections[kTemplates];
  for (size_t i = 0; i < templates.count; i += 2)
    if (text(templates.data[i]) == name)
      return true;
  return false;
}

std::vector<std::string> Templates::names() const {
  std::vector<std::string> all;
  const WordSpan &templates = sections[kTemplates];
  for (size_t i = 0; i < templates.count; i += 2)
    all.emplace_back(text(templates.data[i]));
  return all;
}

std::string_view Templates::special(std::string_view name) const {
  const WordSpan &variables = sections[kVariables];
  for (size_t i = 0; i < variables.count; i += 2)
    if (text(variables.data[i]) == name)
      return text(variables.data[i + 1]);
  return {};
}

bool valueOf(Session &s, const json::Value &given, Value &out) {
  switch (given.kind) {
  case json::Value::Kind::Null: out = noneValue(); return true;
  case json::Value::Kind::Boolean: out = boolValue(given.boolean); return true;
  case json::Value::Kind::Integer: out = integerValue(given.integer); return true;
  case json::Value::Kind::Real: out = realValue(given.real); return true;
  case json::Value::Kind::Text: out = textValue(given.text); return true; // the JSON outlives the rendering
  case json::Value::Kind::Array: {
    if (!s.room(given.items.size() * sizeof(Value)))
      return false;
    auto *items = s.heap.make<Value>(given.items.size());
    for (size_t i = 0; i < given.items.size(); ++i)
      if (!valueOf(s, given.items[i], items[i]))
        return false;
    out = listValue(items, given.items.size());
    return true;
  }
  case json::Value::Kind::Object: {
    if (!s.room(given.members.size() * sizeof(DictEntry) * 2))
      return false;
    auto *dict = s.heap.make<Dict>();
    for (const auto &[name, member] : given.members) {
      Value value;
      if (!valueOf(s, member, value))
        return false;
      setKey(s.heap, *dict, textValue(name), value);
    }
    out = dictValue(dict);
    return true;
  }
  }
  return true;
}

} // namespace heddle::rt::chat
