//===- Bpe.cpp - Byte-pair encoding ---------------------------------------===//
//
// Byte-pair encoding: of all neighbours that the vocabulary can merge, those of
// the lowest rank are merged first, of equals the leftmost. A word of up to
// kShort symbols is scanned for them again after each merge; a longer one keeps
// a queue of places for every rank, so that its time is in proportion to its
// length.
//
//===----------------------------------------------------------------------===//
#include "heddle/utf8.h"
#include "runtime/Tokenizer/Tokenizer.h"

#include <functional>
#include <queue>

namespace heddle::rt {

namespace {

constexpr uint32_t kNoRank = 0xffffffff;
constexpr uint32_t kNowhere = 0xffffffff;
constexpr size_t kShort = 48; ///< symbols

/// A piece of the word in a doubly linked list.
struct Symbol {
  uint32_t id;
  uint32_t rank; ///< of the merge with the next symbol
  uint32_t previous, next;
};

/// Places whose merge has one rank, leftmost first. They nearly always come
/// from left to right, in `ordered`; the others go to a heap.
class Queue {
public:
  bool empty() const { return head == ordered.size() && late.empty(); }
  void push(uint32_t place) {
    if (head == ordered.size() || ordered.back() <= place)
      ordered.push_back(place);
    else
      late.push(place);
  }
  uint32_t pop() {
    bool first = head < ordered.size() && (late.empty() || ordered[head] <= late.top());
    uint32_t place = first ? ordered[head++] : late.top();
    if (!first)
      late.pop();
    if (head == ordered.size()) {
      ordered.clear();
      head = 0;
    }
    return place;
  }

private:
  std::vector<uint32_t> ordered;
  size_t head = 0;
  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> late;
};

/// Byte pair encoding of a word: characters are joined pair by pair, the pair with the lowest rank first, the leftmost
/// of equals. Short words scan for that pair, long ones keep a queue.
class Bpe : public WordModel {
public:
  Bpe(const Blob &blob, WordReader model) : blob(blob) {
    unknown = int64_t(model.next()) - 1;
    flags = model.next();
    prefix = model.string();
    suffix = model.string();
  }

  Status encode(std::string_view word, Encoded &out) override {
    if (flags & tok::kIgnoreMerges)
      if (std::optional<uint32_t> id = blob.find(word)) {
        out.add(*id);
        return {};
      }
    symbols.clear();
    HEDDLE_TRY(spell(word));
    if (symbols.empty())
      return {};
    if (symbols.size() <= kShort)
      joinShort();
    else
      joinLong();
    for (uint32_t at = 0; at != kNowhere; at = symbols[at].next)
      out.add(symbols[at].id);
    return {};
  }

private:
  void push(uint32_t id) {
    auto at = uint32_t(symbols.size());
    if (at)
      symbols.back().next = at;
    symbols.push_back({id, kNoRank, at ? at - 1 : kNowhere, kNowhere});
  }

  /// Fills `symbols` with the characters of the word, with prefix and suffix.
  Status spell(std::string_view word) {
    bool lastUnknown = false;
    for (size_t at = 0; at < word.size();) {
      uint32_t c;
      size_t n = decodeUtf8(word.substr(at), c);
      if (n == 0)
        break;
      std::string_view text = word.substr(at, n);
      bool prefixed = at && !prefix.empty();
      bool suffixed = at + n == word.size() && !suffix.empty();
      if (prefixed || suffixed) {
        spelled.assign(prefixed ? prefix : std::string_view()).append(text);
        text = spelled.append(suffixed ? suffix : std::string_view());
      }
      at += n;
      if (std::optional<uint32_t> id = blob.find(text)) {
        push(*id);
        lastUnknown = false;
        continue;
      }
      if (flags & tok::kByteFallback && spellBytes(text)) {
        lastUnknown = false;
        continue;
      }
      if (flags & tok::kNeedsUnknown)
        return noUnknownToken(word);
      // Without an unknown token such a character is dropped.
      if (unknown >= 0 && !(flags & tok::kFuseUnk && lastUnknown))
        push(uint32_t(unknown));
      lastUnknown = unknown >= 0;
    }
    return {};
  }

  bool spellBytes(std::string_view text) {
    if (byteIds.empty())
      for (unsigned i = 0; i < 256; ++i)
        byteIds.push_back(blob.find(format("<0x%02X>", i)));
    for (char byte : text)
      if (!byteIds[static_cast<unsigned char>(byte)])
        return false;
    for (char byte : text)
      push(*byteIds[static_cast<unsigned char>(byte)]);
    return true;
  }

  /// Looks up the rank with which a symbol and the next one merge.
  uint32_t rankAt(uint32_t at) {
    Symbol &left = symbols[at];
    left.rank = kNoRank;
    if (left.next != kNowhere)
      if (std::optional<Merge> merge = blob.merge(left.id, symbols[left.next].id))
        left.rank = merge->rank;
    return left.rank;
  }

  /// Merges the symbol at `at` with the next one.
  void merge(uint32_t at) {
    Symbol &left = symbols[at], &right = symbols[left.next];
    std::optional<Merge> merge = blob.merge(left.id, right.id);
    left.id = merge ? merge->result : left.id;
    left.next = right.next;
    right.rank = kNoRank;
    if (left.next != kNowhere)
      symbols[left.next].previous = at;
    rankAt(at);
    if (left.previous != kNowhere)
      rankAt(left.previous);
  }

  /// Scans for the lowest rank after each merge: quadratic, but fast when
  /// short.
  void joinShort() {
    for (uint32_t at = 0; at < symbols.size(); ++at)
      rankAt(at);
    for (;;) {
      uint32_t best = kNowhere, rank = kNoRank;
      for (uint32_t at = 0; at != kNowhere; at = symbols[at].next)
        if (symbols[at].rank < rank) {
          rank = symbols[at].rank;
          best = at;
        }
      if (best == kNowhere)
        return;
      merge(best);
    }
  }

  /// Puts the place into the queue of its rank.
  void offer(uint32_t at) {
    uint32_t rank = symbols[at].rank;
    if (rank >= queueOf.size())
      return;
    if (queueOf[rank] == kNowhere) {
      queueOf[rank] = uint32_t(queues.size());
      queues.emplace_back();
      used.push_back(rank);
    }
    Queue &queue = queues[queueOf[rank]];
    if (queue.empty())
      waiting.push(rank);
    queue.push(at);
  }

  /// Empties the queues in order of rank; stale places are recognised by their
  /// symbol's rank.
  void joinLong() {
    if (queueOf.empty())
      queueOf.assign(blob.mergeSlots(), kNowhere);
    for (uint32_t at = 0; at < symbols.size(); ++at)
      if (rankAt(at) != kNoRank)
        offer(at);
    while (!waiting.empty()) {
      uint32_t rank = waiting.top();
      waiting.pop();
      // Until the queue is empty or a merge has made a lower rank possible.
      bool again = false;
      while (!again) {
        Queue &queue = queues[queueOf[rank]];
        uint32_t at = queue.pop();
        bool more = !queue.empty();
        // The symbol or its neighbour may have been merged since.
        if (symbols[at].rank == rank) {
          merge(at);
          if (symbols[at].previous != kNowhere)
            offer(symbols[at].previous);
          offer(at);
        }
        if (!more)
          break;
        again = !waiting.empty() && waiting.top() < rank;
      }
      if (again)
        waiting.push(rank);
    }
    for (uint32_t rank : used)
      queueOf[rank] = kNowhere;
    used.clear();
    queues.clear();
  }

  const Blob &blob;
  int64_t unknown;
  uint32_t flags;
  std::string_view prefix, suffix;
  std::string spelled;
  std::vector<Symbol> symbols;
  std::vector<std::optional<uint32_t>> byteIds;
  std::vector<uint32_t> queueOf; ///< by rank
  std::vector<uint32_t> used;    ///< ranks that have a queue
  std::vector<Queue> queues;
  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> waiting;
};

} // namespace

std::unique_ptr<WordModel> makeBpe(const Blob &blob, WordReader model) { return std::make_unique<Bpe>(blob, model); }

} // namespace heddle::rt
