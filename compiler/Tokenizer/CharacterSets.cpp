//===- CharacterSets.cpp - Sets of characters in patterns -----------------===//
//
// Names are Oniguruma's. A set is resolved to ranges by testing every code
// point.
//
//===----------------------------------------------------------------------===//
#include "compiler/Tokenizer/CharacterSets.h"

#include "compiler/Tokenizer/Unicode.h"
#include "heddle/tokenizer_format.h"

#include <algorithm>

namespace heddle::tok {

namespace {

constexpr uint32_t kCharacters = 0x110000;

/// characterClass of every code point, computed once.
const std::vector<uint8_t> &allClasses() {
  static const std::vector<uint8_t> all = [] {
    std::vector<uint8_t> classes(kCharacters);
    for (uint32_t c = 0; c < kCharacters; ++c)
      classes[c] = characterClass(c);
    return classes;
  }();
  return all;
}

/// The name without case, blanks, `-` and `_`.
std::string plain(const std::string &name) {
  std::string out;
  for (char c : name)
    if (c != ' ' && c != '-' && c != '_')
      out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

void addCategories(Set &set, const std::string &names) {
  uint32_t mask = 0;
  for (size_t at = 0; at < names.size(); at += 3)
    mask |= categoryMask(names.substr(at, names[at + 1] == ' ' ? 1 : 2));
  set.classes.push_back({mask, 0, false});
}

void addScript(Set &set, const std::string &name) {
  for (size_t script = 0; script < scriptCount(); ++script)
    if (plain(scriptName(script)) == name) {
      Ranges ranges = scriptRanges(script);
      set.ranges.insert(set.ranges.end(), ranges.begin(), ranges.end());
    }
}

/// Long names of general categories; `categories` has three bytes for each: two
/// letters and a blank.
struct LongName {
  const char *name, *categories;
};
const LongName longNames[] = {
    {"letter", "L "},
    {"casedletter", "Lu Ll Lt"},
    {"lc", "Lu Ll Lt"},
    {"uppercaseletter", "Lu"},
    {"lowercaseletter", "Ll"},
    {"titlecaseletter", "Lt"},
    {"modifierletter", "Lm"},
    {"otherletter", "Lo"},
    {"mark", "M "},
    {"combiningmark", "M "},
    {"nonspacingmark", "Mn"},
    {"spacingmark", "Mc"},
    {"enclosingmark", "Me"},
    {"number", "N "},
    {"decimalnumber", "Nd"},
    {"letternumber", "Nl"},
    {"othernumber", "No"},
    {"punctuation", "P "},
    {"connectorpunctuation", "Pc"},
    {"dashpunctuation", "Pd"},
    {"openpunctuation", "Ps"},
    {"closepunctuation", "Pe"},
    {"initialpunctuation", "Pi"},
    {"finalpunctuation", "Pf"},
    {"otherpunctuation", "Po"},
    {"symbol", "S "},
    {"mathsymbol", "Sm"},
    {"currencysymbol", "Sc"},
    {"modifiersymbol", "Sk"},
    {"othersymbol", "So"},
    {"separator", "Z "},
    {"spaceseparator", "Zs"},
    {"lineseparator", "Zl"},
    {"paragraphseparator", "Zp"},
    {"other", "C "},
    {"control", "Cc"},
    {"format", "Cf"},
    {"unassigned", "Cn"},
    {"privateuse", "Co"},
    {"surrogate", "Cs"},
};

} // namespace

bool contains(const Set &set, uint32_t c) {
  bool inside = false;
  for (auto [first, last] : set.ranges)
    inside |= c >= first && c <= last;
  uint8_t properties = set.classes.empty() ? 0 : allClasses()[c];
  for (const Set::Class &one : set.classes) {
    bool has = (one.categories >> (properties & 31) & 1) || (one.properties & properties & ~31u);
    inside |= has != one.negated;
  }
  return inside != set.negated;
}

Ranges sorted(Ranges ranges) {
  std::sort(ranges.begin(), ranges.end());
  Ranges out;
  for (auto range : ranges)
    if (!out.empty() && range.first <= out.back().second + 1)
      out.back().second = std::max(out.back().second, range.second);
    else
      out.push_back(range);
  return out;
}

Ranges rangesOf(const Set &set) {
  Ranges out;
  for (uint32_t c = 0; c < kCharacters; ++c) {
    if (!contains(set, c))
      continue;
    if (!out.empty() && out.back().second + 1 == c)
      out.back().second = c;
    else
      out.push_back({c, c});
  }
  return out;
}

Ranges common(const Set &a, const Set &b) {
  Ranges first = rangesOf(a), second = rangesOf(b), out;
  for (size_t i = 0, k = 0; i < first.size() && k < second.size();) {
    uint32_t low = std::max(first[i].first, second[k].first), high = std::min(first[i].second, second[k].second);
    if (low <= high)
      out.push_back({low, high});
    ++(first[i].second < second[k].second ? i : k);
  }
  return out;
}

bool posixSet(const std::string &name, Set &set) {
  if (name == "alpha" || name == "alnum") {
    addCategories(set, name == "alpha" ? "L  Nl" : "L  Nl Nd");
    set.ranges = {{0x24b6, 0x24e9}, {0x1f130, 0x1f149}, {0x1f150, 0x1f169}, {0x1f170, 0x1f189}};
    addScript(set, "alphabeticmarks");
  } else if (name == "word" || name == "space") {
    set.classes.push_back({0, name == "word" ? kWord : kSpace, false});
  } else if (name == "ascii") {
    set.ranges = {{0, 0x7f}};
  } else if (name == "xdigit") {
    set.ranges = {{'0', '9'}, {'a', 'f'}, {'A', 'F'}};
  } else if (name == "blank") {
    set.ranges = {{'\t', '\t'}};
    addCategories(set, "Zs");
  } else if (name == "graph" || name == "print") {
    addCategories(set, name == "graph" ? "L  M  N  P  S  Cf Co" : "L  M  N  P  S  Cf Co Zs");
  } else if (name == "digit" || name == "punct" || name == "upper" || name == "lower" || name == "cntrl") {
    addCategories(set, name == "digit"   ? "Nd"
                       : name == "punct" ? "P  S "
                       : name == "upper" ? "Lu"
                       : name == "lower" ? "Ll"
                                         : "Cc");
  } else {
    return false;
  }
  return true;
}

bool namedSet(const std::string &given, Set &set) {
  if (uint32_t mask = categoryMask(given)) {
    set.classes.push_back({mask, 0, false});
    return true;
  }
  std::string name = plain(given);
  for (const LongName &one : longNames)
    if (name == one.name) {
      addCategories(set, one.categories);
      return true;
    }
  if (name == "any") {
    set.ranges = {{0, kCharacters - 1}};
    return true;
  }
  if (name == "alphabetic" || name == "whitespace")
    name = name == "alphabetic" ? "alpha" : "space";
  if (posixSet(name, set))
    return true;
  addScript(set, name);
  return !set.ranges.empty();
}

} // namespace heddle::tok
