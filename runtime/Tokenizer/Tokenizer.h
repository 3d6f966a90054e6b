//===- Tokenizer.h - Text to ids and back -----------------------*- C++ -*-===//
//
// Text to ids and back, by the pipeline that the blob describes: added tokens
// are cut out of the text, the rest is normalized, split into words, and
// encoded by the model; the template adds its tokens. Decoding runs the
// decoder's stages over the pieces. `Split`s are the "words" of the truncation
// rule.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_TOKENIZER_TOKENIZER_H
#define HEDDLE_RUNTIME_TOKENIZER_TOKENIZER_H

#include "runtime/Core/ValidUtf8.h"
#include "runtime/Tokenizer/Blob.h"
#include "runtime/Tokenizer/Decoding.h"

#include <memory>

namespace heddle::rt {

/// One token of an encoded text; small, as long texts have many.
struct Token {
  uint32_t id;
  uint32_t surface = 0; ///< 1 + index in `Encoded::surfaces`; 0: its piece
  uint32_t type = 0;    ///< token_type_ids
  bool real = true;     ///< false for padding
};

/// An encoded text or pair of texts.
struct Encoded {
  std::vector<Token> tokens;
  /// Texts of tokens that stand for other text than their piece: what an added
  /// token matched, an unknown word.
  std::vector<std::string> surfaces;
  size_t whole = 0; ///< tokens, those of the template too, that there would be if nothing were cut

  void add(uint32_t id) { tokens.push_back({id}); }
  void add(uint32_t id, std::string_view surface) {
    surfaces.push_back(std::string(surface));
    tokens.push_back({id, uint32_t(surfaces.size())});
  }
};

/// The end of a word of the splitter, or of an added token.
struct Split {
  size_t end;
  bool added;
};

class Tokenizer {
public:
  Status open(const unsigned char *data, uint64_t size);

  /// Encodes one text, or two (`pair`), with the template's tokens if
  /// `addTemplate`, truncated and padded as the file says. Invalid UTF-8 counts
  /// as U+FFFD. Errors: a text over 1 GiB, a character that no token can
  /// express.
  Status encode(std::string_view text, const std::string_view *pair, bool addTemplate, Encoded &encoded) const;
  /// The text that a token stands for; valid as long as `encoded` and this.
  std::string_view textOf(const Encoded &encoded, const Token &token) const;
  /// The ids of one text in its template, never padded.
  Status encodeIds(std::string_view text, std::vector<int64_t> &ids) const;

  /// The bytes that `ids` decode to; they may end within a character.
  std::string decodeBytes(const std::vector<int64_t> &ids, bool skipSpecial) const;
  /// The same for ids that come one after the other: `decoding()` once, then
  /// `decodeNext` for each id, then `Decoding::finish`.
  Decoding decoding() const { return Decoding(blob); }
  void decodeNext(int64_t id, bool skipSpecial, Decoding &decoding, std::string &text) const;
  /// The same as valid UTF-8: incomplete characters become U+FFFD.
  std::string decode(const std::vector<int64_t> &ids, bool skipSpecial) const;

  /// 1 + the largest id.
  uint32_t size() const { return ids; }

private:
  struct Added {
    uint32_t id, flags;
    std::string text; ///< as it is searched for
  };
  /// Added tokens in the order of their bytes.
  using AddedList = std::vector<Added>;
  /// A stretch of text between added tokens, or the text of one (`added`).
  struct Section {
    std::string text;
    const Added *added = nullptr;
  };

  /// Encodes a text without template, truncation and padding. `stops`: it is
  /// one of a pair that will be truncated (stopAtWholeSplits).
  Status encodeBody(std::string_view text, Encoded &encoded, bool stops) const;
  /// Appends `text` to `out`, cut at the tokens of `list`.
  void cutAdded(std::string_view text, const AddedList &list, std::vector<Section> &out) const;

  Blob blob;
  uint32_t ids = 0;
  AddedList rawAdded, normalizedAdded;
  std::vector<bool> special; ///< by id
};

// Truncation, template and padding of encoded texts (Assemble.cpp). `rule` is
// the section kTruncation or kPadding of the blob; an empty one does nothing.
/// Hugging Face's library encodes a text of a pair by whole words, from the
/// side that is kept, and stops as soon as it has `max_length` tokens or more.
/// So the lengths that truncateTokens compares differ by what the last word is
/// too long.
void stopAtWholeSplits(WordReader rule, const std::vector<Split> &splits, Encoded &encoded);
/// Whether the first text is shortened so, too: not with "only_second".
bool mayCutFirst(WordReader rule);
/// Cuts the texts so that with `added` tokens of the template they have at most
/// the rule's length; an error if the one that may be cut is too short for
/// that.
Status truncateTokens(WordReader rule, size_t added, Encoded &first, Encoded *second);
/// Puts the texts into the template; without `addTokens` only their order and
/// types are the template's.
void fillTemplate(WordReader items, bool addTokens, Encoded &&first, Encoded *second, Encoded &out);
/// Pads to the rule's length or multiple.
void padTokens(WordReader rule, Encoded &encoded);

// The stages, each in its own file. An error if a stage makes a text too long,
// or a pattern takes too many steps.

/// `out` becomes the normalized text. `fromStart` is cleared if its first
/// character does not come from the first character of `text`.
Status runNormalizer(const Blob &blob, std::string_view text, std::string &out, bool *fromStart = nullptr);
/// The normalizer stages kOrderMarks, kCompose and kCharsMap on a whole text.
std::string orderMarks(WordReader stage, std::string_view text);
std::string composeMarks(WordReader stage, std::string_view text);
std::string runCharsMap(const Blob &blob, WordReader stage, std::string_view text);
/// The longest text that a stage may make of one; published normalizers make at
/// most 18 characters of one, published splitters four bytes.
inline size_t mostBytes(std::string_view text) { return (size_t(16) << 20) + 64 * text.size(); }
/// `pieces` becomes the words of `text`. `fromStart`: the text is the beginning
/// of the user's text, where some stages add a space.
Status runSplitter(const Blob &blob, std::string_view text, bool fromStart, std::vector<std::string> &pieces);

/// The model: makes ids of one word. It keeps its working memory for the next.
class WordModel {
public:
  virtual ~WordModel() = default;
  virtual Status encode(std::string_view word, Encoded &encoded) = 0;
};
/// The model that the blob describes; null if the blob is damaged.
std::unique_ptr<WordModel> makeWordModel(const Blob &blob);
std::unique_ptr<WordModel> makeBpe(const Blob &blob, WordReader model);
std::unique_ptr<WordModel> makeUnigram(const Blob &blob, WordReader model);
/// The error of a word that the vocabulary cannot express.
Status noUnknownToken(std::string_view word);

/// The letter that GPT-2's vocabulary writes for a byte.
uint32_t letterOfByte(unsigned char byte);
/// The byte of such a letter, -1 for any other character.
int byteOfLetter(uint32_t c);

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_TOKENIZER_TOKENIZER_H
