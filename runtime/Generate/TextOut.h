//===- TextOut.h - A text as it is made -------------------------*- C++ -*-===//
//
// From ids to text that can be printed at once: never half a character, never
// an eos, never a stop text or what may become one. The time is in proportion
// to the new ids, however long the text is.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_GENERATE_TEXTOUT_H
#define HEDDLE_RUNTIME_GENERATE_TEXTOUT_H

#include "runtime/Core/Card.h"
#include "runtime/Tokenizer/Tokenizer.h"

#include <map>

namespace heddle::rt {

/// Where the last whole character of `text` ends.
size_t wholeCharacters(std::string_view text);

class TextOut {
public:
  /// `before`: the prompt's ids, which are decoded with the new ones but not
  /// returned. `stops`: texts at which the output ends. They may name special
  /// tokens, which are not printed and end it all the same.
  TextOut(const Tokenizer &tokenizer, const Roles &roles, std::vector<std::string> stops,
          const std::vector<int64_t> &before);

  /// Takes the next id; returns the text that can be printed now. `mayStop`: a
  /// stop text ends the output already.
  std::string add(int64_t id, bool mayStop = true);
  /// Whether a stop text is complete; from then on `add` returns "".
  bool stopped() const { return isStopped; }
  /// The end of the text: returns what was held back.
  std::string finish();

private:
  std::string show(bool all, bool mayStop = true);
  void markSpecial();

  const Tokenizer &tokenizer;
  const Roles &roles;
  std::vector<std::string> stops;
  std::map<int64_t, std::string> marks; ///< of special tokens that stops name: what stands for them in `unshown`
  Decoding decoding;
  std::string unshown; ///< decoded, but held back
  size_t hidden = 0;   ///< bytes of `before` that are still to be dropped
  bool isStopped = false;
};

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_GENERATE_TEXTOUT_H
