//===- Lengths.h - lengths and bytes that plans count with ------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_PLAN_LENGTHS_H
#define HEDDLE_COMPILER_PLAN_LENGTHS_H

#include "dialects/Model/IR/Model.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace heddle::plan {

/// Bytes of an element in memory (a boolean has one).
inline int64_t bytesOf(mlir::Type element) { return element.isInteger(1) ? 1 : element.getIntOrFloatBitWidth() / 8; }

/// The dims of an entry in the order in which the runtime passes them.
llvm::SmallVector<std::string> entryDims(mlir::func::FuncOp function);

/// What dims that the function finds out for itself (`model.live_rows`) are at most.
inline std::map<std::string, model::Size> rowBounds(mlir::func::FuncOp function) {
  std::map<std::string, model::Size> bounds;
  function.walk([&](model::LiveRowsOp op) {
    bounds[op.getDim().str()] = op.getMask().getType().getCount().substitute(bounds); // a list may refine a list
  });
  return bounds;
}

} // namespace heddle::plan

#endif
