//===- Contracts.h - what may still exist after a stage ---------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_PIPELINES_CONTRACTS_H
#define HEDDLE_COMPILER_PIPELINES_CONTRACTS_H

#include "compiler/Pipelines/Stages.h"

namespace heddle {

mlir::LogicalResult verifyModelStage(mlir::ModuleOp module);   ///< every op has a location
mlir::LogicalResult verifyEntriesStage(mlir::ModuleOp module); ///< every state has an owner and one writer
mlir::LogicalResult verifyFusedStage(mlir::ModuleOp module);   ///< a linear has one result
mlir::LogicalResult verifyTiledStage(mlir::ModuleOp module);   ///< every parameter has a place in the blob
mlir::LogicalResult verifyBuffersStage(mlir::ModuleOp module); ///< the arena's size is known before running
mlir::LogicalResult verifyLlvmStage(mlir::ModuleOp module);    ///< no Heddle op left

/// Checks the stage's contract and writes `heddle.stage`; ends every stage.
std::unique_ptr<mlir::Pass> createContractPass(const Stage &stage);

} // namespace heddle

#endif
