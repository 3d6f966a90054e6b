//===- TextOut.h - A text as it is made ---------------------------*- C++
//-*-===//
//
// From ids to what may be shown of them: never half a character, never the eos,
// never a stop text nor anything that may yet become one. The time is that of
// the new ids alone, however long the text.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_TEXTOUT_H
#define HEDDLE_RUNTIME_TEXTOUT_H

#include "runtime/Card.h"
#include "runtime/Tokenizer/Tokenizer.h"

namespace heddle::rt {

class TextOut {
public:
  /// `before`: the ids that what comes continues; they are not shown.
  TextOut(const Tokenizer &tokenizer, const Roles &roles,
          std::vector<std::string> stops, const std::vector<int64_t> &before);

  /// One id more. Returns what can be shown now.
  std::string add(int64_t id);
  /// Whether a stop text is complete; nothing is shown any more.
  bool stopped() const { return isStopped; }
  /// What was held back until the end.
  std::string finish();

private:
  std::string show(bool all);

  const Tokenizer &tokenizer;
  const Roles &roles;
  std::vector<std::string> stops;
  Decoding decoding;
  std::string unshown;  ///< what is decoded and not shown yet
  size_t hidden = 0;    ///< bytes of `before` that are still to be decoded
  bool isStopped = false;
};

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_TEXTOUT_H
