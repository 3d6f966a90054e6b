//===- Decoding.h - Pieces to text, one after the other ---------*- C++ -*-===//
//
// The decoder: a chain of stages that rewrite pieces; the text is what leaves
// the last one. Each stage hands on at once what no later piece can change, and
// keeps the rest: a run of bytes that may become a character, a mark that is a
// blank only between two words. So a text can be printed while it is generated,
// with the same bytes as if it were decoded at the end.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_TOKENIZER_DECODING_H
#define HEDDLE_RUNTIME_TOKENIZER_DECODING_H

#include "runtime/Tokenizer/Matcher.h"

#include <optional>
#include <string>
#include <vector>

namespace heddle::rt {

/// The decoding of one text. It can be copied, and the copy finished, to see
/// what the text would be if it ended here.
class Decoding {
public:
  /// Reads the stages of the blob, which must outlive this.
  explicit Decoding(const Blob &blob);

  /// Decodes the next piece; appends to `text` what is certain, which may end
  /// within a character.
  void add(std::string_view piece, std::string &text);
  /// Ends the text: appends what was kept.
  void finish(std::string &text);

private:
  struct Stage {
    uint32_t kind;
    std::string_view from, to;      ///< what is replaced, and by what
    bool flag = false;              ///< clean blanks up; drop the first marks
    uint32_t left = 0, right = 0;   ///< marks to strip
    std::optional<Matcher> matcher; ///< for a pattern
    // The state of the text:
    bool first = true;    ///< no piece has ended yet
    bool inside = false;  ///< a piece has begun and not ended
    std::string whole;    ///< its parts so far, for stages that need it whole
    std::string kept;     ///< text that a later piece may still change
    bool keeps = false;   ///< `kept` is valid, even if it is ""
    uint32_t dropped = 0; ///< marks stripped at the left of this piece
  };

  /// Gives a part of a piece to stage `at`, or to `out` after the last one;
  /// `ends`: it is the last part of the piece.
  void part(size_t at, std::string_view text, bool ends, std::string &out);
  void piece(size_t at, std::string text, std::string &out);
  void end(size_t at, std::string &out);
  void replace(size_t at, std::string_view text, bool ends, std::string_view to, std::string &out);
  void strip(size_t at, std::string_view text, bool ends, std::string &out);
  void flushBytes(size_t at, std::string &out);

  std::vector<Stage> stages;
};

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_TOKENIZER_DECODING_H
