// What llama.cpp calls a tensor, and what its converter did to it: one table, from the names of a GGUF file to those of
// the Hugging Face checkpoint.
#ifndef HEDDLE_COMPILER_WEIGHTS_GGUF_GGUFNAMES_H
#define HEDDLE_COMPILER_WEIGHTS_GGUF_GGUFNAMES_H

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace heddle {

enum class GgufChange : uint8_t {
  None,
  QueryRows, ///< the rows of each head are in the order of rotary pairs
  KeyRows,   ///< the same, of the heads of keys
  PlusOne,   ///< 1 was added to the weight of a norm
  OneRow,    ///< a matrix of one row is stored as a vector
  Experts,   ///< the matrices of all experts are one tensor; `@` in the name is the expert
};

struct GgufName {
  std::string name;
  GgufChange change = GgufChange::None;
};

/// Whether files of this architecture are read; `known` lists those that are.
bool isGgufArchitecture(llvm::StringRef architecture);
llvm::StringRef ggufArchitectures();

/// None: the table does not know the tensor. An empty name: it is not needed.
std::optional<GgufName> nameOfGguf(llvm::StringRef architecture, llvm::StringRef tensor);

} // namespace heddle

#endif // HEDDLE_COMPILER_WEIGHTS_GGUF_GGUFNAMES_H
