//===- Items.h - how many threads a kernel has work for ---------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_CONVERSION_TOKERNELS_ITEMS_H
#define HEDDLE_COMPILER_CONVERSION_TOKERNELS_ITEMS_H

#include "compiler/Conversion/ToKernels/Phases.h"
#include "dialects/Model/IR/Size.h"

namespace heddle::kernels {

/// The items of a kernel: `count` (a form over the entry's dims) of `lanes` threads each, 1 or 32.
struct Items {
  model::Size count;
  int64_t lanes;
  bool optional = false; ///< whether nothing is done where `count` is 0
};

/// Of phases of an entry that are one kernel: together what each of them has, the most that any of its ops deals out
/// (#tile.items). Another number gives the same results, with idle threads or longer loops.
Items itemsOf(llvm::ArrayRef<Phase> group);

} // namespace heddle::kernels

#endif
