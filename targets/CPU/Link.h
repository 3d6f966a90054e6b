//===- Link.h - objects and the runtime become one binary -------*- C++ -*-===//
#ifndef HEDDLE_TARGETS_CPU_LINK_H
#define HEDDLE_TARGETS_CPU_LINK_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace heddle::cpu {

/// `Refused`: lld reported an error. `Stopped`: it could not be started, or a signal ended it (no
/// memory, a full disk).
enum class Linked { Yes, Refused, Stopped };

/// Links `objects` and the runtime archive to the executable `output`, which needs libc and libm only.
/// lld runs as a child process, since on a full disk it dies by SIGBUS; its messages go to the file
/// `log`. `child` is called with its process id, and with 0 after it has ended. Unless `Yes` is
/// returned, `error` is the reason.
Linked link(llvm::ArrayRef<std::string> objects, llvm::StringRef runtimeArchive, llvm::StringRef output,
            llvm::StringRef log, llvm::function_ref<void(int)> child, std::string &error);

} // namespace heddle::cpu

#endif
