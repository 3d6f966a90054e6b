//===- tokenizer.h - The tokenizer for programs around the runtime -*- C++
//-*-===//
//
// What `heddle tokenize` uses: the very code that runs in a compiled model,
// behind a few plain types.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_TOKENIZER_H
#define HEDDLE_RUNTIME_TOKENIZER_H

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::rt {

class Tokenizer;

struct Encoded;

struct Piece {
  uint32_t id, type;
  bool real;             ///< false for padding
  std::string_view text; ///< as long as encoding and codec live
};

/// An encoded text.
class Encoding {
public:
  Encoding();
  ~Encoding();
  size_t size() const;
  Piece operator[](size_t i) const;

private:
  friend class TextCodec;
  const Tokenizer *tokenizer = nullptr;
  std::unique_ptr<Encoded> encoded;
};

class TextCodec {
public:
  /// Null: `error` says why. The blob must outlive the codec.
  static std::unique_ptr<TextCodec> open(const std::string &blob,
                                         std::string &error);
  ~TextCodec();

  /// Ids are smaller than this.
  uint32_t size() const;

  /// One text, or two. False: `error` says why.
  bool encode(const std::string &text, const std::string *pair,
              bool addSpecialTokens, Encoding &encoding,
              std::string &error) const;
  std::string decode(const std::vector<int64_t> &ids,
                     bool skipSpecialTokens) const;

private:
  TextCodec();
  std::unique_ptr<Tokenizer> tokenizer;
};

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_TOKENIZER_H
