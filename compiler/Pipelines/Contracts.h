//===- Contracts.h - what may still exist after a stage ---------*- C++ -*-===//
//
// One function a stage says what must hold when it ends. It is asked twice: after the stage's
// passes, where a breach is a mistake of the compiler, and of a file that says it is in that
// stage, where it is a mistake in the file.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_PIPELINES_CONTRACTS_H
#define HEDDLE_COMPILER_PIPELINES_CONTRACTS_H

#include "compiler/Pipelines/Stages.h"
#include <functional>

namespace heddle {

/// @run alone, in the words of the description; every op has a location.
void checkModelStage(mlir::ModuleOp module, ContractReport report);
/// Every state has one owner, one type, one writer and capacity where rows are appended; a model
/// that generates has @step, or says why it has none.
void checkEntriesStage(mlir::ModuleOp module, ContractReport report);
/// No elementwise op is left, no map that its linear could take in, no linear with several
/// results, no mask or bias that nothing asks.
void checkFusedStage(mlir::ModuleOp module, ContractReport report);
/// Parameters are in the blob where it says, in layouts that their readers read; products
/// and attentions have tiles of which the target can make code; a state is alike for all that write and read it.
void checkTiledStage(mlir::ModuleOp module, ContractReport report);
/// What `tiled` has planned, and: the size of every function's arena is known before it runs; every result and all
/// working memory is inside of it or of an output, so nothing is allocated; nothing is written over while it is
/// needed.
void checkBuffersStage(mlir::ModuleOp module, ContractReport report);
/// The LLVM dialect alone, entries of the type that the runtime calls, and no external symbol
/// that abi.def does not list.
void checkLlvmStage(mlir::ModuleOp module, ContractReport report);

/// Kernels of one signature and what they call; no barrier of a team, nothing of the model's dialects.
void checkKernelsStage(mlir::ModuleOp module, ContractReport report);
/// The LLVM dialect and the device's; nothing is called that is not here.
void checkDeviceStage(mlir::ModuleOp module, ContractReport report);

/// The stages that a module may be in; empty after an error at the module.
using StagesOf = std::function<llvm::ArrayRef<Stage>(mlir::ModuleOp)>;

/// `heddle-check-stage{stage=REACHED}` ends every stage: it writes `heddle.stage` and checks the contract. Where
/// nothing is `reached` it checks the stage that the module names.
std::unique_ptr<mlir::Pass> createCheckStagePass(StagesOf stagesOf, llvm::StringRef reached = {});
/// Its flag.
inline constexpr llvm::StringLiteral kCheckStage = "heddle-check-stage";

} // namespace heddle

#endif
