//===- PieceMerges.h - Scores of pieces as merges ---------------*- C++ -*-===//
//
// SentencePiece's BPE has no list of merges: of all neighbours in a word, those join first whose whole is the piece
// with the highest score.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_GGUF_PIECEMERGES_H
#define HEDDLE_COMPILER_GGUF_PIECEMERGES_H

#include "compiler/Gguf/GgufVocabulary.h"
#include <array>

namespace heddle {

/// All pairs of pieces (normal and user defined tokens) whose whole is a piece, as ids of left, right and whole: by the
/// score of the whole, then the longer left part. False where there are more than kMostMerges.
bool mergesOfScores(const GgufVocabulary &vocabulary, std::vector<std::array<uint32_t, 3>> &merges);

} // namespace heddle

#endif // HEDDLE_COMPILER_GGUF_PIECEMERGES_H
