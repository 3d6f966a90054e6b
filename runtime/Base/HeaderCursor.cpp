//===- HeaderCursor.cpp - JSON token by token -----------------------------===//
//
// RFC 8259, strictly: escapes that are half a surrogate pair are refused.
//
//===----------------------------------------------------------------------===//
#include "runtime/Base/HeaderCursor.h"
#include "heddle/utf8.h"

#include <algorithm>

namespace heddle::base {

void HeaderCursor::skipSpace() { at = std::min(header.find_first_not_of(" \t\r\n", at), header.size()); }

bool HeaderCursor::take(char c) {
  skipSpace();
  bool found = sees(c);
  at += found;
  return found;
}

bool HeaderCursor::hex4(uint32_t &value) {
  value = 0;
  for (int i = 0; i < 4; ++i, ++at) {
    char c = at < header.size() ? header[at] : '\0';
    int digit = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : -1;
    if (digit < 0)
      return notJson(at);
    value = value * 16 + uint32_t(digit);
  }
  return true;
}

/// What follows a backslash.
bool HeaderCursor::escape(std::string &out) {
  static constexpr std::string_view from = "\"\\/bfnrt", to = "\"\\/\b\f\n\r\t";
  size_t plain = at < header.size() ? from.find(header[at]) : from.npos;
  if (plain != from.npos) {
    out += to[plain];
    ++at;
    return true;
  }
  uint32_t code = 0, low = 0;
  if (!sees('u'))
    return notJson(at);
  ++at;
  if (!hex4(code))
    return false;
  if (code >= 0xd800 && code < 0xdc00) {
    if (header.substr(at, 2) != "\\u")
      return notJson(at);
    at += 2;
    if (!hex4(low))
      return false;
    if (low < 0xdc00 || low > 0xdfff)
      return notJson(at - 1);
    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
  } else if (code >= 0xdc00 && code < 0xe000) {
    return notJson(at - 1);
  }
  appendUtf8(out, code);
  return true;
}

bool HeaderCursor::string(std::string &out) {
  out.clear();
  if (!expect('"'))
    return false;
  for (;;) {
    if (at == header.size() || static_cast<unsigned char>(header[at]) < 0x20)
      return notJson(at);
    char c = header[at++];
    if (c == '"')
      return true;
    if (c != '\\')
      out += c;
    else if (!escape(out))
      return false;
  }
}

bool HeaderCursor::digits() {
  size_t first = at;
  while (at < header.size() && header[at] >= '0' && header[at] <= '9')
    ++at;
  return at > first;
}

bool HeaderCursor::number(std::string_view &spelled) {
  size_t begin = at;
  at += sees('-');
  if (sees('0'))
    ++at;
  else if (!digits())
    return notJson(begin);
  if (sees('.')) {
    ++at;
    if (!digits())
      return notJson(begin);
  }
  if (sees('e') || sees('E')) {
    ++at;
    at += sees('+') || sees('-');
    if (!digits())
      return notJson(begin);
  }
  spelled = header.substr(begin, at - begin);
  return true;
}

bool HeaderCursor::word(std::string_view expected) {
  for (char c : expected) {
    if (!sees(c))
      return notJson(at);
    ++at;
  }
  return true;
}

} // namespace heddle::base
