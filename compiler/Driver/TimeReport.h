//===- TimeReport.h - where time and memory of a compilation go -*- C++ -*-===//
//
// `--time`: one line a phase as it ends (wall clock, CPU of all threads, peak memory so far). Behind the last stage
// follow the passes that took more than a hundredth of the time of all, behind code generation its functions, both
// indented. `--time=json`: everything as one object, when the compilation has ended.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_DRIVER_TIMEREPORT_H
#define HEDDLE_COMPILER_DRIVER_TIMEREPORT_H

#include "compiler/Driver/CompileWatcher.h"
#include "llvm/Support/raw_ostream.h"

namespace heddle {

class TimeReport final : public CompileWatcher {
public:
  /// `lines`: where they are printed; null: nowhere, all is printed as JSON by `finish`.
  explicit TimeReport(llvm::raw_ostream *lines);

  /// Time and memory of the process from one moment to the next.
  struct Usage {
    double wall = 0, cpu = 0; ///< seconds
    double peak = 0;          ///< bytes, so far
    static Usage now();
  };
  /// A phase has ended. `kind`: "stage", or "".
  void phase(llvm::StringRef kind, llvm::StringRef name, const Usage &since);

  void imported(mlir::ModuleOp module, const Target &target) override;
  void afterPass(const PassRun &run, mlir::ModuleOp module) override;
  void generated(llvm::ArrayRef<host::CodePart> parts) override;

  /// When the compilation has ended: the lines that are left, or the JSON (commands.md) to `out`.
  void finish(llvm::raw_ostream &out);

private:
  struct Phase {
    std::string kind, name, target;
    Usage used;
  };
  struct Pass {
    std::string target;
    PassRun run;
  };
  struct Function {
    std::string name;
    double seconds;
    size_t bytes;
  };
  void printPasses();
  void printJson(llvm::raw_ostream &os) const;

  llvm::raw_ostream *lines;
  Usage start = Usage::now();
  const Target *target = nullptr; ///< whose stages run
  std::vector<Phase> phases;
  std::vector<Pass> passes;
  size_t shown = 0; ///< passes of targets that are done
  std::vector<Function> functions;
};

} // namespace heddle

#endif
