//===- CharacterTables.cpp - What the runtime knows of characters ---------===//
//
// Case with Unicode's full mappings (SpecialCase.inc has those that are not one
// letter for one), letters and digits as Python's texts tell them apart, and
// the characters that its repr escapes.
//
//===----------------------------------------------------------------------===//
#include "compiler/Template/CharacterTables.h"

#include "compiler/Tokenizer/Unicode.h"
#include "heddle/template_format.h"
#include "heddle/tokenizer_format.h"

#include <algorithm>
#include <utf8proc.h>

namespace heddle::tpl {

namespace {

/// A character whose upper or title case is several; zeros fill up.
struct Special {
  uint32_t from, upper[3], title[3];
};
constexpr Special specials[] = {
#include "compiler/Template/SpecialCase.inc"
};

const Special *specialOf(uint32_t c) {
  const Special *found = std::lower_bound(std::begin(specials), std::end(specials), c,
                                          [](const Special &s, uint32_t value) { return s.from < value; });
  return found != std::end(specials) && found->from == c ? found : nullptr;
}

bool several(const uint32_t (&to)[3], std::vector<uint32_t> &out) {
  for (uint32_t c : to)
    if (c)
      out.push_back(c);
  return true;
}

bool simple(uint32_t c, utf8proc_int32_t to, std::vector<uint32_t> &out) {
  out.push_back(uint32_t(to));
  return uint32_t(to) != c;
}

/// Ranges of equal values, without those of value 0; `bare` leaves the value out.
template <typename Value> tok::Words ranges(Value value, bool bare) {
  tok::Words words;
  uint32_t begin = 0, have = value(0);
  for (uint32_t c = 1; c <= 0x110000; ++c) {
    uint32_t next = c < 0x110000 ? value(c) : ~have;
    if (next == have)
      continue;
    if (have) {
      words.insert(words.end(), {begin, c - 1});
      if (!bare)
        words.push_back(have);
    }
    begin = c;
    have = next;
  }
  return words;
}

/// Digits that are no decimal digits: superscripts, subscripts, circled ones.
bool isOtherDigit(uint32_t c) {
  static constexpr uint32_t digits[][2] = {
      {0xb2, 0xb3},     {0xb9, 0xb9},       {0x1369, 0x1371},   {0x19da, 0x19da},   {0x2070, 0x2070},
      {0x2074, 0x2079}, {0x2080, 0x2089},   {0x2460, 0x2468},   {0x2474, 0x247c},   {0x2488, 0x2490},
      {0x24ea, 0x24ea}, {0x24f5, 0x24fd},   {0x24ff, 0x24ff},   {0x2776, 0x277e},   {0x2780, 0x2788},
      {0x278a, 0x2792}, {0x10a40, 0x10a43}, {0x10e60, 0x10e68}, {0x11052, 0x1105a}, {0x1f100, 0x1f10a}};
  for (auto [first, last] : digits)
    if (c >= first && c <= last)
      return true;
  return false;
}

uint32_t kindOf(uint32_t c) {
  static const uint32_t letter = tok::categoryMask("L"), number = tok::categoryMask("N"),
                        upper = tok::categoryMask("Lu"), lower = tok::categoryMask("Ll"),
                        title = tok::categoryMask("Lt"), decimal = tok::categoryMask("Nd");
  uint32_t bit = 1u << (tok::characterClass(c) & 31), kind = 0;
  bool upperSign = (c >= 0x2160 && c <= 0x216f) || (c >= 0x24b6 && c <= 0x24cf) || (c >= 0x1f130 && c <= 0x1f149) ||
                   (c >= 0x1f150 && c <= 0x1f169) || (c >= 0x1f170 && c <= 0x1f189);
  bool lowerSign = c == 0xaa || c == 0xba || (c >= 0x2b0 && c <= 0x2b8) || c == 0x2c0 || c == 0x2c1 ||
                   (c >= 0x2e0 && c <= 0x2e4) || c == 0x345 || c == 0x37a || (c >= 0x1d2c && c <= 0x1d6a) ||
                   c == 0x1d78 || (c >= 0x1d9b && c <= 0x1dbf) || c == 0x2071 || c == 0x207f ||
                   (c >= 0x2090 && c <= 0x209c) || (c >= 0x2170 && c <= 0x217f) || (c >= 0x24d0 && c <= 0x24e9) ||
                   c == 0x2c7c || c == 0x2c7d || (c >= 0xa69c && c <= 0xa69d) || c == 0xa770 ||
                   (c >= 0xa7f8 && c <= 0xa7f9) || (c >= 0xab5c && c <= 0xab5f);
  kind |= bit & letter ? kAlpha : 0u;
  kind |= (bit & decimal) || isOtherDigit(c) ? kDigit : 0u;
  kind |= bit & number ? kNumeric : 0u;
  kind |= (bit & upper) || upperSign ? kUpperLetter : 0u;
  kind |= (bit & lower) || lowerSign ? kLowerLetter : 0u;
  kind |= bit & title ? kTitleLetter : 0u;
  return kind;
}

} // namespace

// Computed once, by asking about every code point.

const tok::Words &hiddenCharacters() {
  static const uint32_t hidden = tok::categoryMask("C") | tok::categoryMask("Z") | 1u; // 1: not assigned
  static const tok::Words table =
      ranges([](uint32_t c) { return c != ' ' && (1u << (tok::characterClass(c) & 31) & hidden) ? 1u : 0u; }, true);
  return table;
}

const tok::Words &characterKinds() {
  static const tok::Words table = ranges(kindOf, false);
  return table;
}

const tok::Words &upperCase() {
  static const tok::Words table = tok::characterMap([](uint32_t c, std::vector<uint32_t> &out) {
    const Special *special = specialOf(c);
    return special ? several(special->upper, out) : simple(c, utf8proc_toupper(utf8proc_int32_t(c)), out);
  });
  return table;
}

const tok::Words &lowerCase() {
  static const tok::Words table = tok::characterMap(tok::lowercase);
  return table;
}

const tok::Words &titleCase() {
  static const tok::Words table = tok::characterMap([](uint32_t c, std::vector<uint32_t> &out) {
    const Special *special = specialOf(c);
    return special ? several(special->title, out) : simple(c, utf8proc_totitle(utf8proc_int32_t(c)), out);
  });
  return table;
}

} // namespace heddle::tpl
