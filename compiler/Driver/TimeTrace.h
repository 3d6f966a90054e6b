//===- TimeTrace.h - a compilation for viewers of traces --------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_DRIVER_TIMETRACE_H
#define HEDDLE_COMPILER_DRIVER_TIMETRACE_H

#include "compiler/Driver/CompileWatcher.h"
#include "compiler/Driver/Console.h"

namespace heddle {

/// --time-trace: phases, passes and the functions of code generation, by thread, in Chrome's trace format, which
/// ui.perfetto.dev and speedscope.app show. LLVM's TimeTraceProfiler records them; it is on while this lives.
class TimeTrace final : public CompileWatcher {
public:
  TimeTrace();
  ~TimeTrace() override;

  void beforePass(const PassRun &run, mlir::ModuleOp module) override;
  void afterPass(const PassRun &run, mlir::ModuleOp module) override;

  /// Writes the trace; the exit code, an error has been reported.
  int write(const Console &console, llvm::StringRef path) const;

private:
  std::vector<PassRun> passes;
};

} // namespace heddle

#endif
