//===- PlanCheck.h - whether a plan is whole and true -----------*- C++ -*-===//
//
// A stage can be saved, edited and compiled on. What an attribute may be at all its verifier says; here the plan is
// held against the ops around it. The contracts of the stages `tiled` and `buffers` (compiler/Pipelines/Contracts.cpp)
// are these checks, and the pass that makes loops begins with them: what our passes have planned passes, so an error is
// an editor's, or a mistake of a pass.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_PLAN_PLANCHECK_H
#define HEDDLE_COMPILER_PLAN_PLANCHECK_H

#include "compiler/Plan/Target.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace heddle::plan {

/// Is told an op, and what is wrong with it.
using Report = llvm::function_ref<void(mlir::Operation *op, const llvm::Twine &what)>;

/// Every product and attention has tiles, and the target can make code of them.
void checkTiles(mlir::ModuleOp module, const Target &target, Report report);

/// Every parameter is where the blob has it, in a layout that its readers can read.
void checkParameters(mlir::ModuleOp module, Report report);

/// A state is alike in all functions, as its readers read it; a ring holds all that they may see.
void checkCaches(mlir::ModuleOp module, Report report);

/// Checks a memory plan, after the tiles: the arena size is known, every result and scratch buffer is inside its
/// memory, no live value is overwritten. Forms are compared at some lengths that represent all.
void checkMemory(mlir::func::FuncOp function, const Target &target, Report report);

/// All of `tiled`, and all of `buffers`.
void checkTiledPlan(mlir::ModuleOp module, Report report);
void checkBuffersPlan(mlir::ModuleOp module, Report report);

} // namespace heddle::plan

#endif
