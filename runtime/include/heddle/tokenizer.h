//===- tokenizer.h - The tokenizer for the compiler -------------*- C++ -*-===//
//
// The tokenizer for `heddle tokenize`: the same code that runs in a compiled
// model, behind plain types.
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

/// One token of an encoded text.
struct Piece {
  uint32_t id, type;
  bool real;             ///< false for padding
  std::string_view text; ///< as long as encoding and codec live
};

/// An encoded text; owns its tokens.
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
  /// Opens a blob, which must outlive the codec; null with `error` if it is
  /// damaged.
  static std::unique_ptr<TextCodec> open(const std::string &blob, std::string &error);
  ~TextCodec();

  /// The number of ids.
  uint32_t size() const;

  /// Encodes one text, or two; false with `error` if it cannot.
  bool encode(const std::string &text, const std::string *pair, bool addSpecialTokens, Encoding &encoding,
              std::string &error) const;
  std::string decode(const std::vector<int64_t> &ids, bool skipSpecialTokens) const;

private:
  TextCodec();
  std::unique_ptr<Tokenizer> tokenizer;
};

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_TOKENIZER_H
