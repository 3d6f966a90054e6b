//===- Tokenize.h - `heddle tokenize` ------------------------------*- C++
//-*-===//
//
// Texts in, ids and pieces out, a line each; or JSON objects, a line each.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_TOKENIZER_TOKENIZE_H
#define HEDDLE_COMPILER_TOKENIZER_TOKENIZE_H

#include <string>

namespace heddle {

/// Reads lines from stdin and answers on stdout until the input ends. `path`:
/// tokenizer.json or the directory it is in. The exit code: 0, 1 for a
/// tokenizer that cannot be used, 3 for a component that is not supported, 5
/// for output.
int tokenize(const std::string &path, bool json);

} // namespace heddle

#endif // HEDDLE_COMPILER_TOKENIZER_TOKENIZE_H
