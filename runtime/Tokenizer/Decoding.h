//===- Decoding.h - Pieces to text, one after the other -----------*- C++
//-*-===//
//
// A decoder is a row of stages that rewrite pieces, and its text is what comes
// out of the last. Each stage hands on at once what nothing that follows can
// change, and keeps the rest: a run of bytes that may become characters, the
// mark that is a blank only between two words. So a text is decoded as it is
// made, with the bytes that all of its pieces have together.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_TOKENIZER_DECODING_H
#define HEDDLE_RUNTIME_TOKENIZER_DECODING_H

#include "runtime/Tokenizer/Matcher.h"

#include <optional>
#include <string>
#include <vector>

namespace heddle::rt {

/// One text on its way. A copy goes on by itself: what it would be if it ended
/// here is asked of a copy.
class Decoding {
public:
  /// With the stages of the blob, which has to outlive it.
  explicit Decoding(const Blob &blob);

  /// One piece more. Appends to `text` what can be said now; it may end with
  /// half a character.
  void add(std::string_view piece, std::string &text);
  /// No piece follows: appends the rest.
  void finish(std::string &text);

private:
  struct Stage {
    uint32_t kind;
    std::string_view from, to;      ///< what is looked for, what it becomes
    bool flag = false;              ///< clean up blanks; drop the first marks
    uint32_t left = 0, right = 0;   ///< marks to strip
    std::optional<Matcher> matcher; ///< of a pattern
    // What has come so far:
    bool first = true;   ///< no piece has ended yet
    bool inside = false; ///< a part of a piece, and not its end
    std::string whole;   ///< that part, where a piece is needed as a whole
    std::string kept;    ///< what may still become something else
    bool keeps = false;  ///< there is something in `kept`, be it ""
    uint32_t dropped = 0; ///< marks stripped at the left of this piece
  };

  /// A part of a piece comes to a stage, or to the text behind the last one;
  /// `ends`: the piece ends with it.
  void part(size_t at, std::string_view text, bool ends, std::string &out);
  void piece(size_t at, std::string text, std::string &out);
  void end(size_t at, std::string &out);
  void replace(size_t at, std::string_view text, bool ends,
               std::string_view to, std::string &out);
  void strip(size_t at, std::string_view text, bool ends, std::string &out);
  void flushBytes(size_t at, std::string &out);

  std::vector<Stage> stages;
};

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_TOKENIZER_DECODING_H
