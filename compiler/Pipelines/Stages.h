//===- Stages.h - the one table of stages -----------------------*- C++ -*-===//
//
// model -> entries -> fused -> tiled -> buffers -> llvm -> llvmir -> obj -> exe. This table is
// the only place where passes get an order: it drives `heddle compile`, its --emit and
// --dump-ir, the pipelines of heddle-opt and the page of the stages.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_PIPELINES_STAGES_H
#define HEDDLE_COMPILER_PIPELINES_STAGES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace heddle {

/// Every knob of the pipelines, declared once. A stage's pass list names them in braces.
struct PipelineOptions {
  std::string cache = "auto"; ///< auto, require, none: the cached step
  std::string paddedRows = "auto"; ///< auto, skip, compute: rows of padding that nobody needs
  int64_t vectorWidth = 16;   ///< f32 lanes of the target's vectors
  int64_t registers = 32;     ///< vector registers of the target
  int64_t longestFunction = 16000; ///< ops above which a function becomes several
};

/// One stage that ends in IR.
struct Stage {
  llvm::StringRef name;    ///< --emit=NAME, --heddle-NAME
  llvm::StringRef passes;  ///< textual pipeline from the stage before; ${knob} is replaced
  llvm::StringRef summary; ///< what holds after it
  /// What may still exist after it; reports what does not belong.
  mlir::LogicalResult (*contract)(mlir::ModuleOp);
};

/// The stages from `model` to `llvm`, in order.
llvm::ArrayRef<Stage> stages();
/// The stages after `llvm`, which are no IR of MLIR: name and summary.
llvm::ArrayRef<std::pair<llvm::StringRef, llvm::StringRef>> outputStages();
const Stage *findStage(llvm::StringRef name);

/// Which stage a module is in: its attribute `heddle.stage`, written after every stage.
llvm::StringRef stageOf(mlir::ModuleOp module);

/// Appends the passes that lead from the stage before `stage` to it.
mlir::LogicalResult addStage(mlir::OpPassManager &pm, const Stage &stage,
                             const PipelineOptions &options);

/// Registers the passes that the table names, and one pipeline a stage: --heddle-fused, ...
void registerPasses();
void registerPipelines();
/// Every dialect that a stage may hold.
void registerDialects(mlir::DialectRegistry &registry);

/// The table as a page of markdown.
std::string describeStages();

} // namespace heddle

#endif
