//===- CrashFile.h - what a pass that fails leaves --------------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_DRIVER_CRASHFILE_H
#define HEDDLE_COMPILER_DRIVER_CRASHFILE_H

#include "compiler/Import/Json/Diagnostics.h"
#include "compiler/Pipelines/Stages.h"
#include "mlir/IR/OwningOpRef.h"

namespace heddle {

/// A stage's input, kept while its passes run. If one of them fails by a mistake of ours, its own input and its name
/// become a file that `heddle-opt --run-reproducer` runs.
class CrashFile {
public:
  CrashFile(mlir::ModuleOp module, const Stage &stage, const PipelineOptions &options)
      : input(module.clone()), stage(stage), options(options) {}

  /// Counts the passes of `pm` that succeed; `pm` holds the passes of the stage.
  void watch(mlir::PassManager &pm);
  /// Writes heddle-crash.mlir into the folder of the file `output`; a remark in `sink` says how to run it. Without
  /// locks: the last one that fails there leaves its file.
  void leave(llvm::StringRef output, DiagnosticSink &sink);

private:
  mlir::OwningOpRef<mlir::ModuleOp> input;
  const Stage &stage;
  const PipelineOptions &options;
  size_t done = 0;
};

} // namespace heddle

#endif
