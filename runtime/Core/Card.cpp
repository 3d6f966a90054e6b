//===- Card.cpp - The description of a compiled model ---------------------===//
//
// What can be asked of a card that was read, and how the cards of two targets
// become one.
//
//===----------------------------------------------------------------------===//
#include "runtime/Core/Card.h"
#include "runtime/Core/CardParser.h"

#include <algorithm>

namespace heddle::rt {

const char *typeName(Type type) { return type == Type::F32 ? "f32" : type == Type::I64 ? "i64" : "bool"; }

std::string Value::typeText() const {
  std::string text = std::string(typeName(type)) + "[";
  for (size_t i = 0; i < axes.size(); ++i)
    text += (i ? ", " : "") + axes[i].text();
  return text + "]";
}

int Entry::dim(std::string_view name) const {
  auto found = std::find(dims.begin(), dims.end(), name);
  return found == dims.end() ? -1 : int(found - dims.begin());
}

const Value *Entry::input(std::string_view name) const {
  for (const Value &value : inputs)
    if (value.name == name)
      return &value;
  return nullptr;
}

int Entry::outputIndex(std::string_view name) const {
  for (size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i].name == name)
      return int(i);
  return -1;
}

const Entry *Card::entry(std::string_view name) const {
  for (const Entry &entry : entries)
    if (entry.name == name)
      return &entry;
  return nullptr;
}

std::string Card::chatTrait(std::string_view trait) const {
  for (const auto &[name, value] : chat)
    if (name == trait)
      return value;
  return "";
}

std::optional<int64_t> Card::bound(std::string_view dim) const {
  for (const auto &[name, bound] : dims)
    if (name == dim)
      return bound;
  return std::nullopt;
}

double Settings::number(const Setting &setting, double otherwise) const {
  auto found = values.find(setting.name);
  return found == values.end() || found->second.empty() ? otherwise : found->second[0];
}

std::vector<int64_t> Settings::integers(const Setting &setting) const {
  auto found = values.find(setting.name);
  return found == values.end() ? std::vector<int64_t>()
                               : std::vector<int64_t>(found->second.begin(), found->second.end());
}

/// Reads one card; `behind` is what the text has after it, within `card.text`.
static Status parseOne(const char *text, Card &card, std::string_view &behind) {
  card = Card();
  card.text = text;
  CardParser parser(card.text.c_str(), card);
  HEDDLE_TRY(parser.parse());
  behind = parser.unread();
  return {};
}

Status Card::parse(const char *text, Card &card) {
  std::string_view behind;
  return parseOne(text, card, behind);
}

std::string VectorRules::poolingText() const {
  std::string text;
  for (const std::string &kind : pooling)
    text += (text.empty() ? "" : "+") + kind;
  return text;
}

std::vector<std::string> Card::texts() const {
  std::vector<std::string> all = {name, license};
  all.insert(all.end(), adapters.begin(), adapters.end());
  all.insert(all.end(), labels.begin(), labels.end());
  for (const auto &[trait, said] : chat)
    all.push_back(said);
  for (const auto &[name, prompt] : vectors.prompts)
    all.insert(all.end(), {name, prompt});
  all.insert(all.end(), lookups.begin(), lookups.end());
  all.insert(all.end(), roles.stops.begin(), roles.stops.end());
  for (const Entry &entry : entries) {
    all.push_back(entry.name);
    for (const std::vector<Value> *values : {&entry.inputs, &entry.outputs})
      for (const Value &value : *values)
        all.push_back(value.name);
  }
  return all;
}

/// The same entries with the same inputs and outputs.
static bool sameModel(const Card &a, const Card &b) {
  auto same = [](const Entry &x, const Entry &y) {
    return x.name == y.name && x.dims == y.dims && x.inputs.size() == y.inputs.size() &&
           x.outputs.size() == y.outputs.size();
  };
  return std::equal(a.entries.begin(), a.entries.end(), b.entries.begin(), b.entries.end(), same);
}

Status Card::parse(const char *text, Card &card, std::optional<Card> &device) {
  std::string_view behind;
  HEDDLE_TRY(parseOne(text, card, behind));
  if (behind.empty())
    return {};
  HEDDLE_TRY(parseOne(behind.data(), device.emplace(), behind));
  if (!behind.empty())
    return internalError("the card of this program goes on after its end");
  return sameModel(card, *device) ? Status() : internalError("the cards of two targets differ in their model");
}

void Card::adopt(const Card &other) {
  target = other.target;
  needs = other.needs;
  for (size_t i = 0; i < entries.size(); ++i) {
    Entry &mine = entries[i];
    const Entry &its = other.entries[i];
    mine.states = its.states;
    mine.requirements = its.requirements;
    mine.arena = its.arena;
    mine.longestPiece = its.longestPiece;
    mine.ring = its.ring;
    mine.launches = its.launches;
    mine.lengths = its.lengths;
  }
  devices = other.devices;
  regroups = other.regroups;
  lookups = other.lookups;
}

} // namespace heddle::rt
