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
#include <vector>

namespace heddle::rt {

class Tokenizer;

struct Encoding {
  std::vector<int64_t> ids, typeIds, attentionMask;
  std::vector<std::string> tokens;
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
