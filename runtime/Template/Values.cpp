//===- Values.cpp - What a template computes with -------------------------===//

#include "runtime/Template/Values.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

namespace heddle::rt::chat {

Heap::~Heap() {
  while (chunks) {
    Chunk *before = chunks->before;
    ::operator delete(chunks);
    chunks = before;
  }
}

void *Heap::take(size_t bytes) {
  bytes = (bytes + 15) & ~size_t(15);
  used += bytes;
  if (size_t(end - at) < bytes) {
    size_t size = std::max(bytes + 16, kChunk);
    auto *chunk =
        static_cast<Chunk *>(memset(::operator new(size), 0, size)); // without memory the program ends, with 4
    chunk->before = chunks;
    chunks = chunk;
    char *begin = reinterpret_cast<char *>(chunk) + 16;
    if (bytes > kChunk / 4)
      return begin; // the chunk that is being filled stays
    at = begin;
    end = reinterpret_cast<char *>(chunk) + size;
  }
  void *taken = at;
  at += bytes;
  return taken;
}

Value Heap::copy(std::string_view text, bool safe) {
  auto *bytes = make<char>(text.size());
  if (!text.empty())
    memcpy(bytes, text.data(), text.size());
  return textValue({bytes, text.size()}, safe);
}

Value Heap::grow(Value front, std::string_view more, bool safe) {
  if (more.empty() || !front.size)
    return more.empty() ? textValue(front.view(), safe) : textValue(more, safe);
  if (front.text + front.size != textEnd || size_t(textLimit - textEnd) < more.size()) {
    size_t size = front.size + more.size(), room = size + (size < 128 ? 0 : std::min<size_t>(size, 1 << 20));
    auto *bytes = make<char>(room);
    memcpy(bytes, front.text, front.size);
    front.text = bytes;
    textEnd = bytes + front.size;
    textLimit = bytes + room;
  }
  memcpy(textEnd, more.data(), more.size());
  textEnd += more.size();
  return textValue({front.text, front.size + more.size()}, safe);
}

Value Heap::growList(Value front, const Value *more, size_t count) {
  if (!front.size || front.items + front.size != listEnd || size_t(listLimit - listEnd) < count) {
    size_t size = front.size + count, room = size + std::min<size_t>(size, 1 << 16);
    auto *items = make<Value>(room);
    std::copy_n(front.items, front.size, items);
    front.items = items;
    listEnd = items + front.size;
    listLimit = items + room;
  }
  std::copy_n(more, count, listEnd);
  listEnd += count;
  return listValue(front.items, front.size + count, front.kind);
}

const char *nameOf(Value v) {
  switch (v.kind) {
  case Kind::Missing: return "nothing";
  case Kind::Undefined: return "undefined";
  case Kind::None: return "none";
  case Kind::Bool: return "a truth value";
  case Kind::Integer: return "an integer";
  case Kind::Real: return "a float";
  case Kind::Text: return "text";
  case Kind::List: return "a list";
  case Kind::Tuple: return "a tuple";
  case Kind::Dict: return "a dict";
  case Kind::Range: return "a range";
  case Kind::Iterator: return "an iterator";
  case Kind::Namespace: return "a namespace";
  case Kind::Macro: return "a macro";
  case Kind::Method: return "a method";
  case Kind::Function: return "a function";
  case Kind::Loop: return "`loop`";
  }
  return "";
}

bool truth(Value v) {
  switch (v.kind) {
  case Kind::Missing:
  case Kind::Undefined:
  case Kind::None: return false;
  case Kind::Bool:
  case Kind::Integer: return v.integer != 0;
  case Kind::Real: return v.real != 0;
  case Kind::Text:
  case Kind::List:
  case Kind::Tuple: return v.size != 0;
  case Kind::Dict: return v.dict->count != 0;
  case Kind::Range: return v.range->length != 0;
  default: return true;
  }
}

size_t countCharacters(std::string_view text) {
  size_t n = 0;
  for (char c : text)
    n += (c & 0xc0) != 0x80;
  return n;
}

size_t offsetOf(std::string_view text, size_t n) {
  size_t at = 0;
  for (; at < text.size(); ++at)
    if ((text[at] & 0xc0) != 0x80 && n-- == 0)
      break;
  return at;
}

//===--- dicts ----------------------------------------------------------------===//

bool isKey(Value v) { return v.isText() || v.isNumber() || v.kind == Kind::None || v.isUndefined(); }

/// Whether a double is an integer of 64 bits.
static bool wholeOf(double real, int64_t &whole) {
  if (!(real >= -9223372036854775808.0 && real < 9223372036854775808.0) || real != std::floor(real))
    return false;
  whole = int64_t(real);
  return true;
}

/// 1, 1.0 and true are one key.
static uint32_t hashOf(Value key) {
  uint64_t hash = 14695981039346656037ull;
  if (key.isText()) {
    for (char c : key.view())
      hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  } else if (!key.isUndefined()) { // all undefined values are one key
    int64_t whole = key.integer;
    if (key.kind == Kind::Real && !wholeOf(key.real, whole))
      memcpy(&whole, &key.real, 8);
    hash = (hash ^ uint64_t(whole)) * 0x9e3779b97f4a7c15ull;
  }
  return uint32_t(hash ^ hash >> 29);
}

static bool sameKey(Value a, Value b) {
  if (a.isText() || b.isText())
    return a.isText() && b.isText() && a.view() == b.view();
  if (!a.isNumber() || !b.isNumber())
    return a.kind == b.kind;
  if (a.kind != Kind::Real && b.kind != Kind::Real)
    return a.integer == b.integer;
  int64_t x = a.integer, y = b.integer;
  bool wholeX = a.kind != Kind::Real || wholeOf(a.real, x), wholeY = b.kind != Kind::Real || wholeOf(b.real, y);
  return wholeX && wholeY ? x == y : a.number() == b.number();
}

static constexpr uint32_t kFew = 8;

Value *findKey(const Dict &dict, Value key) {
  if (!isKey(key))
    return nullptr;
  if (!dict.index) {
    for (uint32_t i = 0; i < dict.count; ++i)
      if (sameKey(dict.entries[i].key, key))
        return &dict.entries[i].value;
    return nullptr;
  }
  for (uint32_t slot = hashOf(key);; ++slot) {
    uint32_t entry = dict.index[slot & (dict.slots - 1)];
    if (!entry)
      return nullptr;
    if (sameKey(dict.entries[entry - 1].key, key))
      return &dict.entries[entry - 1].value;
  }
}

static void enterKey(Dict &dict, uint32_t entry) {
  uint32_t slot = hashOf(dict.entries[entry].key);
  while (dict.index[slot & (dict.slots - 1)])
    ++slot;
  dict.index[slot & (dict.slots - 1)] = entry + 1;
}

void setKey(Heap &heap, Dict &dict, Value key, Value value) {
  if (Value *known = findKey(dict, key)) {
    *known = value;
    return;
  }
  if (dict.count == dict.capacity) {
    uint32_t capacity = std::max<uint32_t>(4, dict.capacity * 2);
    auto *entries = heap.make<DictEntry>(capacity);
    std::copy_n(dict.entries, dict.count, entries);
    dict.entries = entries;
    dict.capacity = capacity;
  }
  dict.entries[dict.count++] = {key, value};
  if (dict.count <= kFew)
    return;
  if (dict.index && dict.count * 2 <= dict.slots)
    return enterKey(dict, dict.count - 1);
  dict.slots = dict.slots ? dict.slots * 2 : kFew * 4;
  dict.index = heap.make<uint32_t>(dict.slots);
  for (uint32_t i = 0; i < dict.count; ++i)
    enterKey(dict, i);
}

} // namespace heddle::rt::chat
