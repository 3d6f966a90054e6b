//===- SlowKernels.h - products that a device has no tiles for --*- C++ -*-===//
//
// A linear or an attention without tiles is computed by a warp a row or an element, with both factors from memory. That
// can take 30 times as long, and no error says so.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TARGETS_GPU_REPORT_SLOWKERNELS_H
#define HEDDLE_TARGETS_GPU_REPORT_SLOWKERNELS_H

#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace heddle::gpu {

/// One note on the products of a module of stage `llvm` that have no tiles: how many, why, by which factor they raise
/// the bound of the entry that they slow down most (KernelReport), and what to use instead. "" if all have tiles. `ptx`
/// is the text of `chip`; without kernels in it the note has no factor.
std::string noteOnSlowKernels(mlir::ModuleOp module, llvm::StringRef ptx, llvm::StringRef chip);

} // namespace heddle::gpu

#endif
