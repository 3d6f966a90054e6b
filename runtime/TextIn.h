//===- TextIn.h - The texts of a command line -------------------*- C++ -*-===//
//
// A lone `-` among the words stands for what comes on standard input.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_TEXTIN_H
#define HEDDLE_RUNTIME_TEXTIN_H

#include "runtime/Status.h"

namespace heddle::rt {

/// Replaces the `-` in `texts`; the line's end after the last line goes.
Status readStandardInput(std::vector<std::string> &texts);

/// A mistake of the command line: no text where one is needed.
Status missingText(const char *what);

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_TEXTIN_H
