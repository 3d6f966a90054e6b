//===- SentencePiece.h - Files of pieces of words ---------------*- C++ -*-===//
//
// Reads a SentencePiece model, a protocol buffer: pieces with scores, and how a
// text is changed before it is cut into them.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_TOKENIZER_SENTENCEPIECE_H
#define HEDDLE_COMPILER_TOKENIZER_SENTENCEPIECE_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

struct PieceFile {
  /// What a piece is for; only normal ones are found in a text.
  enum Kind : uint64_t { Normal = 1, Unknown = 2, Control = 3, UserDefined = 4, Unused = 5, Byte = 6 };
  struct Piece {
    std::string text;
    double score = 0;
    uint64_t kind = Normal;
  };

  std::vector<Piece> pieces;
  uint64_t model = 1;          ///< 1: Unigram; 2: BPE
  std::string charsMap;        ///< the normalizer's trie and strings; empty: none
  bool prefixesSpace = true;   ///< a text begins with a space
  bool collapsesSpaces = true; ///< and has none at its ends, and one where there are several
  bool escapesSpaces = true;   ///< a space is U+2581
  bool spacesEndWords = false; ///< the space of a word is after it

  /// Reads the bytes of a file; false with `error`, what is wrong and the byte where it is.
  bool read(std::string_view bytes, std::string &error);
};

} // namespace heddle

#endif // HEDDLE_COMPILER_TOKENIZER_SENTENCEPIECE_H
