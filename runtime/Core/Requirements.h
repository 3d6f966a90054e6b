//===- Requirements.h - What the lengths of a call must be -----------*- C++ -*-===//
//
// Some ops have a meaning at some lengths alone: row 7 of an axis T, a filter of 5 taps over T rows. The compiler
// writes each such condition into the card, and every call of an entry is checked against them before anything runs.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_CORE_REQUIREMENTS_H
#define HEDDLE_RUNTIME_CORE_REQUIREMENTS_H

#include "runtime/Core/Form.h"

#include <functional>

namespace heddle::rt {

struct Entry;
struct Value;

/// A line `require` of the card.
struct Requirement {
  Form left, right;
  bool differ = false; ///< left != right in place of left >= right
  std::string op,
      place; ///< the op that asks, and its token in the description: "slice", "model.json:12:5"; for messages
  std::string without = ""; ///< an input: only where it is left out; "": always

  /// Reads `FORM >=|!= FORM at OP PLACE [without INPUT]`; errors name what was expected.
  static Status parse(std::string_view text, const std::vector<std::string> &dims, Requirement &requirement);
};

/// An error unless a call of `entry` with `dims` has lengths that all of its ops take. `isGiven`: whether the caller
/// gives an input, in place of its default.
Status checkLengths(const Entry &entry, const std::vector<int64_t> &dims,
                    const std::function<bool(const Value &)> &isGiven);

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_CORE_REQUIREMENTS_H
