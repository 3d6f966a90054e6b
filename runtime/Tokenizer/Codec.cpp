//===- Codec.cpp - The tokenizer for programs around the runtime ----------===//
//
// heddle/tokenizer.h: the tokenizer after types without its headers.
//
//===----------------------------------------------------------------------===//
#include "heddle/tokenizer.h"

#include "runtime/Tokenizer/Tokenizer.h"

namespace heddle::rt {

TextCodec::TextCodec() = default;
TextCodec::~TextCodec() = default;

std::unique_ptr<TextCodec> TextCodec::open(const std::string &blob, std::string &error) {
  std::unique_ptr<TextCodec> codec(new TextCodec());
  codec->tokenizer = std::make_unique<Tokenizer>();
  Status status = codec->tokenizer->open(reinterpret_cast<const unsigned char *>(blob.data()), blob.size());
  if (status.ok())
    return codec;
  error = status.message();
  return nullptr;
}

uint32_t TextCodec::size() const { return tokenizer->size(); }

Encoding::Encoding() : encoded(std::make_unique<Encoded>()) {}
Encoding::~Encoding() = default;

size_t Encoding::size() const { return encoded->tokens.size(); }

Piece Encoding::operator[](size_t i) const {
  const Token &token = encoded->tokens[i];
  return {token.id, token.type, token.real, tokenizer->textOf(*encoded, token)};
}

bool TextCodec::encode(const std::string &text, const std::string *pair, bool addSpecialTokens, Encoding &encoding,
                       std::string &error) const {
  std::string_view second = pair ? *pair : std::string_view();
  Status status = tokenizer->encode(text, pair ? &second : nullptr, addSpecialTokens, *encoding.encoded);
  encoding.tokenizer = tokenizer.get();
  if (!status.ok())
    error = status.message();
  return status.ok();
}

std::string TextCodec::decode(const std::vector<int64_t> &ids, bool skipSpecialTokens) const {
  return tokenizer->decode(ids, skipSpecialTokens);
}

} // namespace heddle::rt
