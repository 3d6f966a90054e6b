//===- Pattern.h - Regular expressions to matcher programs ------*- C++ -*-===//
//
// Regular expressions compiled to programs for the runtime's matcher. The
// patterns of published tokenizers are written for Oniguruma. This reads the
// part of its syntax that they use and refuses anything else by name, since a
// pattern that is misread would give wrong ids without any error.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_TOKENIZER_PATTERN_H
#define HEDDLE_COMPILER_TOKENIZER_PATTERN_H

#include "compiler/Tokenizer/Words.h"

namespace heddle::tok {

/// Compiles `pattern` (UTF-8) and appends the program to `words`, where it must
/// be the end of a stage. False with `error`, which names the place.
bool compilePattern(const std::string &pattern, Words &words, std::string &error);

/// The pattern that matches `text` and nothing else.
std::string escapePattern(const std::string &text);

} // namespace heddle::tok

#endif // HEDDLE_COMPILER_TOKENIZER_PATTERN_H
