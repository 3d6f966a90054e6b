//===- TerminalStream.h - standard output, at a terminal --------*- C++ -*-===//
//
// Tokens, templates and names may hold escape sequences, on which a terminal would act. It gets them written out
// (`\u001b`); pipes and files get the bytes, from the stream beneath.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_DRIVER_TERMINALSTREAM_H
#define HEDDLE_COMPILER_DRIVER_TERMINALSTREAM_H

#include "compiler/Driver/ProgressLine.h"
#include "heddle/terminal_output.h"
#include "llvm/Support/raw_ostream.h"

namespace heddle {

/// Writes to a stream what a terminal may be sent.
class TerminalStream final : public llvm::raw_ostream {
public:
  explicit TerminalStream(llvm::raw_fd_ostream &beneath) : beneath(beneath) {}
  ~TerminalStream() override {
    flush();
    beneath << text.finish();
  }

private:
  llvm::raw_fd_ostream &beneath;
  rt::TerminalText text;

  void write_impl(const char *bytes, size_t size) override {
    ProgressLine::erase();
    beneath << text.add({bytes, size});
    beneath.flush();
  }
  uint64_t current_pos() const override { return beneath.tell(); }
};

} // namespace heddle

#endif // HEDDLE_COMPILER_DRIVER_TERMINALSTREAM_H
