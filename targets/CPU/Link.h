//===- Link.h - objects and the runtime become one binary -------*- C++ -*-===//
#ifndef HEDDLE_TARGETS_CPU_LINK_H
#define HEDDLE_TARGETS_CPU_LINK_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace heddle::cpu {

/// `Stopped`: it could not begin, or a signal ended it (no memory, a full disk).
enum class Linked { Yes, Refused, Stopped };

/// Links `objects` with the runtime archive into `output`; what lld says goes to the file `log` (both
/// temporaries of the caller). lld runs as a child: it dies by SIGBUS on a full disk, and that must not
/// be our death; `child` is told its process, and 0 when it has ended.
/// The result needs libc and libm, nothing else. Unless `Yes`, the reason is in `error`.
Linked link(llvm::ArrayRef<std::string> objects, llvm::StringRef runtimeArchive, llvm::StringRef output,
            llvm::StringRef log, llvm::function_ref<void(int)> child, std::string &error);

} // namespace heddle::cpu

#endif
