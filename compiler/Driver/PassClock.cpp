//===- PassClock.cpp - tells watchers of passes ---------------------------===//

#include "compiler/Driver/PassClock.h"
#include "compiler/Pipelines/Contracts.h"
#include "compiler/Pipelines/PassText.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"

using namespace mlir;
using namespace heddle;

int64_t heddle::opsIn(ModuleOp module) {
  int64_t ops = -1;
  module->walk([&](Operation *) { ++ops; });
  return ops;
}

PassClock::PassClock(ArrayRef<CompileWatcher *> watchers, ModuleOp module) : watchers(watchers) {
  if (!watchers.empty())
    run.ops = opsIn(module);
}

class PassClock::Instrumentation final : public PassInstrumentation {
public:
  Instrumentation(PassClock &clock, StringRef stage) : clock(clock), stage(stage.str()) {}

  void runBeforePass(Pass *pass, Operation *op) override {
    if (!isOurs(pass))
      return;
    PassRun &run = clock.run;
    PassText text = textOf(*pass);
    run = {run.number + 1, stage, text.flag, text.pipeline(), text.fileName(), 0, run.ops, 0};
    for (CompileWatcher *watcher : clock.watchers)
      watcher->beforePass(run, moduleOf(op));
    clock.start = std::chrono::steady_clock::now();
  }

  void runAfterPass(Pass *pass, Operation *op) override {
    if (!isOurs(pass))
      return;
    PassRun &run = clock.run;
    run.ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - clock.start).count();
    run.ops = opsIn(moduleOf(op));
    for (CompileWatcher *watcher : clock.watchers)
      watcher->afterPass(run, moduleOf(op));
  }

private:
  /// Passes without a flag are MLIR's own, which go into functions.
  static bool isOurs(Pass *pass) { return !pass->getArgument().empty() && pass->getArgument() != kCheckStage; }
  static ModuleOp moduleOf(Operation *op) {
    auto module = dyn_cast<ModuleOp>(op);
    return module ? module : op->getParentOfType<ModuleOp>();
  }

  PassClock &clock;
  std::string stage;
};

void PassClock::watch(PassManager &pm, StringRef stage) {
  if (!watchers.empty())
    pm.addInstrumentation(std::make_unique<Instrumentation>(*this, stage));
}
