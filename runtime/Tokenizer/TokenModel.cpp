//===- TokenModel.cpp - A word to ids -------------------------------------===//
//
// Byte-pair encoding joins the pair of lowest rank until none is left; a heap
// holds the candidates, so that one long word costs n log n. The others look
// words up.
//
//===----------------------------------------------------------------------===//
#include "runtime/Tokenizer/Tokenizer.h"
#include "runtime/Utf8.h"

#include <algorithm>
#include <queue>

namespace heddle::rt {

namespace {

struct Symbol {
  uint32_t id;
  int previous, next;
  bool alive;
};

struct Candidate {
  uint32_t rank;
  int left;
  uint32_t leftId, rightId, result;
  bool operator<(const Candidate &other) const {
    return rank != other.rank ? rank > other.rank : left > other.left;
  }
};

class Bpe {
public:
  Bpe(const Blob &blob, WordReader model) : blob(blob) {
    unknown = int64_t(model.next()) - 1;
    flags = model.next();
    prefix = model.string();
    suffix = model.string();
  }

  void encode(std::string_view word, std::vector<uint32_t> &ids) {
    if (flags & tok::kIgnoreMerges)
      if (std::optional<uint32_t> id = blob.find(word)) {
        ids.push_back(*id);
        return;
      }
    spell(word);
    join();
    for (size_t i = 0; i < symbols.size(); ++i)
      if (symbols[i].alive)
        ids.push_back(symbols[i].id);
  }

private:
  void push(uint32_t id) {
    int at = int(symbols.size());
    if (at)
      symbols.back().next = at;
    symbols.push_back({id, at - 1, -1, true});
  }

  /// The characters of the word as symbols.
  void spell(std::string_view word) {
    symbols.clear();
    bool lastUnknown = false;
    for (size_t at = 0; at < word.size();) {
      uint32_t c;
      size_t n = decodeUtf8(word.substr(at), c);
      if (n == 0)
        break;
      std::string text(at && !prefix.empty() ? prefix : std::string_view());
      text.append(word.substr(at, n));
      if (at + n == word.size())
        text.append(suffix);
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
      // Without an unknown token such characters vanish.
      if (unknown >= 0 && !(flags & tok::kFuseUnk && lastUnknown))
        push(uint32_t(unknown));
      lastUnknown = unknown >= 0;
    }
  }

  bool spellBytes(std::string_view text) {
    std::vector<uint32_t> ids;
    for (char byte : text) {
      std::optional<uint32_t> id =
          blob.find(format("<0x%02X>", static_cast<unsigned char>(byte)));
      if (!id)
        return false;
      ids.push_back(*id);
    }
    for (uint32_t id : ids)
      push(id);
    return true;
  }

  void offer(int left) {
    if (left < 0 || symbols[left].next < 0)
      return;
    uint32_t a = symbols[left].id, b = symbols[symbols[left].next].id;
    if (std::optional<Merge> merge = blob.merge(a, b))
      heap.push({merge->rank, left, a, b, merge->result});
  }

  void join() {
    for (size_t i = 0; i + 1 < symbols.size(); ++i)
      offer(int(i));
    while (!heap.empty()) {
      Candidate top = heap.top();
      heap.pop();
      Symbol &left = symbols[top.left];
      if (!left.alive || left.id != top.leftId || left.next < 0 ||
          symbols[left.next].id != top.rightId)
        continue;
      Symbol &right = symbols[left.next];
      right.alive = false;
      left.id = top.result;
      left.next = right.next;
      if (right.next >= 0)
        symbols[right.next].previous = top.left;
      offer(left.previous);
      offer(top.left);
    }
  }

  const Blob &blob;
  int64_t unknown;
  uint32_t flags;
  std::string_view prefix, suffix;
  std::vector<Symbol> symbols;
  std::priority_queue<Candidate> heap;
};

Status encodeWordPiece(const Blob &blob, WordReader model,
                       std::string_view word, std::vector<uint32_t> &ids) {
  int64_t unknown = int64_t(model.next()) - 1;
  uint32_t most = model.next();
  std::string_view prefix = model.string();
  size_t first = ids.size();
  size_t characters = 0;
  for (char byte : word)
    characters += (byte & 0xc0) != 0x80;
  for (size_t at = 0; at < word.size() && characters <= most;) {
    size_t end = word.size();
    std::optional<uint32_t> id;
    for (; end > at; --end) {
      if (end < word.size() && (word[end] & 0xc0) == 0x80)
        continue;
      std::string text(at ? prefix : std::string_view());
      id = blob.find(text.append(word.substr(at, end - at)));
      if (id)
        break;
    }
    if (!id) {
      characters = size_t(most) + 1;
      break;
    }
    ids.push_back(*id);
    at = end;
  }
  if (characters <= most)
    return {};
  ids.resize(first);
  if (unknown < 0)
    return badTokenizer("the tokenizer has no unknown token for " +
                        quote(word));
  ids.push_back(uint32_t(unknown));
  return {};
}

} // namespace

static Status runLookup(const Blob &blob, WordReader model, uint32_t kind,
                        std::string_view word, std::vector<uint32_t> &ids) {
  if (kind == tok::kBpe) {
    Bpe(blob, model).encode(word, ids);
    return {};
  }
  if (kind == tok::kWordPiece)
    return encodeWordPiece(blob, model, word, ids);
  if (kind != tok::kWordLevel)
    return internalError("the tokenizer's model is unknown");
  int64_t unknown = int64_t(model.next()) - 1;
  if (std::optional<uint32_t> id = blob.find(word))
    ids.push_back(*id);
  else if (unknown >= 0)
    ids.push_back(uint32_t(unknown));
  else
    return badTokenizer("the tokenizer has no unknown token for " +
                        quote(word));
  return {};
}

Status runTokenModel(const Blob &blob, std::string_view word,
                     std::vector<ModelToken> &tokens) {
  WordReader model = blob.section(tok::kModel);
  uint32_t kind = model.next();
  if (kind == tok::kUnigram)
    return runUnigram(blob, model, word, tokens);
  std::vector<uint32_t> ids;
  HEDDLE_TRY(runLookup(blob, model, kind, word, ids));
  for (uint32_t id : ids)
    tokens.push_back({id, {}});
  return {};
}

} // namespace heddle::rt
