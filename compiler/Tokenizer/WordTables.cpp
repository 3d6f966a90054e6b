//===- WordTables.cpp - A vocabulary outside of its JSON ------------------===//
//
// Three counts, the length of each piece, scores, merges, and the pieces without anything between them.
//
//===----------------------------------------------------------------------===//
#include "compiler/Tokenizer/WordTables.h"

#include <cstring>

namespace heddle {

template <typename T> static void append(std::string &out, const std::vector<T> &list) {
  out.append(reinterpret_cast<const char *>(list.data()), list.size() * sizeof(T));
}

/// Takes a list of `count` from the beginning of `bytes`.
template <typename T> static bool take(std::string_view &bytes, size_t count, std::vector<T> &list) {
  if (count > bytes.size() / sizeof(T))
    return false;
  list.resize(count);
  if (count)
    memcpy(list.data(), bytes.data(), count * sizeof(T));
  bytes.remove_prefix(count * sizeof(T));
  return true;
}

std::string WordTables::bytes() const {
  std::vector<uint64_t> counts = {pieces.size(), scores.size(), merges.size()};
  std::vector<uint32_t> lengths;
  lengths.reserve(pieces.size());
  for (const std::string &piece : pieces)
    lengths.push_back(uint32_t(piece.size()));
  std::string out;
  append(out, counts);
  append(out, lengths);
  append(out, scores);
  append(out, merges);
  for (const std::string &piece : pieces)
    out += piece;
  return out;
}

bool WordTables::read(std::string_view bytes) {
  std::vector<uint64_t> counts;
  std::vector<uint32_t> lengths;
  if (!take(bytes, 3, counts) || !take(bytes, counts[0], lengths) || !take(bytes, counts[1], scores) ||
      !take(bytes, counts[2], merges))
    return false;
  pieces.clear();
  pieces.reserve(lengths.size());
  for (uint32_t length : lengths) {
    if (length > bytes.size())
      return false;
    pieces.emplace_back(bytes.substr(0, length));
    bytes.remove_prefix(length);
  }
  return bytes.empty();
}

} // namespace heddle
