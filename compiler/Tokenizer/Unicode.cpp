//===- Unicode.cpp - Tables about characters ------------------------------===//
//
// Tables are made by testing every code point once, which takes milliseconds.
//
//===----------------------------------------------------------------------===//
#include "compiler/Tokenizer/Unicode.h"

#include "heddle/tokenizer_format.h"
#include "heddle/utf8.h"

#include <cstdlib>
#include <map>
#include <utf8proc.h>

namespace heddle::tok {

static bool isSpace(uint32_t c) {
  return (c >= 9 && c <= 13) || c == 32 || c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) ||
         c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

uint8_t characterClass(uint32_t c) {
  int category = utf8proc_category(utf8proc_int32_t(c));
  uint32_t bit = 1u << category;
  static const uint32_t word =
      categoryMask("L") | categoryMask("M") | categoryMask("Nd") | categoryMask("Nl") | categoryMask("Pc");
  // Letters in circles and squares are alphabetic, though their category is not
  // L.
  bool circled = (c >= 0x24b6 && c <= 0x24e9) || (c >= 0x1f130 && c <= 0x1f149) || (c >= 0x1f150 && c <= 0x1f169) ||
                 (c >= 0x1f170 && c <= 0x1f189);
  uint32_t flags = 0;
  if (isSpace(c))
    flags |= kSpace;
  if ((word & bit) || circled)
    flags |= kWord;
  int bound = utf8proc_get_property(utf8proc_int32_t(c))->boundclass;
  if (bound == UTF8PROC_BOUNDCLASS_EXTEND || bound == UTF8PROC_BOUNDCLASS_ZWJ ||
      bound == UTF8PROC_BOUNDCLASS_SPACINGMARK)
    flags |= kJoins;
  return uint8_t(uint32_t(category) | flags);
}

uint32_t categoryMask(const std::string &name) {
  static const char *const names[] = {"Cn", "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd",
                                      "Nl", "No", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Sm",
                                      "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Co"};
  uint32_t mask = 0;
  for (int i = 0; i < 30; ++i)
    if (name == names[i] || (name.size() == 1 && name[0] == names[i][0]))
      mask |= 1u << i;
  return mask;
}

Words classTable() {
  Words pages;
  std::string bytes;
  std::map<std::string, uint32_t> known;
  for (uint32_t page = 0; page < kPages; ++page) {
    std::string content;
    for (uint32_t i = 0; i < 256; ++i)
      content += static_cast<char>(characterClass(page * 256 + i));
    auto [found, isNew] = known.insert({content, uint32_t(known.size())});
    if (isNew)
      bytes += content;
    pages.push_back(found->second);
  }
  appendBytes(pages, bytes);
  return pages;
}

Words characterMap(const std::function<bool(uint32_t, std::vector<uint32_t> &)> &map) {
  Words entries, targets, all;
  std::vector<uint32_t> to;
  for (uint32_t c = 0; c < 0x110000; ++c) {
    if (c >= 0xd800 && c < 0xe000)
      continue;
    to.clear();
    if (!map(c, to))
      continue;
    entries.insert(entries.end(), {c, uint32_t(targets.size()), uint32_t(to.size())});
    targets.insert(targets.end(), to.begin(), to.end());
  }
  all.push_back(uint32_t(entries.size() / 3));
  all.insert(all.end(), entries.begin(), entries.end());
  all.insert(all.end(), targets.begin(), targets.end());
  return all;
}

bool lowercase(uint32_t c, std::vector<uint32_t> &out) {
  if (c == 0x130) {
    out = {0x69, 0x307};
    return true;
  }
  auto lower = uint32_t(utf8proc_tolower(utf8proc_int32_t(c)));
  out = {lower};
  return lower != c;
}

bool stripAccents(uint32_t c, std::vector<uint32_t> &out) {
  utf8proc_int32_t parts[32];
  int boundary = 0;
  utf8proc_ssize_t n = utf8proc_decompose_char(utf8proc_int32_t(c), parts, 32, UTF8PROC_DECOMPOSE, &boundary);
  for (utf8proc_ssize_t i = 0; i < n && i < 32; ++i)
    if (utf8proc_category(parts[i]) != UTF8PROC_CATEGORY_MN)
      out.push_back(uint32_t(parts[i]));
  return !(out.size() == 1 && out[0] == c);
}

bool decompose(uint32_t c, bool compatibility, std::vector<uint32_t> &out) {
  if (c >= 0xac00 && c < 0xac00 + 11172)
    return false;
  utf8proc_int32_t parts[64];
  int boundary = 0;
  int options = UTF8PROC_DECOMPOSE | (compatibility ? UTF8PROC_COMPAT : 0);
  utf8proc_ssize_t n = utf8proc_decompose_char(utf8proc_int32_t(c), parts, 64, utf8proc_option_t(options), &boundary);
  for (utf8proc_ssize_t i = 0; i < n && i < 64; ++i)
    out.push_back(uint32_t(parts[i]));
  return !(out.size() == 1 && out[0] == c);
}

Words combiningClasses() {
  Words words;
  for (uint32_t c = 0; c < 0x110000; ++c)
    if (int order = utf8proc_get_property(utf8proc_int32_t(c))->combining_class)
      words.insert(words.end(), {c, uint32_t(order)});
  return words;
}

Words compositions() {
  // utf8proc knows the exclusions: a pair composes to c if utf8proc composes
  // it.
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> pairs;
  for (uint32_t c = 0; c < 0x110000; ++c) {
    std::vector<uint32_t> parts;
    if ((c >= 0xd800 && c < 0xe000) || !decompose(c, false, parts) || parts.size() < 2)
      continue;
    uint32_t last = parts.back();
    parts.pop_back();
    std::string text;
    for (uint32_t part : parts)
      appendUtf8(text, part);
    // The first part of the pair is everything before the last mark, composed.
    utf8proc_uint8_t *front = utf8proc_NFC(reinterpret_cast<const utf8proc_uint8_t *>(text.c_str()));
    if (!front)
      continue;
    std::string before = reinterpret_cast<char *>(front);
    free(front);
    std::string whole = before;
    appendUtf8(whole, last);
    utf8proc_uint8_t *composed = utf8proc_NFC(reinterpret_cast<const utf8proc_uint8_t *>(whole.c_str()));
    if (!composed)
      continue;
    std::string result = reinterpret_cast<char *>(composed);
    free(composed);
    size_t at = 0, end = 0;
    uint32_t first, made;
    if (nextCharacter(before, at, first) && at == before.size() && nextCharacter(result, end, made) &&
        end == result.size() && made == c)
      pairs[{first, last}] = c;
  }
  Words words;
  for (const auto &[pair, c] : pairs)
    words.insert(words.end(), {pair.first, pair.second, c});
  return words;
}

std::vector<uint32_t> caseVariants(uint32_t c) {
  std::vector<uint32_t> all = {c};
  auto add = [&](uint32_t other) {
    for (uint32_t known : all)
      if (known == other)
        return;
    all.push_back(other);
  };
  add(uint32_t(utf8proc_tolower(utf8proc_int32_t(c))));
  add(uint32_t(utf8proc_toupper(utf8proc_int32_t(c))));
  // Two letters outside ASCII fold into it: long s and the Kelvin sign.
  for (uint32_t known : std::vector<uint32_t>(all)) {
    if (known == 's')
      add(0x17f);
    if (known == 'k')
      add(0x212a);
  }
  return all;
}

bool nextCharacter(const std::string &text, size_t &at, uint32_t &c) {
  size_t n = at < text.size() ? decodeUtf8(std::string_view(text).substr(at), c) : 0;
  at += n;
  return n > 0;
}

} // namespace heddle::tok
