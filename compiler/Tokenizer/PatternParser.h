//===- PatternParser.h - Regular expressions as trees -----------*- C++ -*-===//
//
// Regular expressions as trees, between the text of a pattern and its program.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_TOKENIZER_PATTERNPARSER_H
#define HEDDLE_COMPILER_TOKENIZER_PATTERNPARSER_H

#include "compiler/Tokenizer/CharacterSets.h"

#include <memory>

namespace heddle::tok {

/// A node of the tree; which fields count depends on the kind.
struct Node {
  enum Kind {
    Empty,
    One,    ///< one character of `set`
    Chain,  ///< children one after the other
    Choice, ///< the first child that matches
    Loop,   ///< `least` to `most` times the child
    Ahead,  ///< look-ahead: the child matches here, or not (`negated`)
    Behind, ///< look-behind: the child matches up to here, or not
    Atomic, ///< the child; its alternatives are not tried again
    LineStart,
    LineEnd,
    TextStart,
    TextEnd,
    LastLineEnd, ///< the end of the text, or a line feed there
    WordEdge
  } kind = Empty;
  Set set;
  std::vector<std::unique_ptr<Node>> children;
  uint32_t least = 0, most = 0;
  bool lazy = false, possessive = false, negated = false;

  /// Whether it can match the empty text.
  bool nullable() const;
  /// The fewest and the most characters of a match; kNoLimit if there is no
  /// most.
  void length(uint64_t &fewest, uint64_t &most) const;
};

constexpr uint32_t kNoLimit = 0xffffffff;

/// Parses a pattern (UTF-8); null with `error`, which says what is wrong and
/// where.
std::unique_ptr<Node> parsePattern(const std::string &pattern, std::string &error);

} // namespace heddle::tok

#endif // HEDDLE_COMPILER_TOKENIZER_PATTERNPARSER_H
