// The ways in which checkpoints store quantised matrices, one function a way. Which way a module goes is read off its
// tensors; CodedMethods.cpp has the table, and makes the view of a store in which coded matrices stand for their
// pieces.
#ifndef HEDDLE_COMPILER_WEIGHTS_CODED_CODEDMETHODS_H
#define HEDDLE_COMPILER_WEIGHTS_CODED_CODEDMETHODS_H

#include "compiler/Weights/Coded/CodedPieces.h"

namespace heddle {

/// Checks the shapes and types of all pieces beside `codes`, and reads what shapes depend on.
using OpenCoded = absl::StatusOr<std::unique_ptr<CodedTensor>>(const CodedPieces &pieces, const StoredTensor &codes,
                                                               const CodedScheme &scheme);
OpenCoded openGptq, openAwq, openPacked, openPlain, openNvfp4, openMxfp4, openFourBits, openEightBits;
/// Whether a matrix has the JSON object of bitsandbytes' 4 bits.
bool isFourBits(const CodedPieces &pieces);

/// The values of `quant_method` that are read, for messages.
llvm::StringRef codedMethods();
/// The method whose matrices have tensors of this name; empty if it can be any tensor's.
llvm::StringRef methodOfName(llvm::StringRef tensor);

/// What a store offers in the place of its tensors.
struct CodedView {
  std::vector<std::unique_ptr<CodedTensor>> matrices;
  /// Names of tensors that are pieces of a matrix.
  std::vector<llvm::StringRef> pieces;
  /// Names of tensors that a checkpoint has and Heddle does not need: scales of activations and caches.
  std::vector<llvm::StringRef> unneeded;
};
/// `tensors` are all tensors of the store, by name.
absl::StatusOr<CodedView> viewCoded(llvm::ArrayRef<StoredTensor> tensors, const CodedPieces::Find &find,
                                    const CodedScheme &scheme);

} // namespace heddle

#endif // HEDDLE_COMPILER_WEIGHTS_CODED_CODEDMETHODS_H
