//===- LiveRows.h - dims that count live rows -------------------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_CONVERSION_MODELTOENTRIES_LIVEROWS_H
#define HEDDLE_COMPILER_CONVERSION_MODELTOENTRIES_LIVEROWS_H

#include "dialects/Model/IR/Model.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace heddle::entries {

/// A name for the dim of a new `model.live_rows`: `live`, or with a number after it where the
/// function has such a dim.
std::string newLiveDim(mlir::func::FuncOp function);

} // namespace heddle::entries

#endif
