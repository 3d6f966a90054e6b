//===- Card.h - The description of a compiled model ---------------*- C++
//-*-===//
//
// The card is text inside the binary (README.md has the grammar): dims and
// their bounds, the roles of generation, and for every entry its dims, inputs,
// outputs, states and arena as size forms. It is parsed strictly once at
// start-up.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_CARD_H
#define HEDDLE_RUNTIME_CARD_H

#include "runtime/Form.h"

#include <map>

namespace heddle::rt {

enum class Type : uint8_t { F32, I64, Bool };
const char *typeName(Type type);
inline size_t typeSize(Type type) {
  return type == Type::F32 ? 4 : type == Type::I64 ? 8 : 1;
}

struct Value {
  std::string name;
  Type type = Type::F32;
  std::vector<Form> axes;
  bool hasDefault = false; ///< an input that may be left out
  bool optionalAll =
      false; ///< an output that exists because all were asked for
  std::string typeText() const; ///< "i64[B, T]"
};

struct State {
  std::string name;
  Form bytes;
};

struct Entry {
  std::string name;
  int index = 0; ///< into heddle_entries
  std::vector<std::string> dims;
  std::vector<Value> inputs, outputs;
  std::vector<State> states;
  Form arena;
  Form flops; ///< multiplications and additions of one call
  bool hasArena = false, hasFlops = false;

  int dim(std::string_view name) const;
  const Value *input(std::string_view name) const;
  int outputIndex(std::string_view name) const; ///< -1 if there is none
};

/// Which inputs play which part when the model generates.
struct Roles {
  bool present = false;
  std::string tokens, logits, mask, positions, source;
  std::map<std::string, double> extend; ///< input -> what a new column holds
  std::vector<int64_t> eos;
  std::optional<int64_t> start, pad;
};

struct Card {
  std::string text, name, target, maskedRows, license;
  std::vector<std::string> needs; ///< CPU features
  std::vector<std::pair<std::string, std::optional<int64_t>>> dims; ///< bounds
  Roles roles;
  std::vector<Entry> entries;

  static Status parse(const char *text, Card &card);

  const Entry *entry(std::string_view name) const;
  std::optional<int64_t> bound(std::string_view dim) const;
};

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_CARD_H
