//===- GgufVocabulary.h - tokenizer.ggml.* as checked tables ----*- C++ -*-===//
//
// The tokens of a GGUF file with their kinds and scores, and which ids have a role. All of it is checked: lists of one
// length, texts in UTF-8 that differ, ids of tokens that are there.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_GGUF_GGUFVOCABULARY_H
#define HEDDLE_COMPILER_GGUF_GGUFVOCABULARY_H

#include "compiler/Gguf/TokenizerKeys.h"
#include "llvm/ADT/StringMap.h"

namespace heddle {

/// Kinds of tokens, as files number them; others occur and mean nothing.
enum class TokenKind : int64_t { Normal = 1, Unknown, Control, UserDefined, Unused, Byte };

/// The largest vocabularies that are read: seven times those of published models, so that a hostile file takes little
/// memory.
inline constexpr size_t kMostTokens = size_t(1) << 21, kMostTokenBytes = size_t(1) << 26, kMostMerges = size_t(1) << 22;

struct GgufVocabulary {
  /// `tokenizer.ggml.model`: llama (BPE of SentencePiece), gpt2 (BPE of bytes), bert (WordPiece), t5 (Unigram).
  enum class Model : uint8_t { Pieces, Bytes, Words, Unigram };

  Model model = Model::Pieces;
  std::optional<std::string> pre;  ///< `tokenizer.ggml.pre`
  std::vector<std::string> tokens; ///< by id, none is empty
  std::vector<int64_t> kinds;
  std::vector<double> scores; ///< no NaN
  llvm::StringMap<uint32_t> ids;
  /// Ids with a role. A file that does not say has the defaults of its model.
  std::optional<uint32_t> bos, eos, unk, sep, pad, mask, eot, eom;

  size_t size() const { return tokens.size(); }
  bool is(uint32_t id, TokenKind kind) const { return kinds[id] == int64_t(kind); }
  /// Whether the token is cut out of a text before all else: unknown, control and user defined ones.
  bool isAdded(uint32_t id) const {
    return is(id, TokenKind::Unknown) || is(id, TokenKind::Control) || is(id, TokenKind::UserDefined);
  }
  /// Whether the token is in the model's vocabulary: unused ones are not, unless they have a role.
  bool isUsed(uint32_t id) const { return !is(id, TokenKind::Unused) || hasRole(id); }
  /// Whether the id is bos, eos, unk, sep, pad or mask.
  bool hasRole(uint32_t id) const {
    return bos == id || eos == id || unk == id || sep == id || pad == id || mask == id;
  }

  /// Reads the keys; none where the file has no tokenizer, and after an error.
  static std::optional<GgufVocabulary> read(TokenizerKeys &keys);
};

/// "tokenizer.ggml." + `key`.
std::string ggmlKey(llvm::StringRef key);

/// The ids that end a text, ascending: those that keys name, and tokens whose texts are known to.
std::vector<int64_t> endsOf(const GgufVocabulary &vocabulary);

} // namespace heddle

#endif // HEDDLE_COMPILER_GGUF_GGUFVOCABULARY_H
