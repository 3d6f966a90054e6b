//===- Characters.cpp - Letters, case, white space ------------------------===//
//
// What Python's texts know of characters, from the tables of the blob; without
// a table, ASCII.
//
//===----------------------------------------------------------------------===//
#include "heddle/utf8.h"
#include "runtime/Template/RenderState.h"

#include <algorithm>

namespace heddle::rt::chat {

bool CharacterTables::isSpace(uint32_t c) {
  return (c >= 9 && c <= 13) || (c >= 0x1c && c <= 0x20) || c == 0x85 || c == 0xa0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

/// The row of a table of ascending ranges, each `width` words, that holds `c`; null if none does.
static const uint32_t *rangeOf(const WordSpan &table, size_t width, uint32_t c) {
  size_t low = 0, high = table.count / width;
  while (low < high) {
    size_t middle = (low + high) / 2;
    const uint32_t *row = table.data + middle * width;
    if (c < row[0])
      high = middle;
    else if (c > row[1])
      low = middle + 1;
    else
      return row;
  }
  return nullptr;
}

bool CharacterTables::isHidden(uint32_t c) const {
  if (c < 0x20 || c == 0x7f)
    return true;
  return c >= 0x80 && rangeOf(hidden, 2, c);
}

uint32_t CharacterTables::kind(uint32_t c) const {
  if (const uint32_t *row = rangeOf(kinds, 3, c))
    return row[2];
  if (c >= '0' && c <= '9')
    return tpl::kDigit | tpl::kNumeric;
  return c >= 'a' && c <= 'z'   ? uint32_t(tpl::kAlpha | tpl::kLowerLetter)
         : c >= 'A' && c <= 'Z' ? uint32_t(tpl::kAlpha | tpl::kUpperLetter)
                                : 0u;
}

/// Appends what `c` becomes in a table of case.
static void mapCharacter(const WordSpan &table, uint32_t c, std::string &out) {
  size_t low = 0, entries = table.count ? table.data[0] : 0, high = entries;
  while (low < high) {
    size_t middle = (low + high) / 2;
    const uint32_t *row = table.data + 1 + middle * 3;
    if (c < row[0]) {
      high = middle;
    } else if (c > row[0]) {
      low = middle + 1;
    } else {
      const uint32_t *to = table.data + 1 + entries * 3 + row[1];
      for (uint32_t i = 0; i < row[2]; ++i)
        appendUtf8(out, to[i]);
      return;
    }
  }
  appendUtf8(out, c);
}

/// Whether the sigma before `rest` is at the end of a word; `front` is what is in front of it.
static bool isFinalSigma(const CharacterTables &tables, std::string_view front, std::string_view rest) {
  auto ignorable = [](uint32_t c) {
    return c == '\'' || c == '.' || c == ':' || c == '^' || c == '`' || c == 0xa8 || c == 0xad || c == 0xaf ||
           c == 0xb4 || c == 0xb7 || c == 0xb8 || (c >= 0x2b0 && c <= 0x36f) || c == 0x2019 ||
           (c >= 0x200b && c <= 0x200f);
  };
  auto isCased = [&](uint32_t c) {
    return (tables.kind(c) & (tpl::kUpperLetter | tpl::kLowerLetter | tpl::kTitleLetter)) != 0;
  };
  uint32_t c = 0;
  bool cased = false;
  while (!front.empty()) {
    size_t begin = front.size() - 1;
    while (begin && (front[begin] & 0xc0) == 0x80)
      --begin;
    if (!decodeUtf8(front.substr(begin), c))
      return false;
    front = front.substr(0, begin);
    if (!ignorable(c)) {
      cased = isCased(c);
      break;
    }
  }
  while (cased && !rest.empty()) {
    size_t n = decodeUtf8(rest, c);
    if (!n)
      break;
    if (!ignorable(c))
      return !isCased(c);
    rest.remove_prefix(n);
  }
  return cased;
}

bool caseOf(Session &s, std::string_view text, Case how, std::string &out) {
  if (!s.chargeBytes(text.size() * 4))
    return false;
  const CharacterTables &tables = s.tables;
  bool inside = false; // after a letter, for titles; after the first character, for capitals
  for (size_t at = 0; at < text.size();) {
    uint32_t c;
    size_t n = decodeUtf8(text.substr(at), c);
    if (!n) {
      out += text[at++];
      continue;
    }
    Case now = how == Case::Title || how == Case::Capital ? (inside ? Case::Lower : Case::Title) : how;
    bool ascii = c < 0x80;
    if (now == Case::Lower && c == 0x3a3 && tables.lower.count)
      appendUtf8(out, isFinalSigma(tables, text.substr(0, at), text.substr(at + n)) ? 0x3c2 : 0x3c3);
    else if (ascii)
      out += char(now == Case::Lower ? (c >= 'A' && c <= 'Z' ? c + 32 : c) : (c >= 'a' && c <= 'z' ? c - 32 : c));
    else
      mapCharacter(now == Case::Lower ? tables.lower : now == Case::Upper ? tables.upper : tables.title, c, out);
    inside =
        how == Case::Capital || (tables.kind(c) & (tpl::kUpperLetter | tpl::kLowerLetter | tpl::kTitleLetter)) != 0;
    at += n;
  }
  return true;
}

std::string_view stripText(std::string_view text, const std::string_view *characters, bool left, bool right) {
  auto goes = [&](std::string_view one) {
    uint32_t c;
    if (!characters)
      return decodeUtf8(one, c) != 0 && CharacterTables::isSpace(c);
    // The needle is a whole character, so that it is found at whole characters.
    return characters->find(one) != std::string_view::npos;
  };
  while (left && !text.empty()) {
    size_t n = offsetOf(text, 1);
    if (!goes(text.substr(0, n)))
      break;
    text.remove_prefix(n);
  }
  while (right && !text.empty()) {
    size_t begin = text.size() - 1;
    while (begin && (text[begin] & 0xc0) == 0x80)
      --begin;
    if (!goes(text.substr(begin)))
      break;
    text = text.substr(0, begin);
  }
  return text;
}

std::string escapeHtml(std::string_view text) {
  std::string out;
  for (char c : text) {
    switch (c) {
    case '&': out += "&amp;"; break;
    case '<': out += "&lt;"; break;
    case '>': out += "&gt;"; break;
    case '\'': out += "&#39;"; break;
    case '"': out += "&#34;"; break;
    default: out += c;
    }
  }
  return out;
}

} // namespace heddle::rt::chat
