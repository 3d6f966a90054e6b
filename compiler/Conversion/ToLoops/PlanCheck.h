//===- PlanCheck.h - whether a plan is whole --------------------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_CONVERSION_TOLOOPS_PLANCHECK_H
#define HEDDLE_COMPILER_CONVERSION_TOLOOPS_PLANCHECK_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace heddle::loops {

/// Reports what the plan of a function of stage `buffers` lacks, or where it leads out of its memory.
mlir::LogicalResult checkPlan(mlir::func::FuncOp function);

} // namespace heddle::loops

#endif
