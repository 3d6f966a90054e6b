//===- LaunchAttrs.h - what is on the ops of kernels --------*- C++ -*-===//
//
// The discardable attributes of the dialect, asked and set by functions. The dialect verifies each (TileAttrs.td has
// what they hold): a file that was saved between two passes is checked when it is read.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_DIALECTS_TILE_IR_LAUNCHATTRS_H
#define HEDDLE_DIALECTS_TILE_IR_LAUNCHATTRS_H

#include "dialects/Model/IR/Size.h"
#include "dialects/Tile/IR/Tile.h"

namespace heddle::tile {

/// On an op that deals items out to threads: how many. A loop over items, a `tile.launch`, or the division that gives
/// where a thread's stretch of them begins. Null where there is none.
ItemsAttr itemsOf(mlir::Operation *op);
void setItems(mlir::Operation *op, ItemsAttr items);
/// No op in `root` says it any more.
void forgetItems(mlir::Operation *root);

/// On what ends a phase, a barrier or the entry: what its ops take.
llvm::SmallVector<CostAttr> costsOf(mlir::Operation *end);
void setCosts(mlir::Operation *end, llvm::ArrayRef<CostAttr> costs);

/// On a load whose value no later phase of the entry changes: the bound of that value, a form over the dims.
bool isKept(mlir::Operation *load);
void setKept(mlir::Operation *load, const model::Size &bound);

/// On an entry that kernels are made of, and on these kernels: the names of the lengths in `dims`, in their order.
std::optional<llvm::SmallVector<llvm::StringRef>> dimsOf(mlir::Operation *function);
void setDims(mlir::Operation *function, llvm::ArrayRef<llvm::StringRef> names);
void forgetDims(mlir::Operation *function);

/// On a function that is launched: the name that launches have for it, its own if `name` is empty.
bool isKernel(mlir::Operation *function);
llvm::StringRef kernelName(mlir::Operation *function);
void setKernel(mlir::Operation *function, llvm::StringRef name = {});

/// On a kernel that only some chips of the target run: which. Without it all do.
bool isFor(mlir::Operation *kernel, llvm::StringRef chip);
void setChips(mlir::Operation *kernel, llvm::ArrayRef<llvm::StringRef> chips);

/// On a kernel: its launches, in the order of the entries and of each entry's calls. Empty on other functions.
llvm::SmallVector<LaunchAttr> launchesOf(mlir::Operation *kernel);
void setLaunches(mlir::Operation *kernel, llvm::ArrayRef<LaunchAttr> launches);
void forgetLaunches(mlir::Operation *kernel);

/// On a parameter: its words are in groups on the device.
bool isGrouped(mlir::Operation *param);
void setGrouped(mlir::Operation *param);

/// On the module: the tensors whose words go into groups.
llvm::SmallVector<RegroupAttr> regroupedOf(mlir::Operation *module);
void setRegrouped(mlir::Operation *module, llvm::ArrayRef<RegroupAttr> tensors);

} // namespace heddle::tile

#endif
