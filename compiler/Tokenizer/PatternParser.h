//===- PatternParser.h - Regular expressions as trees --------------*- C++
//-*-===//
//
// The tree between the text of a pattern and its program.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_TOKENIZER_PATTERNPARSER_H
#define HEDDLE_COMPILER_TOKENIZER_PATTERNPARSER_H

#include "compiler/Tokenizer/CharacterSets.h"

#include <memory>

namespace heddle::tok {

struct Node {
  enum Kind {
    Empty,
    One,    ///< a character out of `set`
    Chain,  ///< children one after the other
    Choice, ///< the first child that works
    Loop,   ///< `least` to `most` times the child
    Ahead,  ///< the child follows, or does not (`negated`)
    Behind, ///< the child stands before, or does not
    Atomic, ///< the child, once and for all
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

  /// Whether it can match nothing.
  bool nullable() const;
  /// The fewest and the most characters that it matches; kNoLimit for no most.
  void length(uint64_t &fewest, uint64_t &most) const;
};

constexpr uint32_t kNoLimit = 0xffffffff;

/// Null: `error` says why and where.
std::unique_ptr<Node> parsePattern(const std::string &pattern,
                                   std::string &error);

} // namespace heddle::tok

#endif // HEDDLE_COMPILER_TOKENIZER_PATTERNPARSER_H
