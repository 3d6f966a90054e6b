//===- PreTokenizers.h - What tokenizer.ggml.pre names ----------*- C++ -*-===//
//
// A byte-level BPE tokenizer cuts a text into words before it merges bytes, and each published tokenizer cuts by rules
// of its own. A GGUF file has only a name for these rules.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_GGUF_PRETOKENIZERS_H
#define HEDDLE_COMPILER_GGUF_PRETOKENIZERS_H

#include "llvm/ADT/StringRef.h"
#include <nlohmann/json.hpp>
#include <optional>

namespace heddle {

struct PreTokenizer {
  /// The stages as `pre_tokenizer` of tokenizer.json has them: an array that ends with ByteLevel. Empty where `raw`.
  nlohmann::json stages = nlohmann::json::array();
  bool composes = false;   ///< texts become NFC first
  bool wholeWords = false; ///< a word that is a token is not cut, whatever the merges say
  bool raw = false;        ///< tokens are pieces of SentencePiece, with U+2581 for a space and <0xNN> for a byte
  bool addsBos = false;    ///< a file that does not say whether the bos token is added means yes
};

/// None: the name is not known, or refused.
std::optional<PreTokenizer> preTokenizerNamed(llvm::StringRef name);

/// How a file without a name is cut: as llama.cpp does. Such files were made before April 2024.
inline constexpr llvm::StringLiteral kUnnamedPreTokenizer = "default";

/// Why a name that is known is not read; "" for all others.
llvm::StringRef whyPreTokenizerIsRefused(llvm::StringRef name);

} // namespace heddle

#endif // HEDDLE_COMPILER_GGUF_PRETOKENIZERS_H
