//===- Values.h - What a template computes with -----------------*- C++ -*-===//
//
// The values of chat templates: Python's, as far as templates see them. A value
// is 16 bytes; texts, lists and dicts point into the heap of one rendering,
// which is given back as a whole. All of them are immutable but namespaces and
// iterators, so they are shared without copies, and a text or list that grows
// at its end grows in place.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_TEMPLATE_VALUES_H
#define HEDDLE_RUNTIME_TEMPLATE_VALUES_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace heddle::rt::chat {

enum class Kind : uint8_t {
  Missing, ///< an argument or a variable that is not set; never seen by a template
  Undefined,
  None,
  Bool,
  Integer,
  Real,
  Text,
  List,
  Tuple,
  Dict,
  Range,
  Iterator,
  Namespace,
  Macro,
  Method,
  Function,
  Loop
};

/// Why a value is undefined: what its message says.
enum class Why : uint8_t { Name, Attribute, Item, Forbidden, Parameter, NoElse, NoItem };

struct Dict;
struct RangeObject;
struct IteratorObject;
struct MacroObject;
struct MethodObject;
struct LoopObject;

struct Value {
  Kind kind = Kind::Missing;
  uint8_t flag = 0;   ///< Text: 1 if marked safe; Undefined: Why; Function: which
  uint16_t extra = 0; ///< Undefined: the kind of what lacks it
  uint32_t size = 0;  ///< Text: bytes; List, Tuple: items; Undefined: bytes of the name
  union {
    int64_t integer = 0;
    double real;
    const char *text;
    const Value *items;
    Dict *dict;
    RangeObject *range;
    IteratorObject *iterator;
    MacroObject *macro;
    MethodObject *method;
    LoopObject *loop;
  };

  std::string_view view() const { return {text, size}; }
  bool isText() const { return kind == Kind::Text; }
  bool isSafe() const { return kind == Kind::Text && flag; }
  bool isUndefined() const { return kind == Kind::Undefined; }
  bool isNumber() const { return kind == Kind::Integer || kind == Kind::Real || kind == Kind::Bool; }
  bool isWhole() const { return kind == Kind::Integer || kind == Kind::Bool; }
  bool isList() const { return kind == Kind::List || kind == Kind::Tuple; }
  bool given() const { return kind != Kind::Missing; }
  double number() const { return kind == Kind::Real ? real : double(integer); }
};
static_assert(sizeof(Value) == 16, "values are copied everywhere");

inline Value noneValue() {
  Value v;
  v.kind = Kind::None;
  return v;
}
inline Value boolValue(bool b) {
  Value v;
  v.kind = Kind::Bool;
  v.integer = b;
  return v;
}
inline Value integerValue(int64_t i) {
  Value v;
  v.kind = Kind::Integer;
  v.integer = i;
  return v;
}
inline Value realValue(double d) {
  Value v;
  v.kind = Kind::Real;
  v.real = d;
  return v;
}
/// A text that is not copied.
inline Value textValue(std::string_view text, bool safe = false) {
  Value v;
  v.kind = Kind::Text;
  v.flag = safe;
  v.size = uint32_t(text.size());
  v.text = text.data();
  return v;
}
inline Value undefinedValue(Why why, std::string_view name, Kind of = Kind::Missing) {
  Value v;
  v.kind = Kind::Undefined;
  v.flag = uint8_t(why);
  v.extra = uint16_t(of);
  v.size = uint32_t(name.size());
  v.text = name.data();
  return v;
}
inline Value listValue(const Value *items, size_t count, Kind kind = Kind::List) {
  Value v;
  v.kind = kind;
  v.size = uint32_t(count);
  v.items = items;
  return v;
}

struct DictEntry {
  Value key, value;
};
/// In the order of insertion; an index once there are more than a few.
struct Dict {
  DictEntry *entries = nullptr;
  uint32_t count = 0, capacity = 0;
  uint32_t *index = nullptr; ///< open addressing: entry + 1, 0 is free
  uint32_t slots = 0;
};
struct RangeObject {
  int64_t start, stop, step;
  int64_t length;
};
struct IteratorObject {
  const Value *items;
  size_t count, at;
};

/// The memory of one rendering.
class Heap {
public:
  explicit Heap(size_t limit) : limit(limit) {}
  ~Heap();
  Heap(const Heap &) = delete;
  Heap &operator=(const Heap &) = delete;

  /// Zeroed memory, aligned to 16 bytes; past the limit, too: a taker of much asks `fits` before, and the machine looks
  /// at `full` after every instruction.
  void *take(size_t bytes);
  template <typename T> T *make(size_t count = 1) { return static_cast<T *>(take(count * sizeof(T))); }
  bool fits(size_t bytes) const { return bytes <= limit && used + bytes <= limit; }
  bool full() const { return used > limit; }

  Value copy(std::string_view text, bool safe = false);
  /// `front`, with `more` after it; in place where `front` was the last text that grew.
  Value grow(Value front, std::string_view more, bool safe);
  /// The same for lists.
  Value growList(Value front, const Value *more, size_t count);

private:
  struct Chunk {
    Chunk *before;
  };
  static constexpr size_t kChunk = 64 << 10;

  size_t limit, used = 0;
  Chunk *chunks = nullptr;
  char *at = nullptr, *end = nullptr;
  char *textEnd = nullptr, *textLimit = nullptr;
  Value *listEnd = nullptr, *listLimit = nullptr;
};

/// "text", "none", ... for messages.
const char *nameOf(Value v);
bool truth(Value v);
/// The number of characters.
size_t countCharacters(std::string_view text);
/// Where the character `n` begins; the end if there are fewer.
size_t offsetOf(std::string_view text, size_t n);

/// A key of a dict: text, number, bool, none, or undefined.
bool isKey(Value v);
/// The value at a key, or null.
Value *findKey(const Dict &dict, Value key);
inline Value *findKey(const Dict &dict, std::string_view key) { return findKey(dict, textValue(key)); }
/// Sets a key, which must be one (isKey).
void setKey(Heap &heap, Dict &dict, Value key, Value value);
inline Value dictValue(Dict *dict) {
  Value v;
  v.kind = Kind::Dict;
  v.dict = dict;
  return v;
}

} // namespace heddle::rt::chat

#endif // HEDDLE_RUNTIME_TEMPLATE_VALUES_H
