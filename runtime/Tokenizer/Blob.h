//===- Blob.h - The tables of the tokenizer ---------------------*- C++ -*-===//
//
// The tables of the tokenizer as views into the blob (tokenizer_format.h):
// pieces by id and by text, merges, classes of characters. `open` checks that
// all sections are inside the blob; look-ups check their indices.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_TOKENIZER_BLOB_H
#define HEDDLE_RUNTIME_TOKENIZER_BLOB_H

#include "heddle/tokenizer_format.h"
#include "runtime/Core/Status.h"

#include <optional>

namespace heddle::rt {

/// Reads words one after the other; past the end it reads 0.
class WordReader {
public:
  WordReader(const uint32_t *words = nullptr, size_t count = 0) : words(words), count(count) {}
  bool done() const { return at >= count; }
  uint32_t next() { return at < count ? words[at++] : 0; }
  double nextDouble();
  std::string_view string();
  /// A reader of the next `size` words, which are skipped here.
  WordReader part(size_t size);
  const uint32_t *here() const { return words + at; }
  size_t left() const { return count - at; }

private:
  const uint32_t *words;
  size_t count, at = 0;
};

/// What two neighbouring pieces merge to, and how early: low ranks go first.
struct Merge {
  uint32_t rank, result;
};

class Blob {
public:
  Status open(const unsigned char *data, uint64_t size);

  uint32_t size() const { return ids; }
  /// The text of a piece; "" for an id without one.
  std::string_view piece(uint32_t id) const;
  std::optional<uint32_t> find(std::string_view piece) const;
  std::optional<Merge> merge(uint32_t left, uint32_t right) const;
  /// An upper bound of all ranks, plus one.
  size_t mergeSlots() const { return views[tok::kMerges].count / 4; }
  double score(uint32_t id) const;
  /// The general category in the low five bits, then tok::PropertyFlags.
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
