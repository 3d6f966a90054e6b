//===- MemoryRemarks.h - what the memory plan decided -----------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_PLAN_MEMORYREMARKS_H
#define HEDDLE_COMPILER_PLAN_MEMORYREMARKS_H

#include "compiler/Plan/Target.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace heddle::plan {

/// Remarks on the places that a function's results have: where they are, which are written over an operand, what
/// repeats and the return copy. They are read off the plan, so they are those of a file that was changed by hand, too.
void remarkOnMemory(mlir::func::FuncOp function, const Target &target);

} // namespace heddle::plan

#endif
