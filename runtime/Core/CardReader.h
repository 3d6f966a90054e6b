//===- CardReader.h - Lines and words of a card -----------------*- C++ -*-===//
//
// Cuts the text of a card into lines and a line into words, and reads a word as
// a text, a number or a form. What a line means is said in CardParser.h.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_CORE_CARDREADER_H
#define HEDDLE_RUNTIME_CORE_CARDREADER_H

#include "runtime/Core/Form.h"

namespace heddle::rt {

class CardReader {
public:
  explicit CardReader(const char *text) : rest(text) {}

  /// Goes to the next line; false at the end of the text.
  bool nextLine();
  /// The text after this line.
  std::string_view unread() const { return rest; }
  /// The next word of the line, "" at its end.
  std::string_view word();
  /// All that is left of the line, without blanks around it.
  std::string_view remaining();
  /// What follows the `#` of the line.
  std::string_view comment() const { return behind; }

  // Each of these reads the next word; false where it is not what is asked for.
  bool is(std::string_view expected) { return word() == expected; }
  bool integer(int64_t &to, int64_t least, int64_t most = INT64_MAX);
  bool number(double &to);
  bool text(std::string &to) { return text(word(), to); }
  /// The text that `spelled` stands for.
  static bool text(std::string_view spelled, std::string &to);
  /// Appends all texts that the rest of the line is.
  bool texts(std::vector<std::string> &to);
  /// Reads a form over `dims`; `fail` says what is wrong with it.
  bool form(std::string_view spelled, const std::vector<std::string> &dims, Form &to);

  /// Notes why the line is wrong, if that is not plain from what it should be. Returns false.
  bool fail(std::string why);
  /// The error of this line, which should be as `expected` says where no reason was noted.
  Status error(std::string_view expected) const;

protected:
  std::string_view line; ///< what is left of it; no blanks at its end

private:
  std::string_view rest, behind;
  std::string reason;
  int lines = 0;
};

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_CORE_CARDREADER_H
