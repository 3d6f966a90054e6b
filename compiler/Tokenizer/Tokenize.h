//===- Tokenize.h - `heddle tokenize` ---------------------------*- C++ -*-===//
//
// The command `heddle tokenize`: a text a line in, its ids and pieces out; or a
// JSON object a line in, one out.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_TOKENIZER_TOKENIZE_H
#define HEDDLE_COMPILER_TOKENIZER_TOKENIZE_H

#include "compiler/Folder/ModelFolder.h"
#include "heddle/errors.h"
#include <optional>
#include <string>

namespace heddle {

/// Why a command failed.
struct TokenizeFailure {
  Error error;
  std::string why;
};

/// Answers lines of stdin on stdout until the input ends. `from`: a
/// tokenizer.json, a directory with a tokenizer, or made texts. Errors: a tokenizer that
/// cannot be read or used, a component that is not supported, no room for
/// output.
std::optional<TokenizeFailure> tokenize(const ModelFolder &from, bool json);

} // namespace heddle

#endif // HEDDLE_COMPILER_TOKENIZER_TOKENIZE_H
