//===- nearest.h - Which name was meant --------------------------*- C++ -*-===//
//
// "Did you mean": the nearest of a list of names, for the compiler and for
// compiled models. Edits are an inserted, deleted or replaced letter and two
// letters exchanged; case and leading dashes do not count.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_NEAREST_H
#define HEDDLE_RUNTIME_NEAREST_H

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

/// A name in lower case, without leading dashes.
inline std::string comparedName(std::string_view name) {
  name.remove_prefix(std::min(name.find_first_not_of('-'), name.size()));
  std::string plain(name);
  for (char &c : plain)
    if (c >= 'A' && c <= 'Z')
      c = char(c - 'A' + 'a');
  return plain;
}

/// The number of edits from `a` to `b`, no letter being edited twice (optimal
/// string alignment); most + 1 if it is more than `most`.
inline size_t editDistance(std::string_view a, std::string_view b, size_t most) {
  std::vector<size_t> before, last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    before = last;
    last = row;
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j - 1] + (a[i - 1] != b[j - 1]), last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    if (std::min(*std::min_element(row.begin(), row.end()), *std::min_element(last.begin(), last.end())) > most)
      return most + 1;
  }
  return row[b.size()];
}

/// The name in `known` that `name` was probably meant to be, or "". At most a
/// third of the longer one may differ, and never all of the shorter one; or one
/// of them is the beginning of the other.
template <typename Names> std::string nearestName(std::string_view name, const Names &known) {
  // Names so long come only from hostile files, and the distance is quadratic.
  constexpr size_t kLongest = 200;
  if (name.size() > kLongest)
    return "";
  std::string wanted = comparedName(name);
  std::string_view best;
  size_t bestDistance = kLongest + 1;
  for (std::string_view candidate : known) {
    if (candidate.size() > kLongest || candidate == name)
      continue;
    std::string plain = comparedName(candidate);
    size_t shorter = std::min(wanted.size(), plain.size());
    size_t longer = std::max(wanted.size(), plain.size());
    bool begins = shorter >= 4 && wanted.compare(0, shorter, plain, 0, shorter) == 0;
    size_t most = std::max<size_t>(1, longer / 3);
    if (!begins && longer - shorter > most)
      continue;
    size_t distance = begins ? longer - shorter : editDistance(wanted, plain, most);
    bool close = distance == 0 || (distance <= most && distance < shorter);
    if ((close || begins) && distance < bestDistance) {
      bestDistance = distance;
      best = candidate;
    }
  }
  return std::string(best);
}

} // namespace heddle

#endif // HEDDLE_RUNTIME_NEAREST_H
