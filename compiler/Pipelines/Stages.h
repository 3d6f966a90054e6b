//===- Stages.h - the one table of stages -----------------------*- C++ -*-===//
//
// All targets: model -> entries -> fused -> tiled -> buffers. Then "cpu": llvm -> llvmir, asm,
// obj, exe; "cuda": kernels -> llvm -> llvmir, ptx, obj, exe. This table is the only place where
// passes get an order. It drives `heddle compile`, its --emit and
// --dump-ir, `heddle mask`, the pipelines of heddle-opt, the page of the stages and the code
// that tests compile (test/Layering/layering.py allows no other).
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_PIPELINES_STAGES_H
#define HEDDLE_COMPILER_PIPELINES_STAGES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace heddle {

/// Every option of the pipelines with its default. heddle-opt takes each under its name with
/// dashes: --heddle-llvm="vector-width=8 registers=16".
struct PipelineOptions {
  std::string cache = "auto";      ///< auto, require, none: the cached step
  std::string slots = "none";      ///< auto, require, none: @batch, whose rows are texts of their own
  std::string paddedRows = "auto"; ///< auto, skip, compute: rows of padding that no output needs
  int64_t longestPiece = 512;      ///< new rows of a call where a state is a ring
  int64_t panel = 0;               ///< results of a tile of a product; 0: as the target likes them
  int64_t vectorWidth = 16;        ///< f32 lanes of the target's vectors
  int64_t registers = 32;          ///< vector registers of the target
  int64_t longestFunction = 16000; ///< ops above which a function becomes several
  int64_t weightBits = 0;          ///< 8 or 4: large matrices become codes; 0: none does
  int64_t weightGroup = 128;       ///< features that share a scale; 0: all of a row
  std::vector<std::string> keep;   ///< names of matrices that become no codes, * is any text
};

/// What a contract complains to: an op, and what is wrong with it.
using ContractReport = llvm::function_ref<void(mlir::Operation *op, const llvm::Twine &what)>; // as plan::Report

/// Makes one pass of a stage.
using PassFactory = std::unique_ptr<mlir::Pass> (*)(const PipelineOptions &options);

/// One stage that ends in IR.
struct Stage {
  llvm::StringRef name;               ///< --emit=NAME, --heddle-NAME
  llvm::ArrayRef<PassFactory> passes; ///< from the stage before, in order
  llvm::StringRef summary;            ///< what holds after it
  /// What may still exist after it; reports what does not belong (Contracts.h).
  void (*contract)(mlir::ModuleOp module, ContractReport report);
};

/// The stages from `model` to `llvm` of a target, "cpu" or "cuda", in order: up to `buffers` they are the same.
llvm::ArrayRef<Stage> stages(llvm::StringRef target = "cpu");
/// The stages after `llvm`, which are no IR of MLIR: name and summary.
llvm::ArrayRef<std::pair<llvm::StringRef, llvm::StringRef>> outputStages(llvm::StringRef target = "cpu");
const Stage *findStage(llvm::StringRef name, llvm::StringRef target = "cpu");

/// Which stage a module is in: its attribute `heddle.stage`, written after every stage.
llvm::StringRef stageOf(mlir::ModuleOp module);

/// Holds a module that names its stage against that stage's contract; errors say where it is
/// broken. Of files that are compiled on: what a person has edited need not be a stage any more.
mlir::LogicalResult checkClaim(mlir::ModuleOp module);
/// The same as a pass, --heddle-check-stage.
std::unique_ptr<mlir::Pass> createCheckStagePass();

/// Appends the passes that lead from the stage before `stage` to it, and its contract.
void addStage(mlir::OpPassManager &pm, const Stage &stage, const PipelineOptions &options = {});

/// Appends the passes of a stage whose flags are `wanted`, without its contract: for what is less
/// than a model, a mask or a kernel. `stage` is the name of a row of the table.
void addPasses(mlir::OpPassManager &pm, llvm::StringRef stage, const PipelineOptions &options,
               llvm::function_ref<bool(llvm::StringRef flag)> wanted);

/// Registers the passes that the table names, and one pipeline a stage: --heddle-fused, ...
void registerPasses();
void registerStagePasses(); ///< those that are not registered yet
void registerPipelines();
/// Every dialect that a stage may hold.
void registerDialects(mlir::DialectRegistry &registry);

/// The table as a page of markdown.
std::string describeStages();

} // namespace heddle

#endif
