//===- CompileWatcher.h - looks at a compilation ----------------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_DRIVER_COMPILEWATCHER_H
#define HEDDLE_COMPILER_DRIVER_COMPILEWATCHER_H

#include "compiler/Pipelines/Stages.h"
#include "targets/Host/CodeGen.h"
#include "targets/Target.h"

namespace heddle {

struct RemarkRecord;

/// A pass of a stage. Numbers are counted from 1 for each target; 0 is the import.
struct PassRun {
  unsigned number = 0;
  std::string stage;              ///< that it leads to
  std::string flag;               ///< model-split-linear
  std::string pipeline;           ///< the flag with its options, as --pass-pipeline takes it
  std::string fileName;           ///< the same as part of a file's name (--dump-ir)
  double ms = 0;                  ///< of the pass and of the verifier behind it; known when it has ended
  int64_t opsBefore = 0, ops = 0; ///< in the module; `ops` is known when it has ended
};

/// Looks at a compilation while it runs, without changing it: CompileOptions::watchers. All calls come from the thread
/// that compiles. With a watcher and without an output, code is generated and nothing is written.
class CompileWatcher {
public:
  virtual ~CompileWatcher() = default;
  /// The module of a target before the passes of its first stage.
  virtual void imported(mlir::ModuleOp, const Target &) {}
  /// Before the passes of `stage` run in `pm`, and after they did and the contract of the stage was found kept.
  virtual void begins(const Stage &, mlir::PassManager &) {}
  virtual void ended(const Stage &, mlir::ModuleOp) {}
  /// Before and after a pass.
  virtual void beforePass(const PassRun &, mlir::ModuleOp) {}
  virtual void afterPass(const PassRun &, mlir::ModuleOp) {}
  /// The object files of all functions, and of the data.
  virtual void generated(llvm::ArrayRef<host::CodePart>) {}
  /// Whether passes shall make remarks; then all of them, when everything has been generated.
  virtual bool wantsRemarks() const { return false; }
  virtual void remarked(llvm::ArrayRef<RemarkRecord>) {}
  /// The linker has run with these words. `folder` has the objects, those of the parts first, until this returns.
  virtual void linked(llvm::ArrayRef<std::string> /*line*/, llvm::StringRef /*folder*/) {}
};

} // namespace heddle

#endif
