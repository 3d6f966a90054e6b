//===- Vocabulary.h - Tokenizers of before tokenizer.json ---------*- C++
//-*-===//
//
// A directory without tokenizer.json may say the same in several files:
// vocab.json and merges.txt (byte-level BPE), vocab.txt (WordPiece), vocab.json
// alone (the letters of CTC), with tokenizer_config.json beside them. What the
// library makes of them is written as the tokenizer.json that it would save.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_TOKENIZER_VOCABULARY_H
#define HEDDLE_COMPILER_TOKENIZER_VOCABULARY_H

#include <cstdint>
#include <string>

namespace heddle {

enum class TokenizerFound : uint8_t {
  No,        ///< nothing there speaks of a tokenizer
  Yes,       ///< `text` is a tokenizer.json, `name` stands for it in messages
  Elsewhere, ///< there is one that Heddle cannot read; `name` says what to do
  Broken     ///< `name` says what is wrong
};

/// The tokenizer of a directory, or of one file.
TokenizerFound findTokenizer(const std::string &path, std::string &text,
                             std::string &name);

} // namespace heddle

#endif // HEDDLE_COMPILER_TOKENIZER_VOCABULARY_H
