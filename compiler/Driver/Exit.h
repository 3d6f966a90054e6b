//===- Exit.h - the ways out of the process ---------------------*- C++ -*-===//
//
// A command returns its exit code. What would end the process without returning, no memory, a
// file past its limit, LLVM's own fatal errors, is made to end with a message and a code of the
// same table, and takes the temporaries with it.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_DRIVER_EXIT_H
#define HEDDLE_COMPILER_DRIVER_EXIT_H

#include "compiler/Driver/Compile.h"
#include <initializer_list>
#include <system_error>

namespace heddle {

/// Once, before anything else. A write past the limit of a file (SIGXFSZ) is from here on an error of that
/// write, in the linker too, which inherits it.
void guardExits();

/// Ends the process from wherever it is, a signal handler too: writes the pieces of text, removes temporaries.
[[noreturn]] void endAtOnce(ExitCode code, std::initializer_list<const char *> text);

/// The last thing: what was printed has arrived, or it is said that it has not. Returns the exit code.
int finish(const Console &console, int code);

/// No memory, a full disk, too many files: `Resources`. All else that a system call says: `IOError`.
ExitCode exitCodeOf(std::error_code ec);
/// Whether a text of another program speaks of such a lack.
bool speaksOfResources(llvm::StringRef text);

} // namespace heddle

#endif
