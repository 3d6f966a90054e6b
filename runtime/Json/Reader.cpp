// One loop over the text; the open arrays and objects are on a stack of their own, each object with the names it has
// had.
#include "runtime/Json/Reader.h"
#include "heddle/utf8.h"
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <set>
#include <vector>

namespace heddle::json {
namespace {

class Reader {
public:
  Reader(std::string_view text, Sink &sink, const ReadLimits &limits) : text(text), sink(sink), limits(limits) {}

  Fault run();

private:
  struct Level {
    bool object;
    std::set<std::string, std::less<>> names;
  };
  /// What may come next.
  enum class Next : uint8_t { Value, ValueOrEnd, Name, NameOrEnd, CommaOrEnd, Nothing };

  void skipSpace() {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\n' || text[at] == '\r' || text[at] == '\t'))
      ++at;
  }
  bool fail(std::string why) { return fail(std::move(why), at); }
  bool fail(std::string why, size_t where) {
    fault.why = std::move(why);
    fault.byte = where;
    return false;
  }
  /// Says that the sink has ended the reading.
  bool given(bool good) { return good || fail("the reader was stopped"); }

  bool step();
  bool value();
  bool name();
  bool open(bool object);
  bool close();
  bool word(std::string_view expected);
  bool number();
  bool string(std::string &to);
  bool escape(std::string &to);
  bool hex4(unsigned &unit);
  void afterValue() { next = levels.empty() ? Next::Nothing : Next::CommaOrEnd; }

  std::string_view text;
  Sink &sink;
  ReadLimits limits;
  size_t at = 0, values = 0;
  Next next = Next::Value;
  std::vector<Level> levels;
  Fault fault;
};

Fault Reader::run() {
  for (;;) {
    skipSpace();
    if (next == Next::Nothing) {
      if (at != text.size())
        fail("something follows the value");
      break;
    }
    if (at == text.size()) {
      fail("the text ends too early");
      break;
    }
    if (!step())
      break;
  }
  if (!fault.ok())
    for (size_t i = 0; i < fault.byte && i < text.size(); ++i) {
      fault.column = text[i] == '\n' ? 1 : fault.column + 1;
      fault.line += text[i] == '\n';
    }
  return fault;
}

bool Reader::step() {
  char c = text[at];
  switch (next) {
  case Next::Value: return value();
  case Next::ValueOrEnd: return c == ']' ? close() : value();
  case Next::Name: return name();
  case Next::NameOrEnd: return c == '}' ? close() : name();
  case Next::CommaOrEnd:
    if (c == (levels.back().object ? '}' : ']'))
      return close();
    if (c != ',')
      return fail(levels.back().object ? "a comma or } is missing" : "a comma or ] is missing");
    ++at;
    next = levels.back().object ? Next::Name : Next::Value;
    return true;
  case Next::Nothing: break;
  }
  return false;
}

bool Reader::value() {
  if (++values > limits.values)
    return fail("there are more than " + std::to_string(limits.values) + " values; less at a time is taken");
  char c = text[at];
  if (c == '{' || c == '[')
    return open(c == '{');
  if (c == '"') {
    std::string content;
    if (!string(content))
      return false;
    afterValue();
    return given(sink.text(std::move(content)));
  }
  if (c == '-' || (c >= '0' && c <= '9'))
    return number();
  afterValue();
  if (c == 't')
    return word("true") && given(sink.boolean(true));
  if (c == 'f')
    return word("false") && given(sink.boolean(false));
  if (c == 'n')
    return word("null") && given(sink.null());
  return fail("a value is missing");
}

bool Reader::name() {
  if (text[at] != '"')
    return fail("a name in double quotes is missing");
  size_t where = at;
  std::string content;
  if (!string(content))
    return false;
  if (content.find('\0') != std::string::npos)
    return fail("a name holds a NUL", where);
  if (!levels.back().names.insert(content).second)
    return fail("an object has this name twice", where);
  skipSpace();
  if (at == text.size() || text[at] != ':')
    return fail("a colon is missing");
  ++at;
  next = Next::Value;
  return given(sink.name(std::move(content)));
}

bool Reader::open(bool object) {
  if (levels.size() == limits.depth)
    return fail("values are nested too deep");
  ++at;
  levels.push_back({object, {}});
  next = object ? Next::NameOrEnd : Next::ValueOrEnd;
  return given(object ? sink.beginObject() : sink.beginArray());
}

bool Reader::close() {
  bool object = levels.back().object;
  ++at;
  levels.pop_back();
  afterValue();
  return given(object ? sink.endObject() : sink.endArray());
}

bool Reader::word(std::string_view expected) {
  if (text.substr(at, expected.size()) != expected)
    return fail("a value is missing");
  at += expected.size();
  return true;
}

bool Reader::number() {
  size_t begin = at;
  auto digits = [&] {
    size_t first = at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9')
      ++at;
    return at > first;
  };
  if (text[at] == '-')
    ++at;
  size_t lead = at;
  if (!digits())
    return fail("a digit is missing");
  if (text[lead] == '0' && at > lead + 1)
    return fail("a number does not begin with 0", lead);
  bool whole = true;
  if (at < text.size() && text[at] == '.') {
    ++at;
    whole = false;
    if (!digits())
      return fail("a digit is missing");
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    whole = false;
    if (at < text.size() && (text[at] == '+' || text[at] == '-'))
      ++at;
    if (!digits())
      return fail("a digit is missing");
  }
  std::string written(text.substr(begin, at - begin));
  afterValue();
  if (whole) {
    errno = 0;
    long long integer = strtoll(written.c_str(), nullptr, 10);
    if (errno == 0)
      return given(sink.integer(integer));
  }
  double real = strtod(written.c_str(), nullptr);
  if (!std::isfinite(real))
    return fail("a number is too large", begin);
  return given(sink.real(real));
}

bool Reader::hex4(unsigned &unit) {
  unit = 0;
  for (int i = 0; i < 4; ++i, ++at) {
    char c = at < text.size() ? text[at] : '\0';
    int digit = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : -1;
    if (digit < 0)
      return fail("\\u takes four hexadecimal digits");
    unit = unit * 16 + unsigned(digit);
  }
  return true;
}

/// Behind a backslash.
bool Reader::escape(std::string &to) {
  static constexpr std::string_view kLetters = "\"\\/bfnrt", kMeant = "\"\\/\b\f\n\r\t";
  size_t begin = at - 1;
  char c = at < text.size() ? text[at++] : '\0';
  if (size_t i = kLetters.find(c); c && i != std::string_view::npos) {
    to += kMeant[i];
    return true;
  }
  if (c != 'u')
    return fail("there is no such escape", begin);
  unsigned point, second;
  if (!hex4(point))
    return false;
  if (point >= 0xdc00 && point < 0xe000)
    return fail("half of a surrogate pair", begin);
  if (point >= 0xd800 && point < 0xdc00) {
    if (text.substr(at, 2) != "\\u")
      return fail("half of a surrogate pair", begin);
    at += 2;
    if (!hex4(second))
      return false;
    if (second < 0xdc00 || second >= 0xe000)
      return fail("half of a surrogate pair", begin);
    point = 0x10000 + ((point - 0xd800) << 10) + (second - 0xdc00);
  }
  appendUtf8(to, point);
  return true;
}

bool Reader::string(std::string &to) {
  ++at;
  for (;;) {
    size_t begin = at;
    while (at < text.size() && text[at] != '"' && text[at] != '\\' && uint8_t(text[at]) >= 0x20)
      ++at;
    std::string_view plain = text.substr(begin, at - begin);
    if (size_t bad = invalidUtf8(plain); bad != std::string_view::npos)
      return fail("the text is not UTF-8", begin + bad);
    to.append(plain);
    if (at == text.size())
      return fail("a text has no end");
    if (text[at] == '"') {
      ++at;
      return true;
    }
    if (text[at] != '\\')
      return fail("a control byte in a text is written \\u00XX");
    ++at;
    if (!escape(to))
      return false;
  }
}

} // namespace

std::string Fault::message() const {
  return "line " + std::to_string(line) + ", column " + std::to_string(column) + ": " + why;
}

Fault read(std::string_view text, Sink &sink, const ReadLimits &limits) { return Reader(text, sink, limits).run(); }

} // namespace heddle::json
