//===- ModelPlanAttrs.h - what the plan writes on ops -----------*- C++ -*-===//
//
// Whatever op they are on, these attributes are discardable and belong to the dialect, which verifies them
// (ModelPlanAttrs.cpp); their names are there alone. A pass that plans sets them, everybody else asks here.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_DIALECTS_MODEL_IR_MODELPLANATTRS_H
#define HEDDLE_DIALECTS_MODEL_IR_MODELPLANATTRS_H

#include "dialects/Model/IR/Model.h"
#include "mlir/IR/BuiltinOps.h"

namespace heddle::model {

/// On a module: the stage that it is in, a name of compiler/Pipelines/Stages.h.
constexpr llvm::StringLiteral kStageAttr = "heddle.stage";

/// Where a result is; null: not decided yet.
PlaceAttr placeOf(mlir::OpResult result);
/// One place a result.
void setPlaces(mlir::Operation *op, llvm::ArrayRef<PlaceAttr> places);

/// Where the working memory of an op begins; null: it has none.
PlaceAttr scratchOf(mlir::Operation *op);
void setScratch(mlir::Operation *op, PlaceAttr place);

/// How many bytes of arena a function needs.
std::optional<Size> arenaOf(mlir::Operation *function);
void setArena(mlir::Operation *function, const Size &bytes);

/// Which carried values of a repeat are copied to their place before it, and after each iteration; which
/// operands of a return are copied to the caller's memory. Empty: nobody has said.
llvm::ArrayRef<bool> copiesInto(RepeatOp op);
llvm::ArrayRef<bool> copiesBack(RepeatOp op);
void setCopies(RepeatOp op, llvm::ArrayRef<bool> into, llvm::ArrayRef<bool> back);
llvm::ArrayRef<bool> copiesOut(mlir::Operation *returning);
void setCopiesOut(mlir::Operation *returning, llvm::ArrayRef<bool> copies);

/// Whether rows move within the place of the operand (pack_rows, unpack_rows).
bool isInPlace(mlir::Operation *op);
void setInPlace(mlir::Operation *op);

/// The tiles of a linear or a matmul; null: not decided yet.
ScheduleAttr scheduleOf(mlir::Operation *op);
void setSchedule(mlir::Operation *op, ScheduleAttr schedule);

/// The rows of its weight, and elements of its bias, that a linear takes: all, or those of its part.
WeightLayout rowsTakenBy(LinearOp op);

/// In what pieces a long text comes to the step; null: in one.
PiecesAttr piecesOf(mlir::Operation *function);
void setPieces(mlir::Operation *function, PiecesAttr pieces);

/// What the module is compiled for; null: not decided yet.
TargetAttr targetOf(mlir::Operation *op);
void setTarget(mlir::ModuleOp module, TargetAttr target);

/// The entries of the blob and its bytes.
llvm::SmallVector<BlobEntryAttr> blobOf(mlir::ModuleOp module);
int64_t blobBytesOf(mlir::ModuleOp module);
void setBlob(mlir::ModuleOp module, llvm::ArrayRef<BlobEntryAttr> entries, int64_t bytes);
/// Whether parameters have their places.
bool hasBlob(mlir::ModuleOp module);

/// On what an op has become in its entry, where that has regions: the op's name. `take` removes it; empty: there is
/// none.
void setLoweredFrom(mlir::Operation *made, llvm::StringRef op);
llvm::StringRef takeLoweredFrom(mlir::Operation *made);

} // namespace heddle::model

#endif
