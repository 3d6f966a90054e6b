//===- Tokenize.h - `heddle tokenize` ---------------------------*- C++ -*-===//
//
// The command `heddle tokenize`: a text a line in, its ids and pieces out; or a
// JSON object a line in, one out.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_TOKENIZER_TOKENIZE_H
#define HEDDLE_COMPILER_TOKENIZER_TOKENIZE_H

#include <string>

namespace heddle {

/// Answers lines of stdin on stdout until the input ends. `path`:
/// tokenizer.json or a directory with a tokenizer. Returns the exit code: 0; 1
/// for a tokenizer that cannot be used, 3 for a component that is not
/// supported, 5 for output.
int tokenize(const std::string &path, bool json);

} // namespace heddle

#endif // HEDDLE_COMPILER_TOKENIZER_TOKENIZE_H
