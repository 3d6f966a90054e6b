//===- TerminalProgress.h - What a person at a terminal sees of waiting ---===//
//
// A command that takes longer than a second says on a terminal what it is doing
// and for how long. The line is erased before anything else is printed, and at
// the end. Where standard error is no terminal, and with -q, nothing is shown.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_CORE_TERMINALPROGRESS_H
#define HEDDLE_RUNTIME_CORE_TERMINALPROGRESS_H

namespace heddle::rt {

/// A thread draws the line while this lives; one at a time.
class TerminalProgress {
public:
  TerminalProgress();
  ~TerminalProgress();
  TerminalProgress(const TerminalProgress &) = delete;
  TerminalProgress &operator=(const TerminalProgress &) = delete;

  /// What is done from here on, as printf prints it: "token %d of at most %d". Any thread may say it; nothing happens
  /// where no line is drawn.
  static void say(const char *pattern, ...) __attribute__((format(printf, 1, 2)));

  /// While it lives the line is erased: for those who write to standard error, or to standard output where that is a
  /// terminal.
  class Erased {
  public:
    /// `endsLine`: what is written ends with a newline. Otherwise no line is drawn until something does.
    explicit Erased(bool endsLine = true);
    ~Erased();
    Erased(const Erased &) = delete;
    Erased &operator=(const Erased &) = delete;
  };
};

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_CORE_TERMINALPROGRESS_H
