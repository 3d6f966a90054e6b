//===- CharacterSets.h - Sets of characters in patterns ---------*- C++ -*-===//
//
// A set is ranges and classes, perhaps all but those. Sets that cannot be said
// so (intersections, a negated set inside another) are resolved to ranges.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_TOKENIZER_CHARACTERSETS_H
#define HEDDLE_COMPILER_TOKENIZER_CHARACTERSETS_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace heddle::tok {

using Ranges = std::vector<std::pair<uint32_t, uint32_t>>;

struct Set {
  bool negated = false;
  Ranges ranges;
  struct Class {
    uint32_t categories, properties;
    bool negated;
  };
  std::vector<Class> classes;
};

/// In ascending order, none touching another.
Ranges sorted(Ranges ranges);
/// All characters of the set, in ascending order.
Ranges rangesOf(const Set &set);
/// What is in both.
Ranges common(const Set &a, const Set &b);

/// What `\p{name}` means: a category, a script or another property; case,
/// blanks, `-` and `_` do not count. False if it is unknown.
bool namedSet(const std::string &name, Set &set);
/// What `[:name:]` means.
bool posixSet(const std::string &name, Set &set);

// The table of scripts, its last rows among them that are no scripts.
size_t scriptCount();
std::string scriptName(size_t script);
Ranges scriptRanges(size_t script);

} // namespace heddle::tok

#endif // HEDDLE_COMPILER_TOKENIZER_CHARACTERSETS_H
