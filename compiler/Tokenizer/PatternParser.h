//===- PatternParser.h - Regular expressions as trees --------------*- C++
//-*-===//
//
// The tree between the text of a pattern and its program.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_TOKENIZER_PATTERNPARSER_H
#define HEDDLE_COMPILER_TOKENIZER_PATTERNPARSER_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace heddle::tok {

struct Set {
  bool negated = false;
  std::vector<std::pair<uint32_t, uint32_t>> ranges;
  struct Class {
    uint32_t categories, properties;
    bool negated;
  };
  std::vector<Class> classes;
};

struct Node {
  enum Kind {
    Empty,
    One,    ///< a character out of `set`
    Chain,  ///< children one after the other
    Choice, ///< the first child that works
    Loop,   ///< `least` to `most` times the child
    Ahead,  ///< the child follows, or does not (`negated`)
    Atomic, ///< the child, once and for all
    LineStart,
    LineEnd
  } kind = Empty;
  Set set;
  std::vector<std::unique_ptr<Node>> children;
  uint32_t least = 0, most = 0;
  bool lazy = false, possessive = false, negated = false;

  /// Whether it can match nothing.
  bool nullable() const;
};

/// Null: `error` says why and where.
std::unique_ptr<Node> parsePattern(const std::string &pattern,
                                   std::string &error);

} // namespace heddle::tok

#endif // HEDDLE_COMPILER_TOKENIZER_PATTERNPARSER_H
