//===- WeightsSummary.h - how the weights of a model are stored -*- C++ -*-===//
#ifndef HEDDLE_COMPILER_DRIVER_WEIGHTSSUMMARY_H
#define HEDDLE_COMPILER_DRIVER_WEIGHTSSUMMARY_H

#include "compiler/Weights/WeightStore.h"
#include "llvm/Support/raw_ostream.h"

namespace heddle {

/// Prints, of quantised weights, how many matrices are stored in which way, and which tensors are not needed and why;
/// nothing of ordinary weights.
void printWeightsSummary(const WeightStore &store, llvm::raw_ostream &os);

} // namespace heddle

#endif // HEDDLE_COMPILER_DRIVER_WEIGHTSSUMMARY_H
