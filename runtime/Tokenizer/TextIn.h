//===- TextIn.h - The texts of a command line -------------------*- C++ -*-===//
//
// The texts of a command line. A lone `-` stands for all of standard input, or
// with --lines for one line of it after the other.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_TOKENIZER_TEXTIN_H
#define HEDDLE_RUNTIME_TOKENIZER_TEXTIN_H

#include "runtime/Core/Status.h"

#include <functional>

namespace heddle::rt {

using Texts = std::vector<std::string>;

/// Calls `answer` with the texts, `-` replaced by standard input without its
/// last line feed. With `lines` it is called once for every line, as it is
/// read, and errors name the line; no text at all means `-`.
Status forEachText(Texts texts, bool lines, const std::function<Status(const Texts &, int64_t line)> &answer);

/// The usage error of a missing text; `what` says which.
Status missingText(const char *what);

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_TOKENIZER_TEXTIN_H
