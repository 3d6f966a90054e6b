//===- Matcher.h - Patterns of the tokenizer --------------------*- C++ -*-===//
//
// Runs the programs into which the compiler translates regular expressions
// (tokenizer_format.h): backtracking on a stack of its own, so that neither
// long texts nor odd patterns exhaust the thread's stack. The number of steps
// is limited in proportion to the text; a pattern that needs more, like
// (a|aa)*b, is an error.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_TOKENIZER_MATCHER_H
#define HEDDLE_RUNTIME_TOKENIZER_MATCHER_H

#include "runtime/Tokenizer/Blob.h"

namespace heddle::rt {

struct Span {
  size_t begin, end;
};

class Matcher {
public:
  Matcher(const Blob &blob, WordReader program) : blob(blob), code(program.here()), size(program.left()) {}

  /// All matches in `text` (UTF-8) from left to right; an empty match never
  /// directly follows another one. An error if the steps are used up.
  Status findAll(std::string_view text, std::vector<Span> &spans);

private:
  /// A place to go back to: the alternative's code and the position in the
  /// text.
  struct Choice {
    size_t pc, at;
    size_t least; ///< down to here a repeat may give characters back
  };
  /// Matches the code at `pc` from `at`; `end` becomes where the match ends.
  /// `stop`: where it has to end, or npos. `depth`: look-arounds within
  /// look-arounds.
  bool match(std::string_view text, size_t pc, size_t at, size_t &end, unsigned depth,
             size_t stop = std::string_view::npos);
  bool standsBefore(std::string_view text, size_t pc, size_t at, unsigned depth);
  bool inWord(std::string_view text) const;
  bool contains(size_t set, uint32_t c) const;
  uint32_t word(size_t at) const { return at < size ? code[at] : 0; }

  const Blob &blob;
  const uint32_t *code;
  size_t size;
  std::vector<Choice> choices; ///< of all nested calls of `match`
  static constexpr uint64_t kFreeSteps = 10000000;
  uint64_t steps = kFreeSteps; ///< left for all texts together
};

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_TOKENIZER_MATCHER_H
