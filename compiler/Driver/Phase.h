//===- Phase.h - a phase of a compilation -----------------------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_DRIVER_PHASE_H
#define HEDDLE_COMPILER_DRIVER_PHASE_H

#include "compiler/Driver/TimeReport.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/TimeProfiler.h"

namespace heddle {

/// From its construction to its destruction; told to `times` unless that is null, and to LLVM's time trace.
class Phase {
public:
  /// `kind`: what `name` is one of, for messages that say what was done when memory or time ran out ("stage").
  Phase(llvm::StringRef kind, llvm::StringRef name, TimeReport *times);
  Phase(llvm::StringRef name, TimeReport *times) : Phase("", name, times) {}
  ~Phase();
  Phase(const Phase &) = delete;
  Phase &operator=(const Phase &) = delete;

private:
  std::string kind, name;
  TimeReport *times;
  TimeReport::Usage start;
  llvm::TimeTraceScope trace;
};

} // namespace heddle

#endif
