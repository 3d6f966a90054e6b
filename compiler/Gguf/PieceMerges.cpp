//===- PieceMerges.cpp - Scores of pieces as merges -----------------------===//
//
// Nothing is looked up for each cut of each piece, which is quadratic in a long one. In a sorted list the pieces that
// begin a piece form a chain: each points to the longest that begins it. The same with texts read from their ends.
//
//===----------------------------------------------------------------------===//

#include "compiler/Gguf/PieceMerges.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

namespace heddle {

using llvm::StringRef;

static constexpr uint32_t kNone = UINT32_MAX;

/// For each of `texts`, the longest other one that it begins with (`fromEnd`: ends with), or kNone.
static std::vector<uint32_t> longestInside(llvm::ArrayRef<StringRef> texts, bool fromEnd) {
  std::vector<uint32_t> order(texts.size()), longest(texts.size(), kNone), open;
  for (auto [i, place] : llvm::enumerate(order))
    place = uint32_t(i);
  llvm::sort(order, [&](uint32_t a, uint32_t b) {
    StringRef x = texts[a], y = texts[b];
    return fromEnd ? std::lexicographical_compare(x.rbegin(), x.rend(), y.rbegin(), y.rend()) : x < y;
  });
  for (uint32_t at : order) {
    auto isInside = [&](uint32_t other) {
      return fromEnd ? texts[at].ends_with(texts[other]) : texts[at].starts_with(texts[other]);
    };
    while (!open.empty() && !isInside(open.back()))
      open.pop_back();
    if (!open.empty())
      longest[at] = open.back();
    open.push_back(at);
  }
  return longest;
}

static uint32_t characters(StringRef text) {
  return uint32_t(llvm::count_if(text, [](char byte) { return (byte & 0xc0) != 0x80; }));
}

bool mergesOfScores(const GgufVocabulary &vocabulary, std::vector<std::array<uint32_t, 3>> &merges) {
  std::vector<uint32_t> ids; // ascending
  std::vector<StringRef> texts;
  for (uint32_t id = 0; id < vocabulary.size(); ++id)
    if (vocabulary.is(id, TokenKind::Normal) || vocabulary.is(id, TokenKind::UserDefined)) {
      ids.push_back(id);
      texts.push_back(vocabulary.tokens[id]);
    }
  std::vector<uint32_t> begins = longestInside(texts, false), ends = longestInside(texts, true);

  struct Join {
    double score;
    uint32_t length, left, right, whole; ///< characters of the left part; places in `ids`
  };
  std::vector<Join> joins;
  std::vector<uint32_t> suffixes;
  for (uint32_t at = 0; at < texts.size(); ++at) {
    suffixes.clear(); // from the longest to the shortest
    for (uint32_t other = ends[at]; other != kNone; other = ends[other])
      suffixes.push_back(other);
    // The left part shrinks, so the right one grows.
    for (uint32_t left = begins[at]; left != kNone; left = begins[left]) {
      size_t rest = texts[at].size() - texts[left].size();
      while (!suffixes.empty() && texts[suffixes.back()].size() < rest)
        suffixes.pop_back();
      if (suffixes.empty())
        break;
      if (texts[suffixes.back()].size() != rest)
        continue;
      if (joins.size() == kMostMerges)
        return false;
      joins.push_back({vocabulary.scores[ids[at]], characters(texts[left]), left, suffixes.back(), at});
    }
  }
  llvm::sort(joins, [](const Join &a, const Join &b) {
    return std::tuple(b.score, b.length, a.left, a.whole) < std::tuple(a.score, a.length, b.left, b.whole);
  });
  merges.reserve(joins.size());
  for (const Join &join : joins)
    merges.push_back({ids[join.left], ids[join.right], ids[join.whole]});
  return true;
}

} // namespace heddle
