//===- Vocabulary.h - Tokenizers of before tokenizer.json -------*- C++ -*-===//
//
// Tokenizers without a tokenizer.json. A directory may have several older files
// instead: vocab.json and merges.txt (byte-level BPE), vocab.txt (WordPiece),
// source.spm and vocab.json (Marian), vocab.json alone (the letters of CTC),
// with tokenizer_config.json beside
// them. They are translated to the tokenizer.json that Hugging Face's library
// would save.
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_TOKENIZER_VOCABULARY_H
#define HEDDLE_COMPILER_TOKENIZER_VOCABULARY_H

#include "compiler/Folder/ModelFolder.h"
#include <cstdint>
#include <string>

namespace heddle {

enum class TokenizerFound : uint8_t {
  No,        ///< there are no files of a tokenizer
  Yes,       ///< `text` is a tokenizer.json, `name` its name in messages
  Elsewhere, ///< there is one that Heddle cannot read; `name` is the advice
  Broken     ///< `name` is what is wrong
};

/// Finds the tokenizer of a directory, or in one file: a tokenizer.json, or an .spm with a vocab.json next to it.
TokenizerFound findTokenizer(const std::string &path, std::string &text, std::string &name);
/// The same in a folder whose texts may be made.
TokenizerFound findTokenizer(const ModelFolder &folder, std::string &text, std::string &name);

} // namespace heddle

#endif // HEDDLE_COMPILER_TOKENIZER_VOCABULARY_H
