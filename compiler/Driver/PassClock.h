//===- PassClock.h - tells watchers of passes -------------------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_DRIVER_PASSCLOCK_H
#define HEDDLE_COMPILER_DRIVER_PASSCLOCK_H

#include "compiler/Driver/CompileWatcher.h"
#include "mlir/Pass/PassManager.h"
#include <chrono>

namespace heddle {

/// Tells watchers of every pass of a target's stages, each of which has a pass manager of its own. A pass is measured
/// without what the watchers do themselves. Contracts of stages are no passes.
class PassClock {
public:
  PassClock(llvm::ArrayRef<CompileWatcher *> watchers, mlir::ModuleOp module);

  /// Of the passes that lead to `stage`. Without watchers nothing is added.
  void watch(mlir::PassManager &pm, llvm::StringRef stage);

private:
  class Instrumentation;

  llvm::ArrayRef<CompileWatcher *> watchers;
  PassRun run; ///< the present pass, or the last one
  std::chrono::steady_clock::time_point start;
};

/// The ops in a module, itself not counted.
int64_t opsIn(mlir::ModuleOp module);

} // namespace heddle

#endif
