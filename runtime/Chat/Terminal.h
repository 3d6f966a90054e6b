//===- Terminal.h - Lines from a person or a pipe ---------------*- C++ -*-===//
//
// Where the lines of `chat` come from. At a terminal they are edited, in raw
// mode, which lasts from the prompt to Enter and is put back whatever happens:
// signals that would end or stop the program wait meanwhile, are taken as
// messages (signalfd), and act after that. Elsewhere lines are read as they
// are, without a prompt.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_CHAT_TERMINAL_H
#define HEDDLE_RUNTIME_CHAT_TERMINAL_H

#include "runtime/Chat/LineEditor.h"
#include "runtime/Core/Status.h"

#include <csignal>

namespace heddle::chat {

class Terminal {
public:
  enum class Got : uint8_t { Line, End, Interrupt };

  /// Where standard input is a terminal, blocks the signals that it takes as messages: in this thread, and in all that
  /// it starts before `open`.
  rt::Status hold();
  /// From here on signals act again, except Ctrl-C, which `interrupted` tells.
  void open();
  ~Terminal();

  /// Whether lines are edited: input and output are a terminal that can do it (TERM is not dumb).
  bool edits() const { return editing; }
  /// Whether somebody sits there: standard input is a terminal of any kind.
  bool attended() const { return messages >= 0; }
  /// Reads a line; `prompt` is shown where lines are edited. Interrupt: Ctrl-C; `line` then is what was typed.
  rt::Status read(const std::string &prompt, std::string &line, Got &got);
  /// Whether Ctrl-C was pressed since this was last asked.
  bool interrupted();
  void remember(const std::string &line) { editor.remember(line); }

private:
  rt::Status readPlain(std::string &line, Got &got);
  rt::Status readEdited(const std::string &prompt, std::string &line, Got &got);
  rt::Status more(bool &ended, int &signal);
  void block(int how, bool interrupt) const;
  void act(int signal) const;

  bool editing = false;
  int messages = -1; ///< of signals; -1: input is no terminal, and signals act at once
  sigset_t before;   ///< what was blocked when this began
  std::string ahead; ///< bytes that were read and belong to later lines
  LineEditor editor;
};

} // namespace heddle::chat

#endif // HEDDLE_RUNTIME_CHAT_TERMINAL_H
