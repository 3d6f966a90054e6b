//===- ItemForms.h - how many threads a kernel has work for -----*- C++ -*-===//
#ifndef HEDDLE_COMPILER_CONVERSION_TOKERNELS_ITEMFORMS_H
#define HEDDLE_COMPILER_CONVERSION_TOKERNELS_ITEMFORMS_H

#include "dialects/Model/IR/Size.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"

namespace heddle::kernels {

/// The items of a kernel: `count` (a form over the entry's dims) of `lanes` threads each, 1 or 32.
struct Items {
  model::Size count;
  int64_t lanes;
  bool optional = false; ///< whether nothing is done where `count` is 0
};

/// Of the ops of one phase of `entry` (a function of convert-heddle-to-warps): the most that any of its loops over
/// dealt items has. Where a number cannot be read back as a form it stands as 2^30: any grid gives the same results, so
/// that costs idle threads at most.
Items itemsOf(mlir::func::FuncOp entry, const llvm::SetVector<mlir::Operation *> &ops);

} // namespace heddle::kernels

#endif
