// The JSON of adapter_config.json as values with their places. Strict: no key twice, nothing after the object, bounded
// depth and size.
#ifndef HEDDLE_COMPILER_WEIGHTS_ADAPTER_CONFIGTREE_H
#define HEDDLE_COMPILER_WEIGHTS_ADAPTER_CONFIGTREE_H

#include "absl/status/statusor.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace heddle {

struct ConfigMember;

struct ConfigValue {
  enum class Kind { Null, Bool, Number, Text, List, Object };

  Kind kind = Kind::Null;
  uint64_t byte = 0; ///< where it begins in the file
  bool boolean = false;
  double number = 0;
  std::string text;
  std::vector<ConfigValue> items;    ///< of a list
  std::vector<ConfigMember> members; ///< of an object, in its order

  bool is(Kind k) const { return kind == k; }
  /// Whether it is a number without fraction that a double holds exactly.
  bool isWhole() const;
  /// "null", "a number" ..., for messages.
  llvm::StringRef describe() const;
};

struct ConfigMember {
  std::string key;
  uint64_t byte = 0; ///< of the key
  ConfigValue value;
};

/// Reads one object; `file` is only printed. Errors are of `Error::BadAdapter`, with their byte.
absl::StatusOr<ConfigValue> parseConfig(llvm::StringRef text, llvm::StringRef file);

} // namespace heddle

#endif // HEDDLE_COMPILER_WEIGHTS_ADAPTER_CONFIGTREE_H
