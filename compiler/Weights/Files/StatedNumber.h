// What a file of weights says of its model, next to the weights.
#ifndef HEDDLE_COMPILER_WEIGHTS_FILES_STATEDNUMBER_H
#define HEDDLE_COMPILER_WEIGHTS_FILES_STATEDNUMBER_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>

namespace heddle {

/// A number that a file of weights states of its model, as GGUF files do: `llama.attention.head_count`.
struct StatedNumber {
  std::string file, key;
  size_t prefix = 0; ///< bytes of the key before the part that all architectures share
  double value = 0;
  uint64_t byte = 0; ///< where the value is

  llvm::StringRef common() const { return llvm::StringRef(key).drop_front(prefix); }
};

} // namespace heddle

#endif // HEDDLE_COMPILER_WEIGHTS_FILES_STATEDNUMBER_H
