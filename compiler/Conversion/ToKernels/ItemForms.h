//===- ItemForms.h - how many threads a kernel has work for -----*- C++ -*-===//
#ifndef HEDDLE_COMPILER_CONVERSION_TOKERNELS_ITEMFORMS_H
#define HEDDLE_COMPILER_CONVERSION_TOKERNELS_ITEMFORMS_H

#include "compiler/Conversion/ToKernels/Phases.h"
#include "dialects/Model/IR/Size.h"

namespace heddle::kernels {

/// The items of a kernel: `count` (a form over the entry's dims) of `lanes` threads each, 1 or 32.
struct Items {
  model::Size count;
  int64_t lanes;
  bool optional = false; ///< whether nothing is done where `count` is 0
};

/// Of phases of `entry` (a function of convert-heddle-to-warps) that are one kernel: together what each of them has,
/// the most that any of its loops over dealt items has. Where a number cannot be read back as a form it stands as 2^30:
/// any grid gives the same results, so that costs idle threads at most.
Items itemsOf(mlir::func::FuncOp entry, llvm::ArrayRef<Phase> group);

} // namespace heddle::kernels

#endif
