//===- Limits.h - how long and how large a compilation may get --*- C++ -*-===//
//
// --timeout and --max-memory: when a limit is reached the process ends at once with one line, the exit code for
// resources, and nothing left behind; an older output stays as it was.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_DRIVER_LIMITS_H
#define HEDDLE_COMPILER_DRIVER_LIMITS_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>

namespace heddle {

/// Ends the process `seconds` from now, or when more than `bytes` of memory are its own (files that are only read do
/// not count). 0: no such limit. Called once, by the main thread.
void setLimits(double seconds, uint64_t bytes);
/// Lifts both limits.
void dropLimits();
/// Names what the main thread does from now on, for the message: "the stage llvm".
void nowDoing(llvm::StringRef what);
/// What was named last.
std::string whatIsDone();

} // namespace heddle

#endif
