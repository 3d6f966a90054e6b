//===- Blob.h - The tables of the tokenizer -----------------------*- C++
//-*-===//
//
// Views into the blob: pieces by id and by text, merges, classes of characters.
// Opening checks that the sections lie inside; lookups check their indices.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_TOKENIZER_BLOB_H
#define HEDDLE_RUNTIME_TOKENIZER_BLOB_H

#include "heddle/tokenizer_format.h"
#include "runtime/Status.h"

#include <optional>

namespace heddle::rt {

/// Reads words one after the other; past the end it reads zeros.
class WordReader {
public:
  WordReader(const uint32_t *words = nullptr, size_t count = 0)
      : words(words), count(count) {}
  bool done() const { return at >= count; }
  uint32_t next() { return at < count ? words[at++] : 0; }
  double nextDouble();
  std::string_view string();
  /// The next `size` words as a reader of their own.
  WordReader part(size_t size);
  const uint32_t *here() const { return words + at; }
  size_t left() const { return count - at; }

private:
  const uint32_t *words;
  size_t count, at = 0;
};

struct Merge {
  uint32_t rank, result;
};

class Blob {
public:
  Status open(const unsigned char *data, uint64_t size);

  uint32_t size() const { return ids; }
  /// "" for an id that the vocabulary does not have.
  std::string_view piece(uint32_t id) const;
  std::optional<uint32_t> find(std::string_view piece) const;
  std::optional<Merge> merge(uint32_t left, uint32_t right) const;
  /// More than any rank.
  size_t mergeSlots() const { return views[tok::kMerges].count / 4; }
  double score(uint32_t id) const;
  /// Category in the low five bits, then tok::PropertyFlags.
  uint8_t classOf(uint32_t c) const;
  WordReader section(tok::Section kind) const;

private:
  struct View {
    const uint32_t *words = nullptr;
    size_t count = 0;
  };
  View views[16];
  uint32_t ids = 0;
  const char *pieceBytes = nullptr;
  size_t pieceByteCount = 0;
};

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_TOKENIZER_BLOB_H
