//===- Scratch.h - the folder in which a binary is made ---------*- C++ -*-===//
//
// The folder next to the output in which a binary is made: objects, weights and the linker's output, so that the last
// step is a rename. It is removed however the compilation ends: by the destructor, or by a signal handler, which first
// ends the linker. (Only SIGKILL leaves it.)
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_DRIVER_SCRATCH_H
#define HEDDLE_COMPILER_DRIVER_SCRATCH_H

#include "llvm/ADT/StringRef.h"
#include <string>
#include <system_error>

namespace heddle {

/// At most one in a process: signal handlers know only the last.
class Scratch {
public:
  Scratch() = default;
  Scratch(const Scratch &) = delete;
  Scratch &operator=(const Scratch &) = delete;
  ~Scratch();

  /// Creates the folder beside `output`.
  std::error_code create(llvm::StringRef output);
  std::string file(llvm::StringRef name) const;

  /// The same file under a path without %, which lld takes for a place of its own choice in names of outputs.
  std::string fileForLinker(llvm::StringRef name) const;

  /// For signal handlers, and before the process is ended at once: ends the writer and removes the folder. Allocates
  /// nothing. Returns to the first caller only; the others wait for the end.
  static void leave();

  /// Does not return once a signal has begun to end the process: the folder may be gone, and what fails for that reason
  /// is not to be reported.
  static void waitIfLeaving();

  /// Tells the id of a process that writes into the folder; 0 when it has ended.
  void writer(int pid);

private:
  std::string path;
};

} // namespace heddle

#endif
