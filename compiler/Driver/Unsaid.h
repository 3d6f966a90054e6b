//===- Unsaid.h - what a command line leaves unsaid -------------*- C++ -*-===//
//
// A model that comes on standard input has no file, and an output that nobody named gets a
// name here; both before a command begins.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_DRIVER_UNSAID_H
#define HEDDLE_COMPILER_DRIVER_UNSAID_H

#include "compiler/Driver/Compile.h"

namespace heddle {

/// Where the path is `-`, /dev/stdin or another open descriptor, reads it to its end: the text is kept, and the
/// model is called `kStandardInput`. What it names it names from the working directory.
int readStream(const Console &console, ImportOptions &options);

/// Gives `options.output` a name in the working directory: that of the model's directory, or of its file where that
/// has a name of its own. Never the name of a directory or of a file that is no program.
int chooseOutput(const Console &console, CompileOptions &options);

} // namespace heddle

#endif
