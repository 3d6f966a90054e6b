//===- TokenizerBlob.h - tokenizer.json to the runtime's blob ---*- C++ -*-===//
//
// Compiles tokenizer.json to the blob that the runtime reads in place
// (heddle/tokenizer_format.h): components become stages, regular expressions
// become programs, vocabulary and merges become hash tables. A component
// without a stage is an error that names it.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_TOKENIZER_TOKENIZERBLOB_H
#define HEDDLE_COMPILER_TOKENIZER_TOKENIZERBLOB_H

#include <string>

namespace heddle {

/// Reads the tokenizer.json at `path`, or the tokenizer of a directory. `blob`
/// becomes the contents of the symbol heddle_tokenizer, which must be aligned
/// to 4 bytes. False with `error`, one line.
bool writeTokenizerBlob(const std::string &path, std::string &blob, std::string &error);

/// The same from a text; `name` is the file's name in messages.
bool tokenizerBlobFromText(const std::string &text, const std::string &name, std::string &blob, std::string &error);

} // namespace heddle

#endif // HEDDLE_COMPILER_TOKENIZER_TOKENIZERBLOB_H
