//===- Pattern.h - Regular expressions to matcher programs --------*- C++
//-*-===//
//
// The patterns of published tokenizers are written for Oniguruma. This reads
// the part of its syntax that they use; anything else is refused by name, as a
// pattern read wrongly would give wrong ids in silence.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_TOKENIZER_PATTERN_H
#define HEDDLE_COMPILER_TOKENIZER_PATTERN_H

#include "compiler/Tokenizer/Words.h"

namespace heddle::tok {

/// Compiles `pattern` (UTF-8) and appends the program to `words`, which must
/// then be the end of a stage.
bool compilePattern(const std::string &pattern, Words &words,
                    std::string &error);

/// The pattern that matches `text` and nothing else.
std::string escapePattern(const std::string &text);

} // namespace heddle::tok

#endif // HEDDLE_COMPILER_TOKENIZER_PATTERN_H
