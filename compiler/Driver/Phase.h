//===- Phase.h - where time and memory of a compilation go ------*- C++ -*-===//
//
// `--time`: one line a phase as it ends (wall clock, CPU of all threads, peak memory so far). The line of code
// generation is followed by one a function, indented.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_DRIVER_PHASE_H
#define HEDDLE_COMPILER_DRIVER_PHASE_H

#include "targets/Host/CodeGen.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>

namespace heddle {

/// From its construction to its destruction; prints its line to `say` unless that is null.
class Phase {
public:
  /// `kind`: what `name` is one of, for messages that say what was done when memory or time ran out ("stage").
  Phase(llvm::StringRef kind, llvm::StringRef name, llvm::raw_ostream *say);
  Phase(llvm::StringRef name, llvm::raw_ostream *say) : Phase("", name, say) {}
  ~Phase();
  Phase(const Phase &) = delete;
  Phase &operator=(const Phase &) = delete;

private:
  std::string name;
  llvm::raw_ostream *say;
  std::chrono::steady_clock::time_point start;
  double cpuAtStart;
};

/// The functions with the CPU time and the bytes of their objects, the slowest first.
void printFunctions(llvm::raw_ostream &os, llvm::ArrayRef<host::CodePart> parts);

} // namespace heddle

#endif
