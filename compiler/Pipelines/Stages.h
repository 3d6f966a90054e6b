//===- Stages.h - what a stage is, and the shared ones ----------*- C++ -*-===//
//
// All targets have the stages model -> entries -> fused -> tiled -> buffers, which are listed here. Those after
// `buffers` belong to a target (targets/CPU/ProcessorStages.h, targets/GPU/DeviceStages.h). These lists are the only
// places where passes get an order. They drive `heddle compile`, its --emit and --dump-ir, `heddle mask`, the pipelines
// of heddle-opt, the page of the stages and the code that tests compile (test/Layering/layering.py allows no other).
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

/// Every option of the pipelines (PipelineOptions.def says what they are). heddle-opt takes each under its flag:
/// --heddle-llvm="vector-width=8 registers=16".
struct PipelineOptions {
#define PIPELINE_OPTION(type, name, flag, value, text) type name = value;
#define PIPELINE_LIST(name, flag, text) std::vector<std::string> name;
#include "compiler/Pipelines/PipelineOptions.def"
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

/// A stage after `llvm`, which is no IR of MLIR: name and summary.
using OutputStage = std::pair<llvm::StringRef, llvm::StringRef>;

/// The stages that all targets share, `model` to `buffers`, in order.
llvm::ArrayRef<Stage> sharedStages();
/// All stages of a target that end in IR: the shared ones, then its own.
std::vector<Stage> withShared(llvm::ArrayRef<Stage> own);
/// The stage of this name among `stages`; null: it is not there.
const Stage *findStage(llvm::StringRef name, llvm::ArrayRef<Stage> stages);

//===-- parts of which targets make their stages ------------------------------------===//

/// One list after the other.
std::vector<PassFactory> joined(std::initializer_list<llvm::ArrayRef<PassFactory>> lists);
/// From loops over memory to the LLVM dialect.
llvm::ArrayRef<PassFactory> loopsToLlvm();
/// What ends a stage of code: unused and equal ops go.
llvm::ArrayRef<PassFactory> tidied();
/// The canonicalizer on loops, from the last op to the first.
std::unique_ptr<mlir::Pass> canonicalizeLoops(const PipelineOptions &options);
/// A pass without options.
template <std::unique_ptr<mlir::Pass> (*create)()> std::unique_ptr<mlir::Pass> plainPass(const PipelineOptions &) {
  return create();
}

//===-- modules and pass managers ----------------------------------------------------===//

/// Which stage a module is in: its attribute `heddle.stage`, written after every stage.
llvm::StringRef stageOf(mlir::ModuleOp module);

/// Holds a module that names its stage against the contract of that one of `stages`; errors say where it is broken.
/// Of files that are compiled on: what a person has edited need not be a stage any more.
mlir::LogicalResult checkClaim(mlir::ModuleOp module, llvm::ArrayRef<Stage> stages);

/// Appends the passes that lead from the stage before `stage` to it, and its contract.
void addStage(mlir::OpPassManager &pm, const Stage &stage, const PipelineOptions &options = {});

/// Appends the passes of a stage whose flags are `wanted`, without its contract: for what is less than a model, a mask
/// or a kernel. Of a shared stage its name does.
void addPasses(mlir::OpPassManager &pm, const Stage &stage, const PipelineOptions &options,
               llvm::function_ref<bool(llvm::StringRef flag)> wanted);
void addPasses(mlir::OpPassManager &pm, llvm::StringRef stage, const PipelineOptions &options,
               llvm::function_ref<bool(llvm::StringRef flag)> wanted);

} // namespace heddle

#endif
