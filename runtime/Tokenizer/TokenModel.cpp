//===- TokenModel.cpp - Words that are looked up --------------------------===//
//
// The models that only look words up: WordPiece takes the longest piece each
// time, WordLevel the whole word. Bpe.cpp and Unigram.cpp have the others.
//
//===----------------------------------------------------------------------===//
#include "runtime/Tokenizer/Tokenizer.h"

#include <algorithm>

namespace heddle::rt {

Status noUnknownToken(std::string_view word) {
  bool cut = word.size() > 100;
  size_t size = std::min<size_t>(word.size(), 100);
  while (cut && size > 0 && (word[size] & 0xc0) == 0x80)
    --size;
  return badTokenizer("the tokenizer has no unknown token for " +
                      quote(std::string(word.substr(0, size)) + (cut ? "..." : "")));
}

namespace {

/// WordPiece: the longest piece that a word begins with, then the longest that continues it, and so on; the unknown
/// token for the whole word where that fails.
class WordPiece : public WordModel {
public:
  WordPiece(const Blob &blob, WordReader model) : blob(blob) {
    unknown = int64_t(model.next()) - 1;
    most = model.next();
    longest = model.next();
    prefix = model.string();
  }

  Status encode(std::string_view word, Encoded &out) override {
    size_t first = out.tokens.size(), characters = 0;
    for (char byte : word)
      characters += (byte & 0xc0) != 0x80;
    bool known = characters <= most;
    for (size_t at = 0; at < word.size() && known;) {
      std::optional<uint32_t> id = longestAt(word, at);
      known = id.has_value();
      if (known)
        out.add(*id);
    }
    if (known)
      return {};
    out.tokens.resize(first);
    if (unknown < 0)
      return noUnknownToken(word);
    out.add(uint32_t(unknown));
    return {};
  }

private:
  /// The longest piece at `at`, which is advanced past it.
  std::optional<uint32_t> longestAt(std::string_view word, size_t &at) {
    candidate.assign(at ? prefix : std::string_view());
    size_t before = candidate.size();
    size_t size = std::min<size_t>(word.size() - at, longest);
    candidate.append(word.substr(at, size));
    for (size_t end = at + size; end > at; --end) {
      if (end < word.size() && (word[end] & 0xc0) == 0x80)
        continue;
      candidate.resize(before + (end - at));
      if (std::optional<uint32_t> id = blob.find(candidate)) {
        at = end;
        return id;
      }
    }
    return std::nullopt;
  }

  const Blob &blob;
  int64_t unknown;
  size_t most, longest;
  std::string_view prefix;
  std::string candidate;
};

class WordLevel : public WordModel {
public:
  WordLevel(const Blob &blob, WordReader model) : blob(blob), unknown(int64_t(model.next()) - 1) {}

  Status encode(std::string_view word, Encoded &out) override {
    if (std::optional<uint32_t> id = blob.find(word))
      out.add(*id);
    else if (unknown >= 0)
      out.add(uint32_t(unknown));
    else
      return noUnknownToken(word);
    return {};
  }

private:
  const Blob &blob;
  int64_t unknown;
};

} // namespace

std::unique_ptr<WordModel> makeWordModel(const Blob &blob) {
  WordReader model = blob.section(tok::kModel);
  switch (model.next()) {
  case tok::kBpe: return makeBpe(blob, model);
  case tok::kWordLevel: return std::make_unique<WordLevel>(blob, model);
  case tok::kWordPiece: return std::make_unique<WordPiece>(blob, model);
  case tok::kUnigram: return makeUnigram(blob, model);
  default: return nullptr;
  }
}

} // namespace heddle::rt
