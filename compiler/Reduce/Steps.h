//===- Steps.h - the ways in which IR can become smaller --------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_REDUCE_STEPS_H
#define HEDDLE_COMPILER_REDUCE_STEPS_H

#include "compiler/Reduce/Reduce.h"
#include "llvm/ADT/ArrayRef.h"

namespace heddle {

enum class Stepped { Done, Nothing, NoMore };

/// Changes `module` at the place number `place`: Nothing where this step does nothing there, NoMore behind the last
/// place. What it makes may be invalid.
using ReductionStep = Stepped (*)(mlir::ModuleOp module, int64_t place, const ValueBecomesInput &becomesInput);

/// In the order in which they are tried: what removes much first.
llvm::ArrayRef<ReductionStep> reductionSteps();

/// Removes ops without effect whose results nobody uses.
void dropDeadOps(mlir::ModuleOp module);

} // namespace heddle

#endif
