//===- Dims.h - dims that the runtime itself chooses ------------*- C++ -*-===//
//
// Dims with a meaning of their own, kPastDim = "past" and so on: the rows
// HEDDLE_DIM of abi.def, which the compiler reads too.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_CORE_DIMS_H
#define HEDDLE_RUNTIME_CORE_DIMS_H

#include <string_view>

namespace heddle::rt {

#define HEDDLE_DIM(name, word, meaning) inline constexpr std::string_view k##name##Dim = word;
#include "heddle/abi.def"

/// Whether a dim is one that entries `step` and `batch` have, whatever the inputs of the model are.
inline bool isStepDim(std::string_view dim) {
  return dim == kPastDim || dim == kNewDim || dim == kCapacityDim || dim == kSlotsDim || dim == kAskedDim;
}

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_CORE_DIMS_H
