// A JSON text as values in memory, whole at once: the members of an object are in their order.
#ifndef HEDDLE_RUNTIME_JSON_TREE_H
#define HEDDLE_RUNTIME_JSON_TREE_H

#include "runtime/Json/Reader.h"
#include <utility>
#include <vector>

namespace heddle::json {

struct Value {
  enum class Kind : uint8_t { Null, Boolean, Integer, Real, Text, Array, Object } kind = Kind::Null;
  bool boolean = false;
  int64_t integer = 0;
  double real = 0; ///< of an integer, too
  std::string text;
  std::vector<Value> items;                           ///< of an array
  std::vector<std::pair<std::string, Value>> members; ///< of an object

  bool is(Kind k) const { return kind == k; }
  bool isNumber() const { return kind == Kind::Integer || kind == Kind::Real; }
  /// The member of this name; null: there is none, or this is no object.
  const Value *find(std::string_view name) const;
};

/// Reads a whole text.
Fault readTree(std::string_view text, Value &value, const ReadLimits &limits = {});

/// Writes a value without blanks. Reals have 17 digits and so are read back as they were.
std::string write(const Value &value);

} // namespace heddle::json

#endif
