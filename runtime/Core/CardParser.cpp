//===- CardParser.cpp - What each line of a card says ---------------------===//
//
// The lines of the whole card, and the way through all of them. Those of an
// entry are read in CardEntries.cpp.
//
//===----------------------------------------------------------------------===//
#include "runtime/Core/CardParser.h"

#include <algorithm>

namespace heddle::rt {

enum class Section : uint8_t { Model, Settings, Entry, Memory, Launch };

const CardParser::Row CardParser::kLines[] = {
#define HEDDLE_CARD_LINE(section, Name, word, grammar, ...)                                                            \
  {word, grammar, &CardParser::read##Name, Section::section >= Section::Entry},
#include "heddle/card.def"
};
const CardParser::Row CardParser::kRoles[] = {
#define HEDDLE_CARD_ROLE(Name, word, grammar, ...) {word, grammar, &CardParser::readRole##Name, false},
#include "heddle/card.def"
};

//===-- the model --------------------------------------------------------------===//

bool CardParser::readName() { return text(card.name); }
bool CardParser::readTarget() { return text(card.target); }
bool CardParser::readMaskedRows() { return text(card.maskedRows); }
bool CardParser::readLicense() { return text(card.license); }
bool CardParser::readAdapter() { return text(card.adapters.emplace_back()); }
bool CardParser::readKind() { return text(card.kind); }
bool CardParser::readLabel() { return text(card.labels.emplace_back()); }
bool CardParser::readLookup() { return text(card.lookups.emplace_back()); }
bool CardParser::readNeeds() { return texts(card.needs); }
bool CardParser::readSlots() { return is("no") && text(card.whyNoSlots); }
bool CardParser::readParameters() { return integer(card.parameters, 0); }

bool CardParser::readNote() {
  remaining();
  return true;
}

bool CardParser::readDevice() {
  return card.devices.empty() ? texts(card.devices) && !card.devices.empty() : fail("`device` appears twice");
}

bool CardParser::readChat() {
  auto &[trait, said] = card.chat.emplace_back();
  return text(trait) && text(said);
}

bool CardParser::readVector() {
  VectorRules &rules = card.vectors;
  std::string_view trait = word();
  auto flag = [&](bool &to) {
    std::string_view said = word();
    to = said == "yes";
    return to || said == "no";
  };
  if (trait == "prompt") {
    auto &[name, prompt] = rules.prompts.emplace_back();
    return text(name) && text(prompt);
  }
  return trait == "pooling"          ? texts(rules.pooling) && !rules.pooling.empty()
         : trait == "default_prompt" ? text(rules.defaultPrompt)
         : trait == "similarity"     ? text(rules.similarity)
         : trait == "length"         ? integer(rules.length, 1)
         : trait == "lower"          ? flag(rules.lower)
         : trait == "include_prompt" ? flag(rules.includePrompt)
         : trait == "normalize"      ? flag(rules.normalize)
                                     : fail("unknown trait " + quote(trait));
}

bool CardParser::readDtype() {
  auto isMath = [](std::string_view text) { return text == "wide" || text == "dots"; };
  card.dtype = word();
  bool halves = card.dtype == "bf16";
  std::string_view math = halves ? word() : "wide", more = halves ? word() : "";
  std::string_view attention = more.empty() ? math : word();
  card.dots = math == "dots";
  card.attentionDots = attention == "dots";
  return (halves || card.dtype == "f32" || card.dtype == "f16") && isMath(math) && isMath(attention) &&
         (more.empty() || more == "attention");
}

bool CardParser::readCodes() {
  CodesLine &codes = card.codes.emplace_back();
  if (!integer(codes.bits, 1) || !integer(codes.group, 1) || !integer(codes.matrices, 1) || !integer(codes.bytes, 1))
    return false;
  std::string_view math = word();
  codes.dots = math != "wide";
  codes.rows = math == "dots32" ? 32 : 128;
  return math == "wide" || math == "dots" || math == "dots32";
}

bool CardParser::readRegroup() {
  constexpr int64_t kMost = int64_t(1) << 20;
  int64_t before = card.regroups.empty() ? 0 : card.regroups.back().offset + int64_t(card.regroups.back().bytes());
  Regroup &next = card.regroups.emplace_back();
  return integer(next.offset, before, int64_t(1) << 60) && next.offset % 16 == 0 && integer(next.depth, 4, kMost) &&
         next.depth % 4 == 0 && integer(next.panels, 1, kMost) && integer(next.width, 1, kMost / 4);
}

bool CardParser::readDim() {
  std::string name;
  if (!text(name))
    return false;
  for (const auto &dim : card.dims)
    if (dim.first == name)
      return fail("dim " + quote(name) + " appears twice");
  std::string_view before = line;
  int64_t bound = 0;
  if (is("-")) {
    card.dims.push_back({name, std::nullopt});
    return true;
  }
  line = before;
  card.dims.push_back({name, 0});
  bool good = integer(bound, 0);
  card.dims.back().second = bound;
  return good;
}

//===-- settings -----------------------------------------------------------------===//

bool CardParser::setting(const Setting *known, size_t count, Settings &settings) {
  std::string_view name = word();
  const Setting *end = known + count;
  const Setting *found = std::find_if(known, end, [&](const Setting &one) { return one.name == name; });
  if (found == end)
    return fail("unknown setting " + quote(name));
  auto [place, isNew] = settings.values.insert({std::string(name), {}});
  std::vector<double> &numbers = place->second;
  while (isNew && !line.empty()) {
    double &one = numbers.emplace_back();
    if (!number(one) || !found->takes(one))
      return fail(quote(name) + " takes other numbers");
  }
  return isNew && (found->isList() || numbers.size() == 1) ? true : fail(quote(name) + " is one number, said once");
}

bool CardParser::readPicture() { return setting(picture::kAll, std::size(picture::kAll), card.picture); }
bool CardParser::readSound() { return setting(sound::kAll, std::size(sound::kAll), card.sound); }

bool CardParser::readGenerate() {
  card.roles.present = true;
  std::string_view all = line, name = word();
  for (const Row &row : kRoles)
    if (row.word == name) {
      role = &row;
      return (this->*row.read)();
    }
  line = all;
  return setting(generation::kAll, std::size(generation::kAll), card.roles.settings);
}

bool CardParser::readRoleTokens() { return text(card.roles.tokens); }
bool CardParser::readRoleLogits() { return text(card.roles.logits); }
bool CardParser::readRoleMask() { return text(card.roles.mask); }
bool CardParser::readRolePositions() { return text(card.roles.positions); }
bool CardParser::readRoleSource() { return text(card.roles.source); }
bool CardParser::readRolePadding() { return card.roles.padsLeft = is("left"); }
bool CardParser::readRoleContext() { return integer(card.roles.context.emplace(), INT64_MIN); }
bool CardParser::readRoleStart() { return integer(card.roles.start.emplace(), INT64_MIN); }
bool CardParser::readRolePad() { return integer(card.roles.pad.emplace(), INT64_MIN); }
bool CardParser::readRoleStop() { return texts(card.roles.stops); }

bool CardParser::readRoleEos() {
  bool good = true;
  while (good && !line.empty())
    good = integer(card.roles.eos.emplace_back(), INT64_MIN);
  return good;
}

bool CardParser::readRoleExtend() {
  std::string name;
  return text(name) && number(card.roles.extend[name]);
}

bool CardParser::readRoleLanguage() {
  std::string name;
  return text(name) && integer(card.roles.languages[name], INT64_MIN);
}

bool CardParser::readRoleTask() {
  std::string name;
  return text(name) && integer(card.roles.tasks[name], INT64_MIN);
}

//===-- all lines ----------------------------------------------------------------===//

bool CardParser::statement(const Row &row) {
  if (row.ofEntry && card.entries.empty() && row.read != &CardParser::readEntry)
    return fail("`" + std::string(row.word) + "` in front of the first entry");
  if (row.ofEntry && !sawDims && row.read != &CardParser::readEntry && row.read != &CardParser::readDims)
    return fail("an entry begins with `dims`");
  if (!(this->*row.read)())
    return false;
  std::string_view more = word();
  return more.empty() || fail("unexpected " + quote(more));
}

bool CardParser::finish() {
  if (!closeEntry())
    return false;
  const Roles &roles = card.roles;
  if (roles.present && (roles.tokens.empty() || roles.logits.empty()))
    return fail("`generate` without tokens and logits");
  if (roles.present && !card.entry("run") && !card.entry("step"))
    return fail("`generate` without an entry run or step");
  return true;
}

Status CardParser::parse() {
  if (!nextLine() || !is("heddle-card") || !is("1"))
    return error("heddle-card 1");
  while (nextLine()) {
    std::string_view key = word();
    if (key.empty())
      continue;
    if (key == "end")
      return finish() ? Status() : error("end");
    const Row *row =
        std::find_if(std::begin(kLines), std::end(kLines), [&](const Row &one) { return one.word == key; });
    role = nullptr;
    bool good = row == std::end(kLines) ? fail("unknown word " + quote(key)) : statement(*row);
    if (!good && role)
      return error("generate " + std::string(role->word) + " " + role->grammar);
    if (!good)
      return error(std::string(key) + " " + (row == std::end(kLines) ? "" : row->grammar));
  }
  return error("end");
}

} // namespace heddle::rt
