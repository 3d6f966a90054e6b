//===- Words.h - Building the sections of the blob --------------*- C++ -*-===//
//
// Building blocks of the blob, which is a list of 32-bit words.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_TOKENIZER_WORDS_H
#define HEDDLE_COMPILER_TOKENIZER_WORDS_H

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace heddle::tok {

using Words = std::vector<uint32_t>;

/// Appends bytes, padded with zeros to a whole word.
inline void appendBytes(Words &words, const std::string &bytes) {
  size_t at = words.size();
  words.resize(at + (bytes.size() + 3) / 4);
  if (!bytes.empty())
    memcpy(words.data() + at, bytes.data(), bytes.size());
}

/// Appends the length in bytes, then the bytes.
inline void appendString(Words &words, const std::string &text) {
  words.push_back(uint32_t(text.size()));
  appendBytes(words, text);
}

/// Appends the kind, the number of words, then those words.
inline void appendStage(Words &words, uint32_t kind, const Words &content) {
  words.push_back(kind);
  words.push_back(uint32_t(content.size()));
  words.insert(words.end(), content.begin(), content.end());
}

} // namespace heddle::tok

#endif // HEDDLE_COMPILER_TOKENIZER_WORDS_H
