//===- Card.cpp - The description of a compiled model ---------------------===//
//
// A line is a fact. The parser splits it into words and calls the handler of
// its first word. Forms are parsed at once, since an entry's `dims` stand above
// them.
//
//===----------------------------------------------------------------------===//
#include "runtime/Core/Card.h"
#include "heddle/card_words.h"
#include "runtime/Core/Dims.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>

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

double Settings::number(const char *name, double otherwise) const {
  auto found = values.find(name);
  return found == values.end() || found->second.empty() ? otherwise : found->second[0];
}

std::vector<int64_t> Settings::integers(const char *name) const {
  auto found = values.find(name);
  return found == values.end() ? std::vector<int64_t>()
                               : std::vector<int64_t>(found->second.begin(), found->second.end());
}

namespace {

/// The settings that a card may have of generation, of pictures and of sound.
const char *const kGeneration[] = {"do_sample",
                                   "temperature",
                                   "top_k",
                                   "top_p",
                                   "min_p",
                                   "repetition_penalty",
                                   "num_beams",
                                   "length_penalty",
                                   "early_stopping",
                                   "max_length",
                                   "max_new_tokens",
                                   "min_length",
                                   "min_new_tokens",
                                   "no_repeat_ngram_size",
                                   "encoder_no_repeat_ngram_size",
                                   "suppress_tokens",
                                   "bad_words_ids",
                                   "begin_suppress_tokens",
                                   "forced_bos_token_id",
                                   "forced_decoder_ids",
                                   "forced_eos_token_id",
                                   "no_timestamps_token_id",
                                   "bos_token_id",
                                   "renormalize_logits"};
const char *const kPicture[] = {"size",     "shortest", "longest", "multiple", "crop",
                                "resample", "rescale",  "mean",    "std",      "channels"};
const char *const kSound[] = {"rate",      "bins",   "n_fft", "hop",     "samples",   "raw",
                              "normalize", "stride", "fbank", "padding", "blank",     "hann",
                              "frames",    "mean",   "std",   "means",   "deviations"};

bool parseInteger(std::string_view word, int64_t &value) {
  std::string copy(word);
  char *end = nullptr;
  errno = 0;
  value = strtoll(copy.c_str(), &end, 10);
  return !copy.empty() && *end == 0 && errno == 0;
}

/// Reads the card line by line: the first word of a line says what the rest is. A line that is wrong is a mistake of
/// the compiler, since the card is linked into this program.
class CardParser {
public:
  CardParser(const char *text, Card &card) : rest(text), card(card) {}
  Status parse();

private:
  Status error(const std::string &what) {
    return internalError(format("the card of this program, line %d: %s", line, what.c_str()));
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
  /// Reads the text that the next word, or `spelled`, stands for.
  Status text(std::string &to) { return text(word(), to); }
  Status text(std::string_view spelled, std::string &to) {
    std::optional<std::string> found = textOfCardWord(spelled);
    if (spelled.empty() || !found)
      return error("expected a text written as one word, got " + quote(spelled));
    to = std::move(*found);
    return {};
  }
  /// Appends the texts that the rest of the line is.
  Status texts(std::vector<std::string> &to) {
    for (std::string_view one = word(); !one.empty(); one = word())
      HEDDLE_TRY(text(one, to.emplace_back()));
    return {};
  }
  bool nextLine();
  Status statement(std::string_view key);
  Status inEntry(std::string_view key);
  Status dimLine();
  Status generateLine();
  template <size_t N> Status setting(const char *const (&known)[N], std::string_view name, Settings &settings);
  Status value(bool input);
  Status pieces(State &state);
  Status form(std::string_view text, Form &form, const Entry &entry);
  Status launches();
  Status finish();

  std::string_view rest, tail, comment; ///< tail and comment: of this line
  Card &card;
  int line = 0;
  bool sawDims = false;
};

bool CardParser::nextLine() {
  if (rest.empty())
    return false;
  size_t n = rest.find('\n');
  tail = rest.substr(0, n);
  comment = {};
  rest.remove_prefix(n == std::string_view::npos ? rest.size() : n + 1);
  ++line;
  for (size_t i = 0; i < tail.size(); ++i)
    if (tail[i] == '#' && (i == 0 || tail[i - 1] == ' ')) {
      comment = tail.substr(std::min(i + 2, tail.size()));
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
  std::string name;
  HEDDLE_TRY(text(name));
  std::string_view bound = word();
  int64_t value = 0;
  if (bound.empty())
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

template <size_t N>
Status CardParser::setting(const char *const (&known)[N], std::string_view name, Settings &settings) {
  if (std::find(known, known + N, name) == known + N)
    return error("unknown setting " + quote(name));
  auto [place, isNew] = settings.values.insert({std::string(name), {}});
  if (!isNew)
    return error(quote(name) + " appears twice");
  for (std::string number(word()); !number.empty(); number = word()) {
    char *end = nullptr;
    place->second.push_back(strtod(number.c_str(), &end));
    if (*end || !std::isfinite(place->second.back()))
      return error(quote(number) + " is no number");
  }
  return {};
}

/// A line `generate`: a role with a name, ids, stop texts, languages, or a
/// setting of generation_config.json.
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
    if (role == name.word)
      return text(*name.place);
  if (role == "extend") {
    std::string name;
    HEDDLE_TRY(text(name));
    std::string number(word());
    char *end = nullptr;
    double value = strtod(number.c_str(), &end);
    if (number.empty() || *end)
      return error("`generate extend` takes a name and a number");
    roles.extend[name] = value;
    return {};
  }
  if (role == "padding") {
    roles.padsLeft = word() == "left";
    return roles.padsLeft ? Status() : error("`generate padding` takes left");
  }
  if (role == "stop")
    return texts(roles.stops);
  if (role == "language" || role == "task") {
    std::string name;
    HEDDLE_TRY(text(name));
    int64_t id = 0;
    if (!parseInteger(word(), id))
      return error("expected a name and an id");
    (role == "task" ? roles.tasks : roles.languages)[name] = id;
    return {};
  }
  if (role != "eos" && role != "start" && role != "pad" && role != "context")
    return setting(kGeneration, role, roles.settings);
  int64_t id = 0;
  std::string_view number = word();
  if (role == "eos") {
    for (; !number.empty(); number = word()) {
      if (!parseInteger(number, id))
        return error("`generate eos` takes ids");
      roles.eos.push_back(id);
    }
    return {};
  }
  if (!parseInteger(number, id))
    return error("`generate " + std::string(role) + "` takes " + (role == "context" ? "a number" : "an id"));
  (role == "start" ? roles.start : role == "pad" ? roles.pad : roles.context) = id;
  return {};
}

/// NAME TYPE [FORM, ...] FLAGS of a line `input` or `output`.
Status CardParser::value(bool input) {
  Entry &entry = card.entries.back();
  Value value;
  HEDDLE_TRY(text(value.name));
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
  if (axes.empty() || axes.front() != '[' || close == std::string_view::npos)
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

/// What stands behind `groups` in the line of a state, and is in `tail`.
Status CardParser::pieces(State &state) {
  if (!parseInteger(word(), state.groups) || state.groups < 1)
    return error("`groups` takes a number");
  std::string_view kind = word();
  if (kind == "rows") {
    for (int64_t *number : {&state.parts, &state.blockBytes, &state.blockPositions})
      if (!parseInteger(word(), *number) || *number < 1)
        return error("`rows` takes three numbers");
  } else if (kind == "ring") {
    if (!parseInteger(word(), state.ring) || state.ring < 1)
      return error("`ring` takes a number");
  } else if (!kind.empty()) {
    return error("unknown word " + quote(kind) + " behind `groups`");
  }
  return {};
}

/// A line inside of an entry; `dims` is the first, as the forms of all others
/// are over them.
Status CardParser::inEntry(std::string_view key) {
  Entry &entry = card.entries.back();
  if (key == "dims") {
    if (sawDims)
      return error("`dims` appears twice");
    sawDims = true;
    HEDDLE_TRY(texts(entry.dims));
    return entry.dims.size() > 64 ? error("more than 64 dims") : Status();
  }
  if (!sawDims)
    return error("an entry begins with `dims`");
  if (key == "input" || key == "output")
    return value(key == "input");
  if (key == "state") {
    State state;
    HEDDLE_TRY(text(state.name));
    std::string_view bytes = remaining();
    if (size_t at = bytes.find(" groups "); at != std::string_view::npos) {
      tail = bytes.substr(at + 8);
      bytes = bytes.substr(0, at);
      HEDDLE_TRY(pieces(state));
    }
    HEDDLE_TRY(form(bytes, state.bytes, entry));
    entry.states.push_back(std::move(state));
    return {};
  }
  if (key == "require") {
    Status status = Requirement::parse(remaining(), entry.dims, entry.requirements.emplace_back());
    const Requirement &need = entry.requirements.back();
    if (status.ok() && !need.without.empty() && (!entry.input(need.without) || !entry.input(need.without)->hasDefault))
      return error("`without` names an input that may be left out");
    return status.ok() ? Status() : error(status.message());
  }
  if (key == "pieces") {
    if (!parseInteger(word(), entry.longestPiece) || entry.longestPiece < 1 || word() != "beyond" ||
        !parseInteger(word(), entry.ring) || entry.ring < entry.longestPiece)
      return error("`pieces` takes a number, `beyond` and a number");
    return {};
  }
  if (key == "flops") {
    entry.hasFlops = true;
    return form(remaining(), entry.flops, entry);
  }
  if (key == "integers") {
    entry.hasIntegers = true;
    return form(remaining(), entry.integers, entry);
  }
  if (key == "reads") {
    entry.hasReads = true;
    return form(remaining(), entry.reads, entry);
  }
  if (key == "phase") {
    entry.phases.push_back({std::string(remaining()), ""});
    return comment.empty() ? Status() : text(comment, entry.phases.back().weight);
  }
  if (key == "arena") {
    // Scratch memory may also grow with the team: the dim `threads` comes last.
    entry.hasArena = true;
    Entry widened;
    widened.dims = entry.dims;
    widened.dims.emplace_back(kThreadsDim);
    return form(remaining(), entry.arena, widened);
  }
  if (key == "length") {
    entry.lengths.emplace_back();
    return form(remaining(), entry.lengths.back(), entry);
  }
  if (LaunchLine::isKey(key)) {
    if (card.devices.empty())
      return error("launches without a line `device`");
    Status status = LaunchLine::parse(key, remaining(), entry.dims, entry.launches);
    if (!status.ok())
      return error(status.message());
    return comment.empty() ? Status() : text(comment, entry.launches.back().place);
  }
  return error("unknown word " + quote(key) + " in an entry");
}

/// Any line, by its first word; words that are not of the whole card belong to
/// the entry above.
Status CardParser::statement(std::string_view key) {
  if (key == "entry") {
    if (!card.entries.empty() && !sawDims)
      return error("the entry above has no `dims`");
    if (!card.entries.empty())
      HEDDLE_TRY(launches());
    sawDims = false;
    Entry entry;
    HEDDLE_TRY(text(entry.name));
    entry.index = int(card.entries.size());
    if (card.entry(entry.name))
      return error("an entry needs a name of its own");
    card.entries.push_back(std::move(entry));
    return {};
  }
  if (key == "name") {
    return text(card.name);
  } else if (key == "target") {
    return text(card.target);
  } else if (key == "dtype") {
    card.dtype = std::string(word());
    std::string_view math = card.dtype == "bf16" ? word() : "wide";
    std::string_view more = card.dtype == "bf16" ? word() : "", attention = more.empty() ? math : word();
    auto isMath = [](std::string_view text) { return text == "wide" || text == "dots"; };
    if ((card.dtype != "f32" && card.dtype != "bf16" && card.dtype != "f16") || !isMath(math) || !isMath(attention) ||
        (!more.empty() && more != "attention"))
      return error("expected `dtype f32`, `dtype f16`, or `dtype bf16 wide` or `dtype bf16 dots`, and maybe "
                   "`attention wide` or `attention dots` behind it");
    card.dots = math == "dots";
    card.attentionDots = attention == "dots";
  } else if (key == "codes") {
    CodesLine codes;
    for (int64_t *number : {&codes.bits, &codes.group, &codes.matrices, &codes.bytes})
      if (!parseInteger(word(), *number) || *number < 1)
        return error("`codes` takes four numbers and dots or wide");
    std::string_view math = word();
    if (math != "wide" && math != "dots" && math != "dots32")
      return error("`codes` ends in dots, dots32 or wide");
    codes.dots = math != "wide";
    codes.rows = math == "dots32" ? 32 : 128;
    card.codes.push_back(codes);
  } else if (key == "masked_rows")
    return text(card.maskedRows);
  else if (key == "license")
    return text(card.license);
  else if (key == "note")
    remaining();
  else if (key == "chat") {
    auto &[trait, said] = card.chat.emplace_back();
    HEDDLE_TRY(text(trait));
    return text(said);
  } else if (key == "label")
    return text(card.labels.emplace_back());
  else if (key == "lookup")
    return text(card.lookups.emplace_back());
  else if (key == "slots") {
    if (word() != "no")
      return error("`slots` takes no and a reason");
    return text(card.whyNoSlots);
  } else if (key == "kind")
    return text(card.kind);
  else if (key == "pooling")
    return text(card.pooling);
  else if (key == "vectors_lack")
    return text(card.vectorsLack);
  else if (key == "parameters") {
    if (!parseInteger(word(), card.parameters) || card.parameters < 0)
      return error("`parameters` takes a number");
  } else if (key == "picture" || key == "sound") {
    std::string_view name = word();
    return key == "picture" ? setting(kPicture, name, card.picture) : setting(kSound, name, card.sound);
  } else if (key == "needs") {
    return texts(card.needs);
  } else if (key == "device") {
    if (!card.devices.empty())
      return error("`device` appears twice");
    HEDDLE_TRY(texts(card.devices));
    return card.devices.empty() ? error("`device` takes names of chips") : Status();
  } else if (key == "regroup") {
    Regroup next;
    uint64_t before = card.regroups.empty() ? 0 : uint64_t(card.regroups.back().offset) + card.regroups.back().bytes();
    constexpr int64_t kMost = int64_t(1) << 20;
    if (!parseInteger(word(), next.offset) || !parseInteger(word(), next.depth) || !parseInteger(word(), next.panels) ||
        !parseInteger(word(), next.width) || next.offset < 0 || next.offset % 16 || next.depth < 4 || next.depth % 4 ||
        next.depth > kMost || next.panels < 1 || next.panels > kMost || next.width < 1 || next.width > kMost / 4 ||
        uint64_t(next.offset) < before)
      return error("`regroup` takes where panels begin, their depth by 4, how many there are and their width, "
                   "ascending");
    card.regroups.push_back(next);
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

/// What can be said of the launches of an entry when it ends.
Status CardParser::launches() {
  Status status = LaunchLine::checkEnded(card.entries.back().launches);
  return status.ok() ? Status() : error(status.message());
}

Status CardParser::finish() {
  if (card.entries.empty() || !sawDims)
    return error("no entries");
  HEDDLE_TRY(launches());
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

std::vector<std::string> Card::texts() const {
  std::vector<std::string> all = {name, license};
  all.insert(all.end(), labels.begin(), labels.end());
  for (const auto &[trait, said] : chat)
    all.push_back(said);
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
  HEDDLE_TRY(parse(text, card));
  constexpr std::string_view kEnd = "\nend\n";
  auto behind = [&](const Card &read) {
    return std::string_view(read.text).substr(read.text.find(kEnd) + kEnd.size());
  };
  if (behind(card).empty())
    return {};
  HEDDLE_TRY(parse(behind(card).data(), device.emplace()));
  if (!behind(*device).empty())
    return internalError("the card of this program goes on behind its end");
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
