//===- SingleLaneStores.h - masked stores of one known lane -----*- C++ -*-===//
#ifndef HEDDLE_TARGETS_SINGLELANESTORES_H
#define HEDDLE_TARGETS_SINGLELANESTORES_H

namespace llvm {
class Module;
} // namespace llvm

namespace heddle {

/// Turns every masked store of integers whose constant mask has one lane into a store of that lane's element.
///
/// LLVM 22 does the same for AVX-512, and where the elements were truncated it stores them as wide as they were before:
/// one lane of `trunc <16 x i32> to <16 x i16>` becomes a store of 4 bytes. So no such store may reach the code
/// generator. Called after the optimiser, which makes masks constant; all other masks and element types are lowered
/// right (test/Targets/MaskedStoresTest.cpp tries them).
void storeSingleLanes(llvm::Module &module);

} // namespace heddle

#endif // HEDDLE_TARGETS_SINGLELANESTORES_H
