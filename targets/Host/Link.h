//===- Link.h - objects and the runtime become one binary -------*- C++ -*-===//
#ifndef HEDDLE_TARGETS_HOST_LINK_H
#define HEDDLE_TARGETS_HOST_LINK_H

#include "targets/Host/Architectures.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <string>
#include <vector>

namespace heddle::host {

/// `Refused`: lld reported an error. `Stopped`: it could not be started, or a signal ended it (no
/// memory, a full disk). `Unreadable`: a file that it needs cannot be read.
enum class Linked { Yes, Refused, Stopped, Unreadable };

/// A file next to the archives of a runtime, one directory a line: where the compiler that built them has its start
/// files and libraries. The linker is called directly, without a compiler driver.
constexpr llvm::StringLiteral kLinkDirs = "libheddle.dirs";
/// A file next to archives that were built with sanitizers (compiler/cmake/Sanitizers.cmake): the options of the linker
/// that these need, one a line. Programs then keep their symbols, for reports.
constexpr llvm::StringLiteral kLinkSanitizers = "libheddle.sanitizers";
/// The path of a file of a runtime.
std::string runtimeFile(llvm::StringRef folder, llvm::StringRef name);

/// The program that links.
llvm::StringRef linkerPath();
/// The words with which it links `objects` and archives of the runtime in `folder` to the executable `output` of the
/// architecture, which needs libc and libm only. `keepSymbols`: it keeps them, and what is for debuggers. Empty with
/// `error`: a file that it needs cannot be read.
std::vector<std::string> linkLine(const Architecture &architecture, llvm::ArrayRef<std::string> objects,
                                  llvm::StringRef folder, llvm::StringRef output, bool keepSymbols, std::string &error);
/// Runs lld with these words as a child process, since on a full disk it dies by SIGBUS; its messages go to the file
/// `log`. `child` is called with its process id, and with 0 after it has ended. Unless `Yes` is returned, `error` is
/// the reason; that of an empty line stays.
Linked link(llvm::ArrayRef<std::string> line, llvm::StringRef log, llvm::function_ref<void(int)> child,
            std::string &error);

} // namespace heddle::host

#endif
