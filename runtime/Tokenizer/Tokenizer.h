//===- Tokenizer.h - Text to ids and back -------------------------*- C++
//-*-===//
//
// The pipeline that the blob describes: added tokens are cut out, the rest is
// normalized, split, and encoded by the model; the template adds its tokens.
// Decoding runs the decoder's stages over the pieces.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_TOKENIZER_TOKENIZER_H
#define HEDDLE_RUNTIME_TOKENIZER_TOKENIZER_H

#include "runtime/Tokenizer/Blob.h"

namespace heddle::rt {

/// One piece of an encoded text.
struct Token {
  uint32_t id;
  std::string text; ///< the vocabulary's entry, or what an added token matched
  uint32_t type = 0;
  bool real = true; ///< false for padding
};

class Tokenizer {
public:
  Status open(const unsigned char *data, uint64_t size);

  /// One text, or two (`pair`), with the template's tokens if asked for, cut
  /// and padded as the file says. Bytes that are no UTF-8 count as U+FFFD.
  Status encode(std::string_view text, const std::string_view *pair,
                bool addTemplate, std::vector<Token> &tokens) const;
  /// The ids of a prompt: one text in its template, never padded.
  Status encodeIds(std::string_view text, std::vector<int64_t> &ids) const;

  /// The bytes that `ids` stand for; the end may be half a character.
  std::string decodeBytes(const std::vector<int64_t> &ids,
                          bool skipSpecial) const;
  /// The same as a text: half characters become U+FFFD.
  std::string decode(const std::vector<int64_t> &ids, bool skipSpecial) const;

  uint32_t size() const { return blob.size(); }

private:
  struct Added {
    uint32_t id, flags;
    std::string text; ///< as it is searched
  };
  /// A stretch of text, or an added token in it.
  struct Section {
    std::string text;
    const Added *added = nullptr;
  };

  Status encodeBody(std::string_view text, std::vector<Token> &tokens) const;
  void cutAdded(std::string_view text, bool normalized,
                std::vector<Section> &out) const;
  const Added *addedAt(std::string_view text, size_t at, bool normalized) const;
  std::string normalize(std::string_view text) const;
  bool special(uint32_t id) const;

  Blob blob;
  std::vector<Added> added;
  bool anyNormalized = false;
};

// What happens to encoded texts before they are put together, and after.
Status truncateTokens(WordReader rule, size_t added, std::vector<Token> &first,
                      std::vector<Token> *second);
void fillTemplate(const Blob &blob, WordReader items, bool addTokens,
                  const std::vector<Token> &first,
                  const std::vector<Token> *second, std::vector<Token> &out);
void padTokens(WordReader rule, std::vector<Token> &tokens);

/// Every maximal part of `bytes` that is no UTF-8 replaced by U+FFFD.
std::string validUtf8(std::string_view bytes);

// The stages, each in a file of its own.
std::string runNormalizer(const Blob &blob, std::string_view text);
std::string orderMarks(WordReader stage, std::string_view text);
std::string composeMarks(WordReader stage, std::string_view text);
std::string runCharsMap(const Blob &blob, WordReader stage,
                        std::string_view text);
std::vector<std::string> runSplitter(const Blob &blob, std::string_view text,
                                     bool firstSection);
/// An unknown piece shows its surface in Unigram; `text` is "" otherwise.
struct ModelToken {
  uint32_t id;
  std::string text;
};
Status runTokenModel(const Blob &blob, std::string_view piece,
                     std::vector<ModelToken> &tokens);
Status runUnigram(const Blob &blob, WordReader model, std::string_view word,
                  std::vector<ModelToken> &tokens);
std::string runDecoder(const Blob &blob, std::vector<std::string> pieces);

/// GPT-2's letters for bytes.
uint32_t letterOfByte(unsigned char byte);
/// -1 if the character stands for no byte.
int byteOfLetter(uint32_t c);

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_TOKENIZER_TOKENIZER_H
