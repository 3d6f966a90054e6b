//===- CharacterSets.h - Sets of characters in patterns ---------*- C++ -*-===//
//
// Sets of characters in regular expressions, [a-z\d]: ranges and classes,
// possibly negated. What a single Set cannot express (an intersection, a
// negated set inside another) is resolved to ranges.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_TOKENIZER_CHARACTERSETS_H
#define HEDDLE_COMPILER_TOKENIZER_CHARACTERSETS_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace heddle::tok {

/// First and last code point of each range.
using Ranges = std::vector<std::pair<uint32_t, uint32_t>>;

/// The union of ranges and classes, or its complement.
struct Set {
  bool negated = false;
  Ranges ranges;
  struct Class {
    uint32_t categories, properties;
    bool negated;
  };
  std::vector<Class> classes;
};

/// The same characters in ascending order, with ranges that touch joined.
Ranges sorted(Ranges ranges);
bool contains(const Set &set, uint32_t character);
/// All characters of the set, in ascending order.
Ranges rangesOf(const Set &set);
/// The characters in both sets.
Ranges common(const Set &a, const Set &b);

/// The set that `\p{name}` means: a category, a script or another property;
/// case, blanks, `-` and `_` in names do not count. False if there is no such
/// name.
bool namedSet(const std::string &name, Set &set);
/// The set that `[:name:]` means; false if there is no such name.
bool posixSet(const std::string &name, Set &set);

// The scripts of Unicode by number, with their names and their characters. The
// last rows are properties that utf8proc lacks, too, and no scripts.
size_t scriptCount();
std::string scriptName(size_t script);
Ranges scriptRanges(size_t script);

} // namespace heddle::tok

#endif // HEDDLE_COMPILER_TOKENIZER_CHARACTERSETS_H
