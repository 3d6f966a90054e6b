//===- Matcher.h - Patterns of the tokenizer ----------------------*- C++
//-*-===//
//
// The compiler turned every regular expression into a small program; this runs
// it: backtracking with a stack of its own, so neither long texts nor odd
// patterns can exhaust the machine's. A text has a number of steps in proportion
// to its length; a pattern that needs more, like (a|aa)*b, is refused.
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
  Matcher(const Blob &blob, WordReader program)
      : blob(blob), code(program.here()), size(program.left()) {}

  /// All matches from left to right; an empty one never right after another.
  /// `text` is UTF-8.
  Status findAll(std::string_view text, std::vector<Span> &spans);

private:
  struct Choice {
    size_t pc, at;
    size_t least; ///< a repeat may give back characters down to here
  };
  /// `stop`: where the match has to end, or npos.
  bool match(std::string_view text, size_t pc, size_t at, size_t &end,
             unsigned depth, size_t stop = std::string_view::npos);
  bool standsBefore(std::string_view text, size_t pc, size_t at,
                    unsigned depth);
  bool inWord(std::string_view text) const;
  bool contains(size_t set, uint32_t c) const;
  uint32_t word(size_t at) const { return at < size ? code[at] : 0; }

  const Blob &blob;
  const uint32_t *code;
  size_t size;
  std::vector<Choice> choices; ///< of all nested calls, one above the other
  static constexpr uint64_t kFreeSteps = 10000000;
  uint64_t steps = kFreeSteps; ///< that are left for all texts together
};

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_TOKENIZER_MATCHER_H
