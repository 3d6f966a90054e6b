//===- Limits.h - how long and how large a compilation may get --*- C++ -*-===//
//
// `--timeout` and `--max-memory`: either ends the process at once with one line, the exit code for resources
// and nothing left behind; an older output stays as it was.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_DRIVER_LIMITS_H
#define HEDDLE_COMPILER_DRIVER_LIMITS_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace heddle {

/// The process ends `seconds` from now, and when it has more than `bytes` of its own in memory (files that are
/// only read do not count). 0: no such limit. Called once, by the thread that does the work.
void setLimits(double seconds, uint64_t bytes);
/// Nothing ends the process any more.
void dropLimits();
/// What that thread does from here on, for the message: "the stage llvm".
void nowDoing(llvm::StringRef what);

} // namespace heddle

#endif
