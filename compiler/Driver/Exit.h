//===- Exit.h - the ways out of the process ---------------------*- C++ -*-===//
//
// How the process ends. A command returns its exit code. What would end the process without returning (no memory, a
// file beyond its limit, a fatal error of LLVM) ends it with a message, a code of the same table, and without
// temporaries.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_DRIVER_EXIT_H
#define HEDDLE_COMPILER_DRIVER_EXIT_H

#include "compiler/Driver/Console.h"
#include "compiler/Import/Json/Diagnostics.h"
#include <initializer_list>
#include <system_error>

namespace heddle {

/// Installs the handlers; called once, first. From then on a write beyond a file-size limit (SIGXFSZ) is an error of
/// that write, also in the linker, which inherits it.
void guardExits();

/// Prints the pieces of text, removes temporaries and ends the process; may be called anywhere, also in a signal
/// handler.
[[noreturn]] void endAtOnce(Error error, std::initializer_list<const char *> text);

/// The same for an allocation that failed.
[[noreturn]] void endWithoutMemory();

/// Flushes the console, and `output`, where its results go, at the end of a command; returns `code`, or the code of the
/// error that it printed.
int finish(const Console &console, llvm::raw_fd_ostream &output, int code);

/// Called last, with standard error: messages that nobody could be told (it is closed, the disk is full) change no
/// exit code.
void dropUnheard(llvm::raw_fd_ostream &messages);

/// The status of what failed: that of its gravest error; where nothing was said, that of a mistake of ours.
int failedWith(const DiagnosticSink &sink);

/// The system's error `ec` as one of ours, in reading (`CannotRead`) or in writing (`CannotWrite`): no memory and too
/// many files are `NoResources`, a full disk is `DiskFull`.
Error errorOf(std::error_code ec, Error otherwise);
/// Whether the message of another program (the linker) is about such a lack.
bool speaksOfResources(llvm::StringRef text);

} // namespace heddle

#endif
