//===- Card.cpp - The description of a compiled model ---------------------===//
//
// One line, one fact. The parser takes a line apart into words and hands it to
// the handler of its first word; forms are parsed when their entry's dims are
// known, which the order of lines guarantees.
//
//===----------------------------------------------------------------------===//
#include "runtime/Card.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace heddle::rt {

const char *typeName(Type type) {
  return type == Type::F32 ? "f32" : type == Type::I64 ? "i64" : "bool";
}

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

std::optional<int64_t> Card::bound(std::string_view dim) const {
  for (const auto &[name, bound] : dims)
    if (name == dim)
      return bound;
  return std::nullopt;
}

namespace {

bool parseInteger(std::string_view word, int64_t &value) {
  std::string copy(word);
  char *end = nullptr;
  errno = 0;
  value = strtoll(copy.c_str(), &end, 10);
  return !copy.empty() && *end == 0 && errno == 0;
}

class CardParser {
public:
  CardParser(const char *text, Card &card) : rest(text), card(card) {}
  Status parse();

private:
  Status error(const std::string &what) {
    return internalError(
        format("the card of this program, line %d: %s", line, what.c_str()));
  }
  std::string_view word() {
    while (!tail.empty() && tail.front() == ' ')
      tail.remove_prefix(1);
    size_t n = std::min(tail.find(' '), tail.size());
    std::string_view result = tail.substr(0, n);
    tail.remove_prefix(n);
    return result;
  }
  std::string_view remaining() {
    while (!tail.empty() && tail.front() == ' ')
      tail.remove_prefix(1);
    while (!tail.empty() && tail.back() == ' ')
      tail.remove_suffix(1);
    std::string_view result = tail;
    tail = {};
    return result;
  }
  bool nextLine();
  Status statement(std::string_view key);
  Status inEntry(std::string_view key);
  Status dimLine();
  Status generateLine();
  Status value(bool input);
  Status form(std::string_view text, Form &form, const Entry &entry);
  Status finish();

  std::string_view rest, tail;
  Card &card;
  int line = 0;
  bool sawDims = false;
};

bool CardParser::nextLine() {
  if (rest.empty())
    return false;
  size_t n = rest.find('\n');
  tail = rest.substr(0, n);
  rest.remove_prefix(n == std::string_view::npos ? rest.size() : n + 1);
  ++line;
  for (size_t i = 0; i < tail.size(); ++i)
    if (tail[i] == '#' && (i == 0 || tail[i - 1] == ' ')) {
      tail = tail.substr(0, i);
      break;
    }
  return true;
}

Status CardParser::form(std::string_view text, Form &form, const Entry &entry) {
  Status status = Form::parse(text, entry.dims, form);
  return status.ok() ? Status() : error(status.message());
}

Status CardParser::dimLine() {
  std::string name(word());
  std::string_view bound = word();
  int64_t value = 0;
  if (name.empty() || bound.empty())
    return error("`dim` takes a name and a bound or -");
  for (const auto &dim : card.dims)
    if (dim.first == name)
      return error("dim " + quote(name) + " appears twice");
  if (bound == "-") {
    card.dims.push_back({name, std::nullopt});
    return {};
  }
  if (!parseInteger(bound, value) || value < 0)
    return error("the bound of " + quote(name) + " is no number");
  card.dims.push_back({name, value});
  return {};
}

Status CardParser::generateLine() {
  Roles &roles = card.roles;
  roles.present = true;
  std::string_view role = word();
  struct {
    const char *word;
    std::string *place;
  } names[] = {{"tokens", &roles.tokens},
               {"logits", &roles.logits},
               {"mask", &roles.mask},
               {"positions", &roles.positions},
               {"source", &roles.source}};
  for (auto &name : names)
    if (role == name.word) {
      *name.place = std::string(word());
      return name.place->empty() ? error("a role without a name") : Status();
    }
  if (role == "extend") {
    std::string name(word()), number(word());
    char *end = nullptr;
    double value = strtod(number.c_str(), &end);
    if (name.empty() || number.empty() || *end)
      return error("`generate extend` takes a name and a number");
    roles.extend[name] = value;
    return {};
  }
  int64_t id = 0;
  std::string_view text = word();
  if (role == "eos") {
    for (; !text.empty(); text = word()) {
      if (!parseInteger(text, id))
        return error("`generate eos` takes ids");
      roles.eos.push_back(id);
    }
    return {};
  }
  if (!parseInteger(text, id))
    return error("`generate " + std::string(role) + "` takes an id");
  if (role == "start")
    roles.start = id;
  else if (role == "pad")
    roles.pad = id;
  else
    return error("unknown role " + quote(role));
  return {};
}

Status CardParser::value(bool input) {
  Entry &entry = card.entries.back();
  Value value;
  value.name = std::string(word());
  std::string_view type = word();
  if (type == "f32")
    value.type = Type::F32;
  else if (type == "i64")
    value.type = Type::I64;
  else if (type == "bool" || type == "i1")
    value.type = Type::Bool;
  else
    return error("unknown type " + quote(type));
  std::string_view axes = remaining();
  size_t close = axes.rfind(']');
  if (value.name.empty() || axes.empty() || axes.front() != '[' ||
      close == std::string_view::npos)
    return error("expected NAME TYPE [AXES]");
  std::string_view flags = axes.substr(close + 1);
  axes = axes.substr(1, close - 1);
  // Axes are separated by commas outside of parentheses.
  int nesting = 0;
  for (size_t start = 0, i = 0; !axes.empty() && i <= axes.size(); ++i) {
    char c = i < axes.size() ? axes[i] : ',';
    nesting += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c != ',' || (nesting != 0 && i < axes.size()))
      continue;
    std::string_view axis = axes.substr(start, i - start);
    while (!axis.empty() && axis.front() == ' ')
      axis.remove_prefix(1);
    while (!axis.empty() && axis.back() == ' ')
      axis.remove_suffix(1);
    value.axes.emplace_back();
    HEDDLE_TRY(form(axis, value.axes.back(), entry));
    start = i + 1;
  }
  if (value.axes.size() > 16)
    return error("more than 16 axes");
  for (tail = flags;;) {
    std::string_view flag = word();
    if (flag.empty())
      break;
    if (input && flag == "default")
      value.hasDefault = true;
    else if (!input && flag == "optional-all")
      value.optionalAll = true;
    else
      return error("unknown flag " + quote(flag));
  }
  for (const Value &other : input ? entry.inputs : entry.outputs)
    if (other.name == value.name)
      return error(quote(value.name) + " appears twice");
  (input ? entry.inputs : entry.outputs).push_back(std::move(value));
  return {};
}

Status CardParser::inEntry(std::string_view key) {
  Entry &entry = card.entries.back();
  if (key == "dims") {
    if (sawDims)
      return error("`dims` appears twice");
    sawDims = true;
    for (std::string_view dim = word(); !dim.empty(); dim = word())
      entry.dims.push_back(std::string(dim));
    return entry.dims.size() > 64 ? error("more than 64 dims") : Status();
  }
  if (!sawDims)
    return error("an entry begins with `dims`");
  if (key == "input" || key == "output")
    return value(key == "input");
  if (key == "state") {
    State state;
    state.name = std::string(word());
    HEDDLE_TRY(form(remaining(), state.bytes, entry));
    entry.states.push_back(std::move(state));
    return {};
  }
  if (key == "flops") {
    entry.hasFlops = true;
    return form(remaining(), entry.flops, entry);
  }
  if (key == "arena") {
    // Scratch memory may also grow with the team: the dim `threads` comes last.
    entry.hasArena = true;
    Entry widened;
    widened.dims = entry.dims;
    widened.dims.push_back("threads");
    return form(remaining(), entry.arena, widened);
  }
  return error("unknown word " + quote(key) + " in an entry");
}

Status CardParser::statement(std::string_view key) {
  if (key == "entry") {
    if (!card.entries.empty() && !sawDims)
      return error("the entry above has no `dims`");
    sawDims = false;
    Entry entry;
    entry.name = std::string(word());
    entry.index = int(card.entries.size());
    if (entry.name.empty() || card.entry(entry.name))
      return error("an entry needs a name of its own");
    card.entries.push_back(std::move(entry));
    return {};
  }
  if (key == "name")
    card.name = std::string(remaining());
  else if (key == "target")
    card.target = std::string(remaining());
  else if (key == "masked_rows")
    card.maskedRows = std::string(remaining());
  else if (key == "license")
    card.license = std::string(remaining());
  else if (key == "note")
    remaining();
  else if (key == "needs") {
    for (std::string_view feature = word(); !feature.empty(); feature = word())
      card.needs.push_back(std::string(feature));
  } else if (key == "dim") {
    return dimLine();
  } else if (key == "generate") {
    return generateLine();
  } else if (!card.entries.empty()) {
    return inEntry(key);
  } else {
    return error("unknown word " + quote(key));
  }
  return {};
}

Status CardParser::finish() {
  if (card.entries.empty() || !sawDims)
    return error("no entries");
  const Roles &roles = card.roles;
  if (roles.present && (roles.tokens.empty() || roles.logits.empty()))
    return error("`generate` without tokens and logits");
  if (roles.present && !card.entry("run") && !card.entry("step"))
    return error("`generate` without an entry run or step");
  return {};
}

Status CardParser::parse() {
  if (!nextLine() || word() != "heddle-card")
    return error("expected `heddle-card 1`");
  if (word() != "1")
    return error("made for another version of the runtime");
  while (nextLine()) {
    std::string_view key = word();
    if (key.empty())
      continue;
    if (key == "end")
      return finish();
    HEDDLE_TRY(statement(key));
    if (std::string_view more = word(); !more.empty())
      return error("unexpected " + quote(more));
  }
  return error("`end` is missing");
}

} // namespace

Status Card::parse(const char *text, Card &card) {
  card = Card();
  card.text = text;
  return CardParser(card.text.c_str(), card).parse();
}

} // namespace heddle::rt
