//===- Reduce.cpp - smaller IR that still has a fault ---------------------===//
//
// Greedy: each step is tried at each place on a copy, and kept where the fault stays; rounds go on until one changes
// nothing. MLIR's reducer is not used: it removes only ops without users, runs a script for every try, and ends the
// process where a result surprises it.
//
//===----------------------------------------------------------------------===//

#include "compiler/Reduce/Reduce.h"
#include "compiler/Reduce/Steps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace heddle;

int64_t heddle::opsOf(ModuleOp module) {
  int64_t ops = -1; // the module itself
  module->walk([&](Operation *) { ++ops; });
  return ops;
}

Reduction heddle::reduceModule(OwningOpRef<ModuleOp> &module, HasFault hasFault,
                               const ValueBecomesInput &becomesInput) {
  Reduction result;
  result.before = result.after = opsOf(*module);
  // What is wrong with a try is nobody's business.
  ScopedDiagnosticHandler quiet(module->getContext(), [](mlir::Diagnostic &) { return success(); });
  for (bool changed = true; changed;) {
    changed = false;
    for (ReductionStep step : reductionSteps())
      for (int64_t place = 0;;) {
        OwningOpRef<ModuleOp> smaller(module->clone());
        Stepped stepped = step(*smaller, place, becomesInput);
        if (stepped == Stepped::NoMore)
          break;
        bool good = stepped == Stepped::Done && succeeded(verify(*smaller));
        if (good) {
          dropDeadOps(*smaller);
          ++result.tried;
          good = hasFault(*smaller);
        }
        if (good) {
          module = std::move(smaller);
          changed = true;
        } else {
          ++place;
        }
      }
  }
  result.after = opsOf(*module);
  return result;
}
