// The JSON parser with places: a handler of nlohmann's SAX events, which have no positions. The handler keeps a cursor
// of its own in the text: events come in the order of tokens, so from the end of one token the start of the next is
// found by skipping blanks, commas, colons and comments. (The lexer's position is one late after a number, since it
// reads one character past it.)
#include "compiler/Import/Json/LocatedJson.h"

#include "compiler/Import/Json/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <nlohmann/json.hpp>

using namespace heddle;
using llvm::StringRef;
using llvm::Twine;

namespace {

/// Builds the tree of values. A handler returns false to end the parse, after it has reported why.
class JsonReader {
public:
  // The names and signatures that nlohmann's SAX parser calls.
  using json = nlohmann::json;
  using number_integer_t = json::number_integer_t;
  using number_unsigned_t = json::number_unsigned_t;
  using number_float_t = json::number_float_t;
  using string_t = json::string_t;
  using binary_t = json::binary_t;

  JsonReader(const SourceFile &file, DiagnosticSink &sink, JsonLimits limits)
      : file(file), sink(sink), limits(limits), text(file.text()) {
    if (text.starts_with("\xEF\xBB\xBF"))
      at = 3;
  }

  bool null() { return scalar(JsonValue::Kind::Null, word()); }
  bool boolean(bool b) {
    Loc loc = word();
    return scalar(JsonValue::Kind::Bool, loc, [&](JsonValue &v) { v.boolean = b; });
  }
  bool number_integer(number_integer_t i) {
    Loc loc = word();
    return scalar(JsonValue::Kind::Integer, loc, [&](JsonValue &v) { v.integer = i; });
  }
  bool number_unsigned(number_unsigned_t u) {
    Loc loc = word();
    if (u <= static_cast<uint64_t>(INT64_MAX))
      return scalar(JsonValue::Kind::Integer, loc, [&](JsonValue &v) { v.integer = static_cast<int64_t>(u); });
    return scalar(JsonValue::Kind::HugeInteger, loc, [&](JsonValue &v) { v.string = std::to_string(u); });
  }
  bool number_float(number_float_t r, const string_t &spelling) {
    Loc loc = word();
    if (StringRef(spelling).find_first_of(".eE") == StringRef::npos)
      return scalar(JsonValue::Kind::HugeInteger, loc, [&](JsonValue &v) { v.string = spelling; });
    return scalar(JsonValue::Kind::Real, loc, [&](JsonValue &v) { v.real = r; });
  }
  bool string(string_t &s) {
    Loc loc = quotedToken();
    return scalar(JsonValue::Kind::String, loc, [&](JsonValue &v) { v.string = std::move(s); });
  }
  bool binary(binary_t &) { return false; }

  bool start_object(std::size_t) { return open(JsonValue::Kind::Object); }
  bool start_array(std::size_t) { return open(JsonValue::Kind::Array); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }

  /// A key opens a member, whose value the next event fills.
  bool key(string_t &k) {
    Loc loc = quotedToken();
    if (!keys.back().insert(k).second) {
      sink.error(Error::KeyTwice, loc, "", "the key " + quote(k) + " occurs twice in one object")
          .note(firstPlace(k), "first given here");
      return false;
    }
    stack.back()->members.push_back({std::move(k), loc, JsonValue()});
    return true;
  }

  template <class Why> bool parse_error(std::size_t position, const std::string &, const Why &error) {
    StringRef why = error.what();
    // "[json.exception...] parse error at line 1, column 2: syntax error while parsing
    //  value - invalid literal; last read: 'x'": only the part that says what is wrong.
    if (size_t dash = why.find(" - "); dash != StringRef::npos)
      why = why.drop_front(dash + 3);
    else if (size_t close = why.find("] "); close != StringRef::npos)
      why = why.drop_front(close + 2);
    // Tokens that were never delivered (commas, brackets): the lexer's position is all
    // there is. It has read the offending character.
    size_t where = std::min(position ? position - 1 : 0, text.size());
    sink.error(Error::NotJson, {&file, where}, "", "not JSON: " + escaped(why, 400));
    return false;
  }

  /// What was read.
  JsonValue root;

private:
  /// Moves the cursor to the next token.
  void skipBlanks() {
    while (at < text.size()) {
      char c = text[at];
      if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ',' || c == ':') {
        ++at;
      } else if (text.substr(at).starts_with("//")) {
        at = std::min(text.find('\n', at), text.size());
      } else if (text.substr(at).starts_with("/*")) {
        size_t end = text.find("*/", at + 2);
        at = end == StringRef::npos ? text.size() : end + 2;
      } else {
        return;
      }
    }
  }
  Loc word() { // a number or true, false, null
    skipBlanks();
    Loc loc{&file, at};
    while (at < text.size() && (llvm::isAlnum(text[at]) || StringRef("+-.").contains(text[at])))
      ++at;
    return loc;
  }
  Loc quotedToken() {
    skipBlanks();
    Loc loc{&file, at};
    for (++at; at < text.size() && text[at] != '"'; ++at)
      if (text[at] == '\\')
        ++at;
    ++at;
    return loc;
  }
  Loc bracket() {
    skipBlanks();
    return {&file, at++};
  }

  Loc firstPlace(StringRef key) {
    for (const JsonMember &m : stack.back()->members)
      if (m.key == key)
        return m.keyLoc;
    return {};
  }

  /// The slot that the next value fills. Array elements move when the vector grows, so
  /// only the open containers' own addresses are kept, and those cannot grow meanwhile.
  JsonValue &slot() {
    if (stack.empty())
      return root;
    JsonValue &top = *stack.back();
    if (top.kind == JsonValue::Kind::Object)
      return top.members.back().value;
    return top.items.emplace_back();
  }
  /// One value more, at `loc`; false with an error where there are too many.
  bool counted(Loc loc) {
    if (++values <= limits.values)
      return true;
    sink.error(Error::TooLarge, loc, "",
               "the file has more than " + Twine(limits.values) +
                   " values, which are kept with their places; large tables belong into safetensors");
    return false;
  }
  template <class Fill> bool scalar(JsonValue::Kind kind, Loc loc, Fill fill) {
    if (!counted(loc))
      return false;
    JsonValue &v = slot();
    v.kind = kind;
    v.loc = loc;
    fill(v);
    return true;
  }
  bool scalar(JsonValue::Kind kind, Loc loc) {
    return scalar(kind, loc, [](JsonValue &) {});
  }
  bool open(JsonValue::Kind kind) {
    Loc loc = bracket();
    if (stack.size() >= limits.depth) {
      sink.error(Error::NotJson, loc, "", "objects and arrays are nested more than " + Twine(limits.depth) + " deep");
      return false;
    }
    if (!counted(loc))
      return false;
    JsonValue &v = slot();
    v.kind = kind;
    v.loc = loc;
    stack.push_back(&v);
    keys.emplace_back();
    return true;
  }
  bool close() {
    bracket();
    stack.pop_back();
    keys.pop_back();
    return true;
  }

  const SourceFile &file;
  DiagnosticSink &sink;
  JsonLimits limits;
  StringRef text;
  size_t at = 0, values = 0;
  // Containers that are open, outermost first, and the keys that each has so far.
  std::vector<JsonValue *> stack;
  std::vector<llvm::StringSet<>> keys;
};

} // namespace

std::optional<JsonValue> heddle::parseJson(const SourceFile &file, DiagnosticSink &sink, JsonLimits limits) {
  StringRef text = file.text();
  if (text.size() > limits.bytes) {
    sink.errorInFile(Error::TooLarge, file.name(), "",
                     "the file has " + Twine(text.size()) + " bytes; at most " + Twine(limits.bytes) + " are read");
    return std::nullopt;
  }
  size_t before = sink.size();
  JsonReader reader(file, sink, limits);
  bool ok = nlohmann::json::sax_parse(text.begin(), text.end(), &reader, nlohmann::json::input_format_t::json,
                                      /*strict=*/true, /*ignore_comments=*/true);
  if (!ok) {
    if (sink.size() == before)
      sink.error(Error::NotJson, {&file, 0}, "", "not JSON");
    return std::nullopt;
  }
  return std::move(reader.root);
}

const JsonMember *JsonValue::findMember(StringRef key) const {
  for (const JsonMember &m : members)
    if (m.key == key)
      return &m;
  return nullptr;
}

const JsonValue *JsonValue::find(StringRef key) const {
  const JsonMember *m = findMember(key);
  return m ? &m->value : nullptr;
}

/// Recursive; values must not move afterwards, since children point to their parents.
void JsonValue::link() {
  for (size_t i = 0; i < items.size(); ++i) {
    items[i].parent = this;
    items[i].index = i;
    items[i].link();
  }
  for (size_t i = 0; i < members.size(); ++i) {
    members[i].value.parent = this;
    members[i].value.index = i;
    members[i].value.link();
  }
}

std::string JsonValue::path() const {
  std::string out;
  for (const JsonValue *v = this; v->parent; v = v->parent)
    out = (v->parent->isArray() ? "[" + std::to_string(v->index) + "]" : "." + v->parent->members[v->index].key) + out;
  return "$" + out;
}

std::string JsonValue::text() const {
  std::string out;
  llvm::raw_string_ostream os(out);
  switch (kind) {
  case Kind::Null: return "null";
  case Kind::Bool: return boolean ? "true" : "false";
  case Kind::Integer: return std::to_string(integer);
  case Kind::HugeInteger: return string;
  case Kind::Real: os << llvm::format("%g", real); return out;
  case Kind::String: return "\"" + escaped(string) + "\"";
  case Kind::Array:
    for (const JsonValue &v : items)
      out += (out.empty() ? "" : ", ") + v.text();
    return "[" + out + "]";
  case Kind::Object:
    for (const JsonMember &m : members)
      out += (out.empty() ? "\"" : ", \"") + escaped(m.key) + "\": " + m.value.text();
    return "{" + out + "}";
  }
  return out;
}

StringRef heddle::describe(JsonValue::Kind kind) {
  switch (kind) {
  case JsonValue::Kind::Null: return "null";
  case JsonValue::Kind::Bool: return "true or false";
  case JsonValue::Kind::Integer:
  case JsonValue::Kind::HugeInteger: return "an integer";
  case JsonValue::Kind::Real: return "a real number";
  case JsonValue::Kind::String: return "a string";
  case JsonValue::Kind::Array: return "a list";
  case JsonValue::Kind::Object: return "an object";
  }
  return "a value";
}

bool heddle::equalJson(const JsonValue &a, const JsonValue &b) {
  using K = JsonValue::Kind;
  auto number = [](const JsonValue &v) { return v.kind == K::Integer ? static_cast<double>(v.integer) : v.real; };
  auto isNumber = [](const JsonValue &v) { return v.kind == K::Integer || v.kind == K::Real; };
  if (a.kind == K::Integer && b.kind == K::Integer)
    return a.integer == b.integer;
  if (isNumber(a) && isNumber(b))
    return number(a) == number(b);
  if (a.kind != b.kind)
    return false;
  switch (a.kind) {
  case K::Bool: return a.boolean == b.boolean;
  case K::String:
  case K::HugeInteger: return a.string == b.string;
  case K::Array:
    return a.items.size() == b.items.size() && std::equal(a.items.begin(), a.items.end(), b.items.begin(), equalJson);
  case K::Object:
    if (a.members.size() != b.members.size())
      return false;
    for (const JsonMember &m : a.members) {
      const JsonValue *other = b.find(m.key);
      if (!other || !equalJson(m.value, *other))
        return false;
    }
    return true;
  default: return true;
  }
}
