//===- TokenizerBlob.h - tokenizer.json to the runtime's blob -----*- C++
//-*-===//
//
// A tokenizer is compiled like the rest of a model: components become stages,
// regular expressions programs, vocabulary and merges hash tables, so that the
// binary looks ids up at once and parses nothing. A component without a stage
// is an error that names it.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_TOKENIZER_TOKENIZERBLOB_H
#define HEDDLE_COMPILER_TOKENIZER_TOKENIZERBLOB_H

#include <string>

namespace heddle {

/// Reads the tokenizer.json at `path`, or the tokenizer of a directory, and fills `blob` with what goes to the
/// symbol heddle_tokenizer (aligned to 4 bytes or more). False: `error` says
/// what is wrong, on one line.
bool writeTokenizerBlob(const std::string &path, std::string &blob,
                        std::string &error);

/// The same from text; `name` stands for the file in messages.
bool tokenizerBlobFromText(const std::string &text, const std::string &name,
                           std::string &blob, std::string &error);

} // namespace heddle

#endif // HEDDLE_COMPILER_TOKENIZER_TOKENIZERBLOB_H
