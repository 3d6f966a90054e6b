//===- Defaults.h - what a command line leaves unsaid -----------*- C++ -*-===//
//
// What a command line leaves out, filled in before a command begins: the text of a model on standard input, the base of
// an adapter, and the name of an output that was not given.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_DRIVER_DEFAULTS_H
#define HEDDLE_COMPILER_DRIVER_DEFAULTS_H

#include "compiler/Driver/Console.h"
#include "compiler/Driver/Options.h"

namespace heddle {

/// If the path is `-`, /dev/stdin or another open descriptor, reads it to its end; the model is then called
/// `kStandardInput`, and files that it names are looked for in the working directory. Returns the exit code.
int readStream(const Console &console, ImportOptions &options);

/// If the path is a folder with a LoRA adapter and no model, and its base is found, the base becomes the path and the
/// adapter the first that is merged; a note says so.
void takeBase(const Console &console, ImportOptions &options);

/// Sets `options.output` to a name in the working directory: that of the model's directory, or of its file if that has
/// a separate name. Never a directory, and never an existing file that is no program. Returns the exit code.
int chooseOutput(const Console &console, CompileOptions &options);

} // namespace heddle

#endif
