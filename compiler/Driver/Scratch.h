//===- Scratch.h - the folder in which a binary is made ---------*- C++ -*-===//
//
// Objects, weights and the linker's output lie in one folder beside the output, so that the
// last step is a rename. However the compilation ends, the folder goes: by the destructor, or
// by a signal, which first ends the linker. (SIGKILL alone leaves it.)
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_DRIVER_SCRATCH_H
#define HEDDLE_COMPILER_DRIVER_SCRATCH_H

#include "llvm/ADT/StringRef.h"
#include <string>
#include <system_error>

namespace heddle {

/// One at a time in a process: the signal handlers know only the last.
class Scratch {
public:
  Scratch() = default;
  Scratch(const Scratch &) = delete;
  Scratch &operator=(const Scratch &) = delete;
  ~Scratch();

  /// Makes it beside `output`.
  std::error_code create(llvm::StringRef output);
  std::string file(llvm::StringRef name) const;

  /// Where no destructor will run: ends the writer and removes the folder. Allocates nothing.
  static void leave();

  /// A process that writes into the folder; 0 when it has ended.
  void writer(int pid);

private:
  std::string path;
};

} // namespace heddle

#endif
