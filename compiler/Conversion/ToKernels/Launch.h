//===- Launch.h - how a kernel is launched, and what it takes ---*- C++ -*-===//
#ifndef HEDDLE_COMPILER_CONVERSION_TOKERNELS_LAUNCH_H
#define HEDDLE_COMPILER_CONVERSION_TOKERNELS_LAUNCH_H

#include "compiler/Conversion/Lowering/Frame/Cost.h"
#include "dialects/Tile/IR/LaunchAttrs.h"

namespace heddle::kernels {

/// A #tile.launch to compute with: one line `launch` of the card.
struct Launch {
  std::string kernel, entry;
  model::Size items = 0;               ///< a form over the dims of the entry
  int64_t lanes = 1;                   ///< threads of an item: 1 or 32
  int64_t threads = 128;               ///< of a block
  int64_t times = 1;                   ///< launches in a call of the entry, by the repeats around it
  std::string place;                   ///< "file:line:column" of the description, or ""
  std::vector<loops::Cost> costs = {}; ///< of the phases of ops that it does
  bool optional = false;               ///< left out where it has no items
  int64_t shared = 0;                  ///< bytes of shared memory that it is given, next to what it has by itself
  std::vector<std::string> on = {};    ///< the chips that `shared` is for; none: all
  std::vector<int64_t> numbers = {};   ///< what it is given next to what all kernels get
  int64_t number = 0;                  ///< its place among the launches of the entry

  static void write(mlir::Operation *kernel, llvm::ArrayRef<Launch> launches);
  /// Of a kernel; none where nothing is written.
  static std::vector<Launch> of(mlir::Operation *kernel);
  /// The bytes that it is given on a chip.
  int64_t sharedOn(llvm::StringRef chip) const;
};

} // namespace heddle::kernels

#endif
