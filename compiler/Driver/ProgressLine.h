//===- ProgressLine.h - what a person sees of waiting ---------------*- C++ -*-===//
//
// A command that takes longer than a second says on a terminal what it is doing: the phase, of weights how many bytes
// are written, and how long they will take. The line is erased before anything else is printed, and at the end. Where
// standard error is no terminal, nothing is shown.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_DRIVER_PROGRESSLINE_H
#define HEDDLE_COMPILER_DRIVER_PROGRESSLINE_H

#include "llvm/Support/raw_ostream.h"
#include <cstdint>
#include <memory>

namespace heddle {

/// Shows the line while it lives; one at a time. The work is named by nowDoing (Limits.h).
class ProgressLine {
public:
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine &) = delete;
  ProgressLine &operator=(const ProgressLine &) = delete;

  /// How much of the present phase is done.
  static void bytes(uint64_t done, uint64_t all);
  /// Erases the line until it is drawn again; may be called by any thread, also where there is none.
  static void erase();

private:
  struct State;
  std::unique_ptr<State> state;
};

/// Messages at a terminal where progress is shown.
class MessageStream final : public llvm::raw_ostream {
public:
  explicit MessageStream(llvm::raw_fd_ostream &beneath) : raw_ostream(/*unbuffered=*/true), beneath(beneath) {}

private:
  llvm::raw_fd_ostream &beneath;

  void write_impl(const char *bytes, size_t size) override {
    ProgressLine::erase();
    beneath.write(bytes, size);
  }
  uint64_t current_pos() const override { return beneath.tell(); }
};

} // namespace heddle

#endif // HEDDLE_COMPILER_DRIVER_PROGRESSLINE_H
