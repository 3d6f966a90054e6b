//===- VectorHead.h - vectors of texts --------------------------*- C++ -*-===//
//
// A model whose hidden states become one vector a text (compiler/SideFiles/SentenceVectors.h) has a second function.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_DIALECTS_MODEL_IR_VECTORHEAD_H
#define HEDDLE_DIALECTS_MODEL_IR_VECTORHEAD_H

#include "llvm/ADT/StringRef.h"

namespace heddle::model {

/// The entry from pooled hidden states f32[B, width] to vectors f32[B, D].
inline constexpr llvm::StringLiteral kHeadEntry = "head";
/// A dictionary of the module: the traits of lines `vector` of the card (runtime/card.md).
inline constexpr llvm::StringLiteral kVectors = "model.vectors";
/// A list of pairs [NAME, FILE] of the module: tensors of FILE are called NAME.TENSOR.
inline constexpr llvm::StringLiteral kModuleWeights = "model.module_weights";

} // namespace heddle::model

#endif
