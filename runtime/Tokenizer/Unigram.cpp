//===- Unigram.cpp - The likeliest way to cut a word ----------------------===//
//
// The Unigram model: the segmentation of a word with the largest sum of scores,
// by Viterbi over its characters. Sums are made in double from left to right
// and the first of equals wins, as in the library. Neighbouring unknown
// characters become one piece.
//
//===----------------------------------------------------------------------===//
#include "heddle/utf8.h"
#include "runtime/Tokenizer/PrefixSearch.h"
#include "runtime/Tokenizer/Tokenizer.h"

#include <algorithm>

namespace heddle::rt {

namespace {

constexpr uint32_t kNone = 0xffffffff, kNotReached = 0xfffffffe;

/// The best way to a place in the word; small, as there is one for each byte.
struct Place {
  double score = 0;
  uint32_t size = 0; ///< of the piece that ends here
  uint32_t id = kNotReached;
};

struct PieceAt {
  std::string_view operator()(size_t place) const { return blob->piece(ids[place]); }
  const Blob *blob;
  const uint32_t *ids;
};

/// Unigram (SentencePiece): of all ways to cut a word into pieces the one with the greatest sum of scores, by Viterbi
/// over the places between bytes.
class Unigram : public WordModel {
public:
  Unigram(const Blob &blob, WordReader model)
      : blob(blob), sorted(blob.section(tok::kSortedPieces)), search(sorted.left(), PieceAt{&blob, sorted.here()}) {
    unknown = int64_t(model.next()) - 1;
    byteFallback = model.next();
    unknownScore = model.nextDouble();
    firstWordless = model.next();
  }

  Status encode(std::string_view word, Encoded &out) override {
    if (!findBestPaths(word))
      return noUnknownToken(word);
    ends.clear();
    for (size_t at = word.size(); at > 0; at -= places[at].size) {
      bool joins = isUnknown(places[at].id) && !ends.empty() && isUnknown(places[ends.back().end].id);
      if (joins)
        ends.back().begin = at - places[at].size;
      else
        ends.push_back({at - places[at].size, at});
    }
    for (size_t i = ends.size(); i-- > 0;) {
      uint32_t id = places[ends[i].end].id;
      if (id >= firstWordless && id != kNone)
        out.add(uint32_t(unknown), blob.piece(id));
      else if (!isUnknown(id))
        out.add(id);
      else
        HEDDLE_TRY(addUnknown(word.substr(ends[i].begin, ends[i].end - ends[i].begin), out));
    }
    return {};
  }

private:
  struct Piece {
    size_t begin, end;
  };

  bool isUnknown(uint32_t id) const { return id == kNone || int64_t(id) == unknown; }

  /// Fills `places`. False if the best way takes an unknown character and there
  /// is no unknown token: the library fails then, even with byte fallback.
  bool findBestPaths(std::string_view word) {
    places.assign(word.size() + 1, Place());
    auto offer = [&](size_t from, size_t size, double score, uint32_t id) {
      Place &place = places[from + size];
      double sum = score + places[from].score;
      bool better = place.id == kNotReached || sum > place.score;
      if (better)
        place = {sum, uint32_t(size), id};
      return better;
    };
    for (size_t at = 0; at < word.size();) {
      uint32_t c;
      size_t n = decodeUtf8(word.substr(at), c);
      n = n ? n : 1;
      bool single = false;
      search.walk(word.substr(at), [&](size_t place, size_t size) {
        uint32_t id = sorted.here()[place];
        offer(at, size, blob.score(id), id);
        single |= size == n;
      });
      if (!single && offer(at, n, unknownScore, kNone) && unknown < 0)
        return false;
      at += n;
    }
    return true;
  }

  /// Unknown text: as bytes if the vocabulary has them all, else the unknown
  /// token.
  Status addUnknown(std::string_view text, Encoded &out) {
    if (firstWordless != kNone)
      if (std::optional<uint32_t> id = blob.find(text)) {
        out.add(*id);
        return {};
      }
    std::vector<uint32_t> bytes;
    for (char byte : text)
      if (std::optional<uint32_t> id = byteFallback ? byteId(static_cast<unsigned char>(byte)) : std::nullopt)
        bytes.push_back(*id);
    if (bytes.size() == text.size())
      for (uint32_t id : bytes)
        out.add(id);
    else if (unknown >= 0)
      out.add(uint32_t(unknown), text);
    else
      return noUnknownToken(text);
    return {};
  }

  std::optional<uint32_t> byteId(unsigned char byte) {
    if (byteIds.empty())
      for (unsigned i = 0; i < 256; ++i)
        byteIds.push_back(blob.find(format("<0x%02X>", i)));
    return byteIds[byte];
  }

  const Blob &blob;
  WordReader sorted;
  PrefixSearch<PieceAt> search;
  int64_t unknown;
  bool byteFallback;
  double unknownScore;
  uint32_t firstWordless; ///< pieces from here on have no id
  std::vector<Place> places;
  std::vector<Piece> ends;
  std::vector<std::optional<uint32_t>> byteIds;
};

} // namespace

std::unique_ptr<WordModel> makeUnigram(const Blob &blob, WordReader model) {
  return std::make_unique<Unigram>(blob, model);
}

} // namespace heddle::rt
