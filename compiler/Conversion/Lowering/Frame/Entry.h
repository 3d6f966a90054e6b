//===- Entry.h - a module becomes what the runtime calls --------*- C++ -*-===//
//
// The frame that the lowerings of all targets share. What differs is the machine: its lanes and the ops that it writes
// itself.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_FRAME_ENTRY_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_FRAME_ENTRY_H

#include "compiler/Conversion/Lowering/Frame/Lowering.h"

namespace heddle::loops {

/// Checks the plan of a module of stage `buffers`, lowers its functions, each of which goes to `done` with what it
/// became, and puts those and the card in their place.
mlir::LogicalResult lowerEntries(
    mlir::ModuleOp module, const Machine &machine, llvm::function_ref<void(Lowering &)> done = [](Lowering &) {});

} // namespace heddle::loops

#endif
