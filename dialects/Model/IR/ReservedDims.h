//===- ReservedDims.h - dims that no description names ----------*- C++ -*-===//
//
// The rows HEDDLE_DIM of abi.def, which the runtime reads too (runtime/Core/Dims.h): kPastDim,
// kNewDim, kCapacityDim, kSlotsDim, kAskedDim, kThreadsDim, kLiveDim.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_DIALECTS_MODEL_IR_RESERVEDDIMS_H
#define HEDDLE_DIALECTS_MODEL_IR_RESERVEDDIMS_H

#include "llvm/ADT/StringRef.h"

namespace heddle::model {

#define HEDDLE_DIM(name, word, meaning) inline constexpr llvm::StringLiteral k##name##Dim = word;
#include "runtime/include/heddle/abi.def"

/// What a step has next to the dims of its inputs, in the order in which an entry takes them.
inline constexpr llvm::StringLiteral kStepDims[] = {kPastDim, kNewDim, kCapacityDim};

/// What a reserved dim counts; empty for any other.
inline llvm::StringRef meaningOfReservedDim(llvm::StringRef dim) {
#define HEDDLE_DIM(name, word, meaning)                                                                                \
  if (dim == word)                                                                                                     \
    return meaning;
#include "runtime/include/heddle/abi.def"
  return {};
}

} // namespace heddle::model

#endif
