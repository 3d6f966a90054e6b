//===- NormalForms.cpp - Marks in order, and put together -----------------===//
//
// Unicode's normal forms take three stages: characters are mapped to their
// parts (kMapCharacters), marks are sorted by combining class, parts are
// composed. Korean syllables (Hangul) follow arithmetic and are in no table.
//
//===----------------------------------------------------------------------===//
#include "heddle/utf8.h"
#include "runtime/Tokenizer/Tokenizer.h"

#include <algorithm>
#include <cstring>

namespace heddle::rt {

namespace {

constexpr uint32_t kS = 0xac00, kL = 0x1100, kV = 0x1161, kT = 0x11a7;
constexpr uint32_t kVCount = 21, kTCount = 28, kSCount = 11172;

/// Rows of `width` words, ascending by the first; finds the row of a key.
class Table {
public:
  Table(WordReader rows, size_t width) : rows(rows.here()), count(rows.left() / width), width(width) {}

  const uint32_t *find(uint32_t first, uint32_t second = 0, bool pairs = false) const {
    size_t low = 0, high = count;
    auto before = [&](const uint32_t *row) { return row[0] != first ? row[0] < first : pairs && row[1] < second; };
    while (low < high) {
      size_t middle = (low + high) / 2;
      if (before(rows + middle * width))
        low = middle + 1;
      else
        high = middle;
    }
    const uint32_t *row = rows + low * width;
    bool found = low < count && row[0] == first && (!pairs || row[1] == second);
    return found ? row : nullptr;
  }

private:
  const uint32_t *rows;
  size_t count, width;
};

std::vector<uint32_t> characters(std::string_view text, bool takeHangulApart) {
  std::vector<uint32_t> all;
  uint32_t c;
  while (size_t n = decodeUtf8(text, c)) {
    text.remove_prefix(n);
    if (takeHangulApart && c >= kS && c < kS + kSCount) {
      uint32_t s = c - kS;
      all.push_back(kL + s / (kVCount * kTCount));
      all.push_back(kV + s % (kVCount * kTCount) / kTCount);
      if (s % kTCount)
        all.push_back(kT + s % kTCount);
    } else {
      all.push_back(c);
    }
  }
  return all;
}

std::string text(const std::vector<uint32_t> &characters) {
  std::string out;
  for (uint32_t c : characters)
    appendUtf8(out, c);
  return out;
}

uint32_t hangul(uint32_t a, uint32_t b) {
  if (a >= kL && a < kL + 19 && b >= kV && b < kV + kVCount)
    return kS + ((a - kL) * kVCount + (b - kV)) * kTCount;
  bool open = a >= kS && a < kS + kSCount && (a - kS) % kTCount == 0;
  return open && b > kT && b < kT + kTCount ? a + (b - kT) : 0;
}

} // namespace

std::string orderMarks(WordReader stage, std::string_view input) {
  bool apart = stage.next();
  Table classes(stage, 2);
  std::vector<uint32_t> all = characters(input, apart);
  auto classOf = [&](uint32_t c) -> uint32_t {
    if (c < 0x300)
      return 0;
    const uint32_t *row = classes.find(c);
    return row ? row[1] : 0;
  };
  for (size_t begin = 0; begin < all.size();) {
    if (classOf(all[begin]) == 0) {
      ++begin;
      continue;
    }
    size_t end = begin;
    while (end < all.size() && classOf(all[end]) != 0)
      ++end;
    std::stable_sort(all.begin() + begin, all.begin() + end,
                     [&](uint32_t a, uint32_t b) { return classOf(a) < classOf(b); });
    begin = end;
  }
  return text(all);
}

/// The stage has the number of compositions, those, then combining classes.
std::string composeMarks(WordReader stage, std::string_view input) {
  uint32_t pairCount = stage.next();
  Table pairs(stage.part(size_t(pairCount) * 3), 3), classes(stage, 2);
  std::vector<uint32_t> all = characters(input, false), out;
  size_t starter = SIZE_MAX;
  uint32_t lastClass = 0;
  for (uint32_t c : all) {
    const uint32_t *row = c < 0x300 ? nullptr : classes.find(c);
    uint32_t mark = row ? row[1] : 0;
    // A mark is blocked by one of the same or a higher class, or by a letter.
    bool adjacent = starter != SIZE_MAX && starter + 1 == out.size();
    bool blocked = !adjacent && (mark == 0 || lastClass >= mark);
    if (starter != SIZE_MAX && !blocked) {
      uint32_t composed = hangul(out[starter], c);
      if (!composed)
        if (const uint32_t *pair = pairs.find(out[starter], c, true))
          composed = pair[2];
      if (composed) {
        out[starter] = composed;
        continue;
      }
    }
    if (mark == 0)
      starter = out.size();
    lastClass = mark;
    out.push_back(c);
  }
  return text(out);
}

namespace {

/// SentencePiece's double-array trie.
class CharsMap {
public:
  explicit CharsMap(WordReader stage) : trie(stage.string()), strings(stage.string()) {}

  /// Whether `text` begins with a key; `becomes` is what the shortest one maps
  /// to.
  bool find(std::string_view text, std::string_view &becomes) const {
    size_t node = offset(unit(0));
    for (size_t i = 0; i < text.size() && text[i]; ++i) {
      auto byte = static_cast<unsigned char>(text[i]);
      node ^= byte;
      uint32_t u = unit(node);
      if ((u & (1u << 31 | 0xff)) != byte)
        return false;
      node ^= offset(u);
      if (!(u >> 8 & 1))
        continue;
      size_t value = unit(node) & 0x7fffffff;
      if (value >= strings.size())
        return false;
      becomes = strings.substr(value, strings.find('\0', value) - value);
      return true;
    }
    return false;
  }

private:
  uint32_t unit(size_t at) const {
    uint32_t value = 0;
    if (at < trie.size() / 4)
      memcpy(&value, trie.data() + at * 4, 4);
    return value;
  }
  static size_t offset(uint32_t u) { return size_t(u >> 10) << ((u & (1u << 9)) >> 6); }
  std::string_view trie, strings;
};

/// Grapheme_Cluster_Break=Prepend: signs in front of what they belong to.
bool isPrepended(uint32_t c) {
  return (c >= 0x600 && c <= 0x605) || c == 0x6dd || c == 0x70f || c == 0x890 || c == 0x891 || c == 0x8e2 || c == 0xd4e;
}

/// Bytes of the first character with its combining marks.
size_t clusterSize(const Blob &blob, std::string_view text) {
  // Line and paragraph separators, controls and format characters.
  constexpr uint32_t controls = 0xfu << 24;
  if (text.substr(0, 2) == "\r\n")
    return 2;
  uint32_t c = 0;
  size_t size = decodeUtf8(text, c);
  auto isControl = [&] {
    uint8_t properties = blob.classOf(c);
    return !(properties & tok::kJoins) && controls >> (properties & 31) & 1;
  };
  while (size < text.size() && isPrepended(c)) {
    size_t n = decodeUtf8(text.substr(size), c);
    if (n == 0 || (isControl() && !isPrepended(c)))
      return size;
    size += n;
  }
  if (isControl() && !isPrepended(c))
    return std::max<size_t>(size, 1);
  while (size_t n = decodeUtf8(text.substr(size), c)) {
    if (!(blob.classOf(c) & tok::kJoins))
      break;
    size += n;
  }
  return size ? size : 1;
}

} // namespace

/// As Hugging Face's library does it, with whose ids models were trained: a
/// character with its marks that is shorter than six bytes becomes what the
/// shortest key in it maps to, even where SentencePiece would take a longer
/// one; any other is looked up part by part.
std::string runCharsMap(const Blob &blob, WordReader stage, std::string_view input) {
  CharsMap map(stage);
  std::string out;
  while (!input.empty()) {
    std::string_view cluster = input.substr(0, clusterSize(blob, input));
    input.remove_prefix(cluster.size());
    std::string_view becomes;
    if (cluster.size() < 6 && map.find(cluster, becomes)) {
      out.append(becomes);
      continue;
    }
    while (!cluster.empty()) {
      uint32_t c;
      size_t n = std::max<size_t>(decodeUtf8(cluster, c), 1);
      becomes = cluster.substr(0, n);
      map.find(cluster.substr(0, n), becomes);
      out.append(becomes);
      cluster.remove_prefix(n);
    }
  }
  return out;
}

} // namespace heddle::rt
