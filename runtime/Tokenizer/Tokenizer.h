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
#include "runtime/Tokenizer/Decoding.h"

#include <memory>

namespace heddle::rt {

/// One piece of an encoded text; small, as long texts have many.
struct Token {
  uint32_t id;
  uint32_t surface = 0; ///< of `Encoded::surfaces`, plus one
  uint32_t type = 0;
  bool real = true; ///< false for padding
};

struct Encoded {
  std::vector<Token> tokens;
  /// Texts of tokens that show something else than their vocabulary's entry:
  /// what an added token matched, the unknown.
  std::vector<std::string> surfaces;

  void add(uint32_t id) { tokens.push_back({id}); }
  void add(uint32_t id, std::string_view surface) {
    surfaces.push_back(std::string(surface));
    tokens.push_back({id, uint32_t(surfaces.size())});
  }
};

/// A word of the splitter or an added token: where its tokens end.
struct Split {
  size_t end;
  bool added;
};

class Tokenizer {
public:
  Status open(const unsigned char *data, uint64_t size);

  /// One text, or two (`pair`), with the template's tokens if asked for, cut
  /// and padded as the file says. Bytes that are no UTF-8 count as U+FFFD.
  Status encode(std::string_view text, const std::string_view *pair,
                bool addTemplate, Encoded &encoded) const;
  /// What a token shows.
  std::string_view textOf(const Encoded &encoded, const Token &token) const;
  /// The ids of a prompt: one text in its template, never padded.
  Status encodeIds(std::string_view text, std::vector<int64_t> &ids) const;

  /// The bytes that `ids` stand for; the end may be half a character.
  std::string decodeBytes(const std::vector<int64_t> &ids,
                          bool skipSpecial) const;
  /// The same for ids that come one after the other: `decoding()` once, then
  /// `decodeNext` for each, then `finish`.
  Decoding decoding() const { return Decoding(blob); }
  void decodeNext(int64_t id, bool skipSpecial, Decoding &decoding,
                  std::string &text) const;
  /// The same as a text: half characters become U+FFFD.
  std::string decode(const std::vector<int64_t> &ids, bool skipSpecial) const;

  uint32_t size() const { return blob.size(); }

private:
  struct Added {
    uint32_t id, flags;
    std::string text; ///< as it is searched
  };
  /// Added tokens in the order of their bytes.
  using AddedList = std::vector<Added>;
  /// A stretch of text, or an added token in it.
  struct Section {
    std::string text;
    const Added *added = nullptr;
  };

  /// `stops`: one of a pair that is to be cut (stopAtWholeSplits).
  Status encodeBody(std::string_view text, Encoded &encoded, bool stops) const;
  void cutAdded(std::string_view text, const AddedList &list,
                std::vector<Section> &out) const;

  Blob blob;
  AddedList rawAdded, normalizedAdded;
  std::vector<bool> special; ///< by id
};

// What happens to encoded texts before they are put together, and after.
/// What the library has of a text of a pair before the two share the room:
/// whole splits from the side that is kept, until they are `max_length` tokens
/// or more. So two long texts differ by what their last words are too long, and
/// which one is longer decides where an odd token goes.
void stopAtWholeSplits(WordReader rule, const std::vector<Split> &splits,
                       Encoded &encoded);
/// Whether that is done to the first text, too.
bool mayCutFirst(WordReader rule);
Status truncateTokens(WordReader rule, size_t added, Encoded &first,
                      Encoded *second);
void fillTemplate(WordReader items, bool addTokens, Encoded &&first,
                  Encoded *second, Encoded &out);
void padTokens(WordReader rule, Encoded &encoded);

/// Every maximal part of `bytes` that is no UTF-8 replaced by U+FFFD.
std::string validUtf8(std::string_view bytes);

// The stages, each in a file of its own.
// A text that a stage makes too long, or a pattern that takes too many steps,
// is an error.
/// `fromStart` becomes false where the first character of `out` no longer comes
/// from the first one of `text`.
Status runNormalizer(const Blob &blob, std::string_view text, std::string &out,
                     bool *fromStart = nullptr);
std::string orderMarks(WordReader stage, std::string_view text);
std::string composeMarks(WordReader stage, std::string_view text);
std::string runCharsMap(const Blob &blob, WordReader stage,
                        std::string_view text);
/// `fromStart`: the text begins where the user's text does.
Status runSplitter(const Blob &blob, std::string_view text, bool fromStart,
                   std::vector<std::string> &pieces);

/// What makes ids of a word; it keeps its scratch memory from one word to the
/// next.
class WordModel {
public:
  virtual ~WordModel() = default;
  virtual Status encode(std::string_view word, Encoded &encoded) = 0;
};
/// The one that the blob describes; null if the blob is damaged.
std::unique_ptr<WordModel> makeWordModel(const Blob &blob);
std::unique_ptr<WordModel> makeBpe(const Blob &blob, WordReader model);
std::unique_ptr<WordModel> makeUnigram(const Blob &blob, WordReader model);
/// Of a word that the vocabulary cannot say.
Status noUnknownToken(std::string_view word);

/// GPT-2's letters for bytes.
uint32_t letterOfByte(unsigned char byte);
/// -1 if the character stands for no byte.
int byteOfLetter(uint32_t c);

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_TOKENIZER_TOKENIZER_H
