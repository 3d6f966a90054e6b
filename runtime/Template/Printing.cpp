//===- Printing.cpp - Values as text and as JSON --------------------------===//
//
// Python's str and repr, its shortest floats, and its json.dumps.
//
//===----------------------------------------------------------------------===//
#include "heddle/utf8.h"
#include "runtime/Template/RenderState.h"
#include "runtime/Template/ShortestReal.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace heddle::rt::chat {

/// The shortest digits that read back the same, laid out as Python does.
std::string realText(double value) {
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value < 0 ? "-inf" : "inf";
  std::string digits = shortestReal(value);
  std::string_view text = digits;
  std::string out;
  if (text[0] == '-') {
    out += '-';
    text.remove_prefix(1);
  }
  size_t e = text.find('e');
  int power = 0;
  std::from_chars(text.data() + e + (text[e + 1] == '+' ? 2 : 1), text.data() + text.size(), power);
  std::string mantissa(1, text[0]);
  if (e > 2)
    mantissa += text.substr(2, e - 2);
  auto count = int(mantissa.size());
  if (power < -4 || power >= 16) {
    out += mantissa[0];
    if (count > 1)
      out += "." + mantissa.substr(1);
    char exponent[16];
    snprintf(exponent, sizeof exponent, "e%c%02d", power < 0 ? '-' : '+', std::abs(power));
    return out + exponent;
  }
  if (power < 0)
    return out + "0." + std::string(size_t(-power - 1), '0') + mantissa;
  if (count <= power + 1)
    return out + mantissa + std::string(size_t(power + 1 - count), '0') + ".0";
  return out + mantissa.substr(0, size_t(power) + 1) + "." + mantissa.substr(size_t(power) + 1);
}

std::string undefinedMessage(Value v) {
  std::string name = "`" + std::string(v.view()) + "`";
  Value of;
  of.kind = Kind(v.extra);
  switch (Why(v.flag)) {
  case Why::Name: return name + " is undefined";
  case Why::Attribute: return std::string(nameOf(of)) + " has no " + name;
  case Why::Item: return std::string(nameOf(of)) + " has no item " + name;
  case Why::Forbidden: return "access to " + name + " of " + nameOf(of) + " is forbidden";
  case Why::Parameter: return "the parameter " + name + " was not given";
  case Why::NoElse: return "an inline `if` without `else` was false";
  case Why::NoItem: return "there is no " + std::string(v.view()) + " item";
  }
  return name;
}

bool failUndefined(Session &s, Value v) { return s.fail(undefinedMessage(v)); }

bool makeText(Session &s, std::string_view text, Value &out, bool safe) {
  if (!s.room(text.size()))
    return false;
  out = s.heap.copy(text, safe);
  return true;
}

bool strOf(Session &s, Value v, Value &out) {
  if (v.isText()) {
    out = v;
    return true;
  }
  std::string text;
  return print(s, v, text) && makeText(s, text, out);
}

bool print(Session &s, Value v, std::string &out) {
  if (!v.isText())
    return v.isUndefined() || printRepr(s, v, out, 0);
  if (!s.chargeBytes(v.size))
    return false;
  out += v.view();
  return out.size() <= s.limits.output || s.fail("a text is too long");
}

static bool printText(Session &s, std::string_view text, std::string &out) {
  if (!s.chargeBytes(text.size()))
    return false;
  char quote = text.find('\'') != text.npos && text.find('"') == text.npos ? '"' : '\'';
  auto isPlain = [&](char c) { return c >= ' ' && c <= '~' && c != '\\' && c != quote; };
  out += quote;
  for (size_t at = 0; at < text.size();) {
    size_t plain = at;
    while (plain < text.size() && isPlain(text[plain]))
      ++plain;
    out += text.substr(at, plain - at);
    if (plain == text.size())
      break;
    at = plain;
    uint32_t c;
    size_t n = decodeUtf8(text.substr(at), c);
    char escape[16] = "";
    if (!n) {
      n = 1;
      snprintf(escape, sizeof escape, "\\x%02x", static_cast<unsigned char>(text[at]));
    } else if (c == uint32_t(quote) || c == '\\') {
      snprintf(escape, sizeof escape, "\\%c", char(c));
    } else if (c == '\n' || c == '\r' || c == '\t') {
      snprintf(escape, sizeof escape, "\\%c", c == '\n' ? 'n' : c == '\r' ? 'r' : 't');
    } else if (s.tables.isHidden(c)) {
      snprintf(escape, sizeof escape, c < 0x100 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x", c);
    }
    if (*escape)
      out += escape;
    else
      out += text.substr(at, n);
    at += n;
  }
  out += quote;
  return true;
}

static bool printItems(Session &s, const Value *items, size_t count, std::string &out, int depth) {
  for (size_t i = 0; i < count; ++i) {
    if (i)
      out += ", ";
    if (!printRepr(s, items[i], out, depth))
      return false;
  }
  return true;
}

static bool printEntries(Session &s, const Dict &dict, std::string &out, int depth) {
  out += '{';
  for (uint32_t i = 0; i < dict.count; ++i) {
    if (i)
      out += ", ";
    if (!printRepr(s, dict.entries[i].key, out, depth))
      return false;
    out += ": ";
    if (!printRepr(s, dict.entries[i].value, out, depth))
      return false;
  }
  out += '}';
  return true;
}

bool printRepr(Session &s, Value v, std::string &out, int depth) {
  if (!s.deep(depth) || !s.charge(16))
    return false;
  if (out.size() > s.limits.output)
    return s.fail("a text is too long");
  switch (v.kind) {
  case Kind::Missing:
  case Kind::Undefined: out += "Undefined"; return true;
  case Kind::None: out += "None"; return true;
  case Kind::Bool: out += v.integer ? "True" : "False"; return true;
  case Kind::Integer: out += std::to_string(v.integer); return true;
  case Kind::Real: out += realText(v.real); return true;
  case Kind::Text:
    if (!v.isSafe())
      return printText(s, v.view(), out);
    out += "Markup(";
    if (!printText(s, v.view(), out))
      return false;
    out += ')';
    return true;
  case Kind::List:
    out += '[';
    if (!printItems(s, v.items, v.size, out, depth + 1))
      return false;
    out += ']';
    return true;
  case Kind::Tuple:
    out += '(';
    if (!printItems(s, v.items, v.size, out, depth + 1))
      return false;
    out += v.size == 1 ? ",)" : ")";
    return true;
  case Kind::Dict: return printEntries(s, *v.dict, out, depth + 1);
  case Kind::Range:
    out += "range(" + std::to_string(v.range->start) + ", " + std::to_string(v.range->stop);
    out += v.range->step == 1 ? ")" : ", " + std::to_string(v.range->step) + ")";
    return true;
  case Kind::Namespace:
    out += "<Namespace ";
    if (!printEntries(s, *v.dict, out, depth + 1))
      return false;
    out += '>';
    return true;
  case Kind::Macro: out += "<Macro '" + std::string(v.macro->name) + "'>"; return true;
  case Kind::Loop: {
    Value length;
    if (!loopAttribute(s, *v.loop, "length", length))
      return false;
    out += "<LoopContext " + std::to_string(v.loop->index0 + 1) + "/" + std::to_string(length.integer) + ">";
    return true;
  }
  case Kind::Iterator:
  case Kind::Method:
  case Kind::Function: return s.fail(std::string(nameOf(v)) + " cannot be printed");
  }
  return true;
}

//===--- JSON -----------------------------------------------------------------===//

/// The letter after the backslash of an escape that JSON has a short form for; 0 if there is none.
static char shortEscape(unsigned char byte) {
  switch (byte) {
  case '"':
  case '\\': return char(byte);
  case '\b': return 'b';
  case '\f': return 'f';
  case '\n': return 'n';
  case '\r': return 'r';
  case '\t': return 't';
  default: return 0;
  }
}

/// A JSON string: stretches that need no escape are appended whole.
static bool writeText(Session &s, std::string_view text, bool ascii, std::string &out) {
  if (!s.chargeBytes(text.size()))
    return false;
  out += '"';
  for (size_t at = 0; at < text.size();) {
    size_t plain = at;
    auto isPlain = [&](unsigned char byte) {
      return byte >= 0x20 && byte != '"' && byte != '\\' && (byte < 0x80 || !ascii);
    };
    while (at < text.size() && isPlain(static_cast<unsigned char>(text[at])))
      ++at;
    out += text.substr(plain, at - plain);
    if (at == text.size())
      break;
    if (!s.charge(2))
      return false;
    auto byte = static_cast<unsigned char>(text[at]);
    char escape[16];
    if (char letter = shortEscape(byte)) {
      escape[0] = '\\';
      escape[1] = letter;
      out.append(escape, 2);
      ++at;
    } else if (byte < 0x20) {
      snprintf(escape, sizeof escape, "\\u%04x", byte);
      out += escape;
      ++at;
    } else {
      uint32_t c = 0xfffd;
      size_t n = decodeUtf8(text.substr(at), c);
      if (c >= 0x10000)
        snprintf(escape, sizeof escape, "\\u%04x\\u%04x", 0xd800 + ((c - 0x10000) >> 10),
                 0xdc00 + ((c - 0x10000) & 0x3ff));
      else
        snprintf(escape, sizeof escape, "\\u%04x", c);
      out += escape;
      at += n ? n : 1;
    }
  }
  out += '"';
  return true;
}

static std::string jsonReal(double value) {
  if (std::isnan(value))
    return "NaN";
  if (std::isinf(value))
    return value < 0 ? "-Infinity" : "Infinity";
  return realText(value);
}

static void newLine(const JsonStyle &style, std::string &out, int depth) {
  if (!style.indented)
    return;
  out += '\n';
  for (int i = 0; i < depth; ++i)
    out += style.indent;
}

static bool writeDict(Session &s, const Dict &dict, const JsonStyle &style, std::string &out, int depth) {
  std::vector<uint32_t> places(dict.count);
  for (uint32_t i = 0; i < dict.count; ++i)
    places[i] = i;
  if (style.sorted) {
    bool good = true;
    std::stable_sort(places.begin(), places.end(), [&](uint32_t a, uint32_t b) {
      int sign = 0;
      bool unordered;
      good = good && order(s, dict.entries[a].key, dict.entries[b].key, sign, unordered);
      return good && sign < 0;
    });
    if (!good)
      return false;
  }
  out += '{';
  for (size_t i = 0; i < places.size(); ++i) {
    const DictEntry &entry = dict.entries[places[i]];
    out += i ? style.comma : "";
    newLine(style, out, depth + 1);
    if (entry.key.isText()) {
      if (!writeText(s, entry.key.view(), style.ascii, out))
        return false;
    } else {
      out += '"';
      if (!writeJson(s, entry.key, style, out, depth))
        return false;
      out += '"';
    }
    out += style.colon;
    if (!writeJson(s, entry.value, style, out, depth + 1))
      return false;
  }
  if (!places.empty())
    newLine(style, out, depth);
  out += '}';
  return true;
}

bool writeJson(Session &s, Value v, const JsonStyle &style, std::string &out, int depth) {
  if (!s.deep(depth) || !s.charge(1 + (style.indented ? uint64_t(depth) * style.indent.size() / 16 : 0)))
    return false;
  if (out.size() > s.limits.output)
    return s.fail("a text is too long");
  switch (v.kind) {
  case Kind::None: out += "null"; return true;
  case Kind::Bool: out += v.integer ? "true" : "false"; return true;
  case Kind::Integer: out += std::to_string(v.integer); return true;
  case Kind::Real: out += jsonReal(v.real); return true;
  case Kind::Text: return writeText(s, v.view(), style.ascii, out);
  case Kind::List:
  case Kind::Tuple:
    out += '[';
    for (uint32_t i = 0; i < v.size; ++i) {
      out += i ? style.comma : "";
      newLine(style, out, depth + 1);
      if (!writeJson(s, v.items[i], style, out, depth + 1))
        return false;
    }
    if (v.size)
      newLine(style, out, depth);
    out += ']';
    return true;
  case Kind::Dict: return writeDict(s, *v.dict, style, out, depth);
  case Kind::Undefined: return s.fail("tojson: " + undefinedMessage(v));
  default: return s.fail(std::string(nameOf(v)) + " cannot be written as JSON");
  }
}

} // namespace heddle::rt::chat
