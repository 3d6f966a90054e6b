//===- terminal_output.h - What a terminal is shown -------------*- C++ -*-===//
//
// Texts of a model, its tokens and its labels may hold escape sequences. A
// terminal would act on them, so it gets them written out (`\u001b`); pipes and
// files get the bytes.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_INCLUDE_HEDDLE_TERMINAL_OUTPUT_H
#define HEDDLE_RUNTIME_INCLUDE_HEDDLE_TERMINAL_OUTPUT_H

#include <string>
#include <string_view>

namespace heddle::rt {

/// Writes a text that arrives in pieces, which may end within a character.
class TerminalText {
public:
  /// What a terminal is to be sent for `bytes`: ends of lines and tabs as they
  /// are, everything else that it would act on escaped, as are bytes that are no
  /// UTF-8.
  std::string add(std::string_view bytes);
  /// The same for what is left of a character that never became whole.
  std::string finish();

private:
  std::string begun; ///< the first bytes of a character
};

/// From here on stdout escapes, where it is a terminal.
void escapeOnTerminal();

/// Flushes stdout, with what `TerminalText` still holds; false after an error
/// (errno).
bool flushTerminal();

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_INCLUDE_HEDDLE_TERMINAL_OUTPUT_H
