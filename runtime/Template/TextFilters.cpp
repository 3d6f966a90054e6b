//===- TextFilters.cpp - Filters that make texts --------------------------===//

#include "runtime/Template/FilterParts.h"

#include <algorithm>

namespace heddle::rt::chat {

bool caseFilter(Session &s, Value v, Case how, Value &out) {
  Value text;
  std::string made;
  return strOf(s, v, text) && caseOf(s, text.view(), how, made) && makeText(s, made, out, text.flag);
}

/// A letter behind -, white space or an opening bracket is upper case, the others lower.
bool titleFilter(Session &s, Value v, Value &out) {
  Value value;
  std::string made;
  if (!strOf(s, v, value))
    return false;
  std::string_view text = value.view();
  auto ends = [](std::string_view rest) {
    return stripText(rest.substr(0, 1), nullptr, true, false).empty() ||
           std::string_view("-({[<").find(rest[0]) != std::string_view::npos ||
           (static_cast<unsigned char>(rest[0]) >= 0x80 && stripText(rest, nullptr, true, false).size() < rest.size());
  };
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    bool between = ends(text.substr(at));
    while (end < text.size() && ends(text.substr(end)) == between)
      for (++end; end < text.size() && (text[end] & 0xc0) == 0x80;)
        ++end;
    std::string_view part = text.substr(at, end - at);
    size_t first = offsetOf(part, 1);
    if (between)
      made += part;
    else if (!caseOf(s, part.substr(0, first), Case::Upper, made) || !caseOf(s, part.substr(first), Case::Lower, made))
      return false;
    at = end;
    if (!s.charge(1))
      return false;
  }
  return makeText(s, made, out);
}

bool indentFilter(Session &s, Value v, const Value *a, Value &out) {
  if (!v.isText())
    return v.isUndefined() ? failUndefined(s, v) : s.fail(std::string("cannot indent ") + nameOf(v));
  std::string with(4, ' ');
  if (a[0].isText()) {
    with = std::string(a[0].view());
  } else if (a[0].given()) {
    if (!a[0].isWhole())
      return s.fail("the width of indent is an integer or a text");
    if (a[0].integer > int64_t(s.limits.memory))
      return s.room(s.limits.memory + 1);
    with.assign(size_t(std::max<int64_t>(0, a[0].integer)), ' ');
  }
  if (v.isSafe() && a[0].isText() && !a[0].isSafe())
    with = escapeHtml(with);
  bool first = truth(a[1]), blank = truth(a[2]);
  Value withFeed, lines;
  if (!makeText(s, std::string(v.view()) + "\n", withFeed))
    return false;
  MethodObject split = {withFeed, Method::Text_splitlines, "splitlines"};
  if (!callMethod(s, split, {}, lines))
    return false;
  std::string text = first ? with : "";
  for (uint32_t i = 0; i < lines.size; ++i) {
    std::string_view line = lines.items[i].view();
    if (i) {
      text += '\n';
      if (blank || !line.empty())
        text += with;
    }
    text += line;
    if (!s.charge(1 + (line.size() + with.size()) / 16))
      return false;
    if (!s.heap.fits(text.size()))
      return s.room(text.size());
  }
  return makeText(s, text, out, v.flag);
}

bool replaceFilter(Session &s, Value v, const Value *a, Value &out) {
  Value text, from, to;
  std::string made;
  if (a[2].given() && a[2].kind != Kind::None && !a[2].isWhole())
    return s.fail("the count of replace is an integer");
  int64_t count = a[2].isWhole() ? a[2].integer : -1;
  return strOf(s, v, text) && strOf(s, a[0], from) && strOf(s, a[1], to) &&
         replaceText(s, text.view(), from.view(), to.view(), count, made) && makeText(s, made, out);
}

bool trimFilter(Session &s, Value v, const Value *a, Value &out) {
  Value text;
  if (!strOf(s, v, text))
    return false;
  if (a[0].given() && a[0].kind != Kind::None && !a[0].isText())
    return a[0].isUndefined() ? failUndefined(s, a[0]) : s.fail("trim takes characters as a text");
  std::string_view characters = a[0].isText() ? a[0].view() : std::string_view();
  out = textValue(stripText(text.view(), a[0].isText() ? &characters : nullptr, true, true), text.flag);
  return s.chargeBytes(text.size);
}

bool jsonFilter(Session &s, Value v, const Value *a, Value &out) {
  JsonStyle style;
  style.ascii = a[0].given() && truth(a[0]);
  style.sorted = a[3].given() && truth(a[3]);
  if (a[1].given() && a[1].kind != Kind::None) {
    style.indented = true;
    style.comma = ",";
    if (a[1].isText())
      style.indent = std::string(a[1].view());
    else if (a[1].isWhole() && a[1].integer <= 1000)
      style.indent.assign(size_t(std::max<int64_t>(0, a[1].integer)), ' ');
    else
      return s.fail("the indent of tojson is a text, or an integer up to 1000");
  }
  if (a[2].given() && a[2].kind != Kind::None) {
    if (!a[2].isList() || a[2].size != 2 || !a[2].items[0].isText() || !a[2].items[1].isText())
      return s.fail("the separators of tojson are two texts");
    style.comma = std::string(a[2].items[0].view());
    style.colon = std::string(a[2].items[1].view());
  }
  std::string text;
  return writeJson(s, v, style, text, 0) && makeText(s, text, out);
}

} // namespace heddle::rt::chat
