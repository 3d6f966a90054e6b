//===- Blob.cpp - The tables of the tokenizer -----------------------------===//
//
// Hash tables have 2^n slots and linear probing.
//
//===----------------------------------------------------------------------===//
#include "runtime/Tokenizer/Blob.h"

#include <algorithm>
#include <cstring>

namespace heddle::rt {

std::string_view WordReader::string() {
  size_t bytes = next();
  size_t taken = (bytes + 3) / 4;
  if (taken > left())
    return {};
  std::string_view text(reinterpret_cast<const char *>(words + at), bytes);
  at += taken;
  return text;
}

double WordReader::nextDouble() {
  uint32_t halves[2] = {next(), 0};
  halves[1] = next();
  double value;
  memcpy(&value, halves, 8);
  return value;
}

WordReader WordReader::part(size_t size) {
  size = std::min(size, left());
  WordReader inner(words + at, size);
  at += size;
  return inner;
}

Status Blob::open(const unsigned char *data, uint64_t size) {
  auto bad = [](const char *what) { return internalError(format("the tokenizer of this program: %s", what)); };
  if (reinterpret_cast<uintptr_t>(data) % 4 || size < 12)
    return bad("too short or not aligned");
  const auto *words = reinterpret_cast<const uint32_t *>(data);
  if (words[0] != tok::kMagic || words[1] != tok::kVersion)
    return bad("made for another version of the runtime");
  uint64_t sections = words[2];
  if (sections > 64 || 12 + sections * 12 > size)
    return bad("too many sections");
  for (uint64_t i = 0; i < sections; ++i) {
    uint64_t kind = words[3 + i * 3], offset = words[4 + i * 3], count = words[5 + i * 3];
    if (kind >= 16 || offset % 4 || offset > size || count > (size - offset) / 4)
      return bad("a section is outside");
    views[kind] = {words + offset / 4, size_t(count)};
  }
  const View &pieces = views[tok::kPieces];
  if (pieces.count < 2)
    return bad("no vocabulary");
  ids = pieces.words[0];
  if (uint64_t(ids) + 2 > pieces.count)
    return bad("a vocabulary that is cut off");
  pieceBytes = reinterpret_cast<const char *>(pieces.words + ids + 2);
  pieceByteCount = (pieces.count - ids - 2) * 4;
  for (tok::Section table : {tok::kPieceIndex, tok::kMerges}) {
    size_t slots = views[table].count / (table == tok::kMerges ? 4 : 1);
    if (slots & (slots - 1))
      return bad("a table of odd size");
  }
  WordReader padding = section(tok::kPadding);
  if (!padding.done() && std::max(padding.next(), padding.next()) > tok::kMaxPadding)
    return bad("padding without end");
  return {};
}

WordReader Blob::section(tok::Section kind) const { return {views[kind].words, views[kind].count}; }

std::string_view Blob::piece(uint32_t id) const {
  if (id >= ids)
    return {};
  const uint32_t *offsets = views[tok::kPieces].words + 1;
  uint32_t begin = offsets[id], end = offsets[id + 1];
  if (begin > end || end > pieceByteCount)
    return {};
  return {pieceBytes + begin, end - begin};
}

std::optional<uint32_t> Blob::find(std::string_view text) const {
  const View &index = views[tok::kPieceIndex];
  if (index.count == 0)
    return std::nullopt;
  size_t slot = tok::hashBytes(text.data(), text.size());
  for (size_t probe = 0; probe < index.count; ++probe, ++slot) {
    uint32_t entry = index.words[slot & (index.count - 1)];
    if (entry == 0)
      return std::nullopt;
    if (piece(entry - 1) == text)
      return entry - 1;
  }
  return std::nullopt;
}

std::optional<Merge> Blob::merge(uint32_t left, uint32_t right) const {
  const View &table = views[tok::kMerges];
  size_t slots = table.count / 4, slot = tok::hashPair(left, right);
  for (size_t probe = 0; probe < slots; ++probe, ++slot) {
    const uint32_t *entry = table.words + (slot & (slots - 1)) * 4;
    if (entry[0] == UINT32_MAX)
      return std::nullopt;
    if (entry[0] == left && entry[1] == right)
      return Merge{entry[2], entry[3]};
  }
  return std::nullopt;
}

double Blob::score(uint32_t id) const {
  const View &scores = views[tok::kScores];
  double score = 0;
  if (size_t(id) * 2 + 1 < scores.count)
    memcpy(&score, scores.words + size_t(id) * 2, 8);
  return score;
}

uint8_t Blob::classOf(uint32_t c) const {
  const View &classes = views[tok::kClasses];
  size_t page = c / 256;
  if (page >= tok::kPages || classes.count < tok::kPages)
    return 0;
  const auto *bytes = reinterpret_cast<const unsigned char *>(classes.words + tok::kPages);
  size_t at = size_t(classes.words[page]) * 256 + c % 256;
  return at < (classes.count - tok::kPages) * 4 ? bytes[at] : 0;
}

} // namespace heddle::rt
