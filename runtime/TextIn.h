//===- TextIn.h - The texts of a command line -------------------*- C++ -*-===//
//
// A lone `-` among the words stands for all of standard input, or with --lines
// for one line of it after another.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_TEXTIN_H
#define HEDDLE_RUNTIME_TEXTIN_H

#include "runtime/Status.h"

#include <functional>

namespace heddle::rt {

using Texts = std::vector<std::string>;

/// Hands the texts to `answer`, with `-` replaced by standard input, without
/// the line's end after the last line. With `lines` once for every line, which
/// errors then name; no text at all means `-`.
Status forEachText(Texts texts, bool lines,
                   const std::function<Status(const Texts &, int64_t line)> &answer);

/// A mistake of the command line: no text where one is needed.
Status missingText(const char *what);

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_TEXTIN_H
