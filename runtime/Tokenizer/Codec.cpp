//===- Codec.cpp - The tokenizer for programs around the runtime ----------===//
//
// Plain types outside, the pipeline inside.
//
//===----------------------------------------------------------------------===//
#include "heddle/tokenizer.h"

#include "runtime/Tokenizer/Tokenizer.h"

namespace heddle::rt {

TextCodec::TextCodec() = default;
TextCodec::~TextCodec() = default;

std::unique_ptr<TextCodec> TextCodec::open(const std::string &blob,
                                           std::string &error) {
  std::unique_ptr<TextCodec> codec(new TextCodec());
  codec->tokenizer = std::make_unique<Tokenizer>();
  Status status = codec->tokenizer->open(
      reinterpret_cast<const unsigned char *>(blob.data()), blob.size());
  if (status.ok())
    return codec;
  error = status.message();
  return nullptr;
}

uint32_t TextCodec::size() const { return tokenizer->size(); }

bool TextCodec::encode(const std::string &text, const std::string *pair,
                       bool addSpecialTokens, Encoding &encoding,
                       std::string &error) const {
  std::vector<Token> tokens;
  std::string_view second = pair ? *pair : std::string_view();
  Status status = tokenizer->encode(text, pair ? &second : nullptr,
                                    addSpecialTokens, tokens);
  encoding = Encoding();
  if (!status.ok()) {
    error = status.message();
    return false;
  }
  for (Token &token : tokens) {
    encoding.ids.push_back(token.id);
    encoding.typeIds.push_back(token.type);
    encoding.attentionMask.push_back(token.real);
    encoding.tokens.push_back(std::move(token.text));
  }
  return true;
}

std::string TextCodec::decode(const std::vector<int64_t> &ids,
                              bool skipSpecialTokens) const {
  return tokenizer->decode(ids, skipSpecialTokens);
}

} // namespace heddle::rt
