//===- Unigram.cpp - The likeliest way to cut a word ----------------------===//
//
// Viterbi over the characters: the best sum of scores to each place. Sums run
// in double from left to right and the first of equals stays, as in the
// library. Neighbouring unknown characters become one piece.
//
//===----------------------------------------------------------------------===//
#include "runtime/Tokenizer/Tokenizer.h"
#include "runtime/Utf8.h"

#include <algorithm>

namespace heddle::rt {

namespace {

struct Place {
  double score = 0;
  size_t from = 0;
  uint32_t id = 0;
  bool reached = false, unknown = false;
};

constexpr uint32_t kNone = 0xffffffff;

} // namespace

static std::vector<Place> bestPaths(const Blob &blob, std::string_view word,
                                    size_t longest, double unknownScore) {
  std::vector<Place> places(word.size() + 1);
  auto offer = [&](size_t from, size_t to, double score, uint32_t id) {
    Place &place = places[to];
    double sum = score + places[from].score;
    if (place.reached && sum <= place.score)
      return;
    place = {sum, from, id, true, id == kNone};
  };
  for (size_t at = 0; at < word.size();) {
    uint32_t c;
    size_t n = decodeUtf8(word.substr(at), c);
    n = n ? n : 1;
    bool single = false;
    for (size_t size = n; size <= longest && at + size <= word.size(); ++size) {
      bool inside = at + size < word.size() && (word[at + size] & 0xc0) == 0x80;
      if (inside)
        continue;
      if (std::optional<uint32_t> id = blob.find(word.substr(at, size))) {
        offer(at, at + size, blob.score(*id), *id);
        single |= size == n;
      }
    }
    if (!single)
      offer(at, at + n, unknownScore, kNone);
    at += n;
  }
  return places;
}

Status runUnigram(const Blob &blob, WordReader model, std::string_view word,
                  std::vector<ModelToken> &tokens) {
  int64_t unknown = int64_t(model.next()) - 1;
  bool byteFallback = model.next();
  size_t longest = model.next();
  double unknownScore = model.nextDouble();
  std::vector<Place> places = bestPaths(blob, word, longest, unknownScore);
  struct Piece {
    size_t begin, end;
    uint32_t id;
  };
  std::vector<Piece> pieces;
  auto isUnknown = [&](uint32_t id) {
    return id == kNone || int64_t(id) == unknown;
  };
  for (size_t at = word.size(); at > 0; at = places[at].from) {
    uint32_t id = places[at].id;
    if (isUnknown(id) && !pieces.empty() && isUnknown(pieces.back().id))
      pieces.back().begin = places[at].from;
    else
      pieces.push_back({places[at].from, at, id});
  }
  std::reverse(pieces.begin(), pieces.end());
  for (const Piece &piece : pieces) {
    if (!isUnknown(piece.id)) {
      tokens.push_back({piece.id, {}});
      continue;
    }
    std::string_view text = word.substr(piece.begin, piece.end - piece.begin);
    std::vector<uint32_t> bytes;
    for (char byte : text)
      if (std::optional<uint32_t> id =
              byteFallback ? blob.find(format("<0x%02X>",
                                              static_cast<unsigned char>(byte)))
                           : std::nullopt)
        bytes.push_back(*id);
    if (bytes.size() == text.size())
      for (uint32_t id : bytes)
        tokens.push_back({id, {}});
    else if (unknown >= 0)
      tokens.push_back({uint32_t(unknown), std::string(text)});
    else
      return badTokenizer("the tokenizer has no unknown token for " +
                          quote(text));
  }
  return {};
}

} // namespace heddle::rt
