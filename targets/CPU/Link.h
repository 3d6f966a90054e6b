//===- Link.h - objects and the runtime become one binary -------*- C++ -*-===//
#ifndef HEDDLE_TARGETS_CPU_LINK_H
#define HEDDLE_TARGETS_CPU_LINK_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace heddle::cpu {

/// Links `objects` with the runtime archive into `output` (a temporary of the caller). lld
/// runs as a child: it dies by SIGBUS on a full disk, and that must not be our death.
/// The result needs libc and libm, nothing else. False with the reason in `error`.
bool link(llvm::ArrayRef<std::string> objects, llvm::StringRef runtimeArchive,
          llvm::StringRef output, std::string &error);

} // namespace heddle::cpu

#endif
