//===- Phases.h - what is between two barriers of an entry --*- C++ -*-===//
//
// Phases that do not touch what another of them writes may be one kernel. They need not be neighbours: a phase may be
// done as soon as those are done that it depends on, which is its level. Places in the arena are used again and again,
// so a phase depends not only on the makers of what it reads, but also on readers and writers of what it writes.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_TOKERNELS_PHASES_H
#define HEDDLE_COMPILER_CONVERSION_TOKERNELS_PHASES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace heddle::kernels {

/// The arguments of an entry (runtime/include/heddle/abi.h).
enum EntryArgument { Context, Team, Teams, Dims, Tensors, Arena, Weights };

/// A loop of launches or a condition around a phase, and the block of it in which the phase is.
struct Frame {
  mlir::Operation *op;
  mlir::Block *block;
};

struct Phase {
  llvm::SmallVector<Frame> frames;
  llvm::SetVector<mlir::Operation *> ops; ///< what it does, and all that this needs
  mlir::Operation *end;                   ///< the barrier, or the entry at its end; says what the phase takes
  mlir::Location loc;                     ///< of the first op that changes memory
};

/// Memory that a phase touches, in parts that do not overlap: a place in the arena (its form), a tensor of the call
/// (its number), the record of failures (the context).
class Accesses {
public:
  Accesses(mlir::func::FuncOp entry, const Phase &phase);
  /// Whether one of the two writes what the other touches.
  bool conflictsWith(const Accesses &other) const;

private:
  using Part = std::pair<const void *, int64_t>; ///< a form or an argument; the number of a tensor
  mlir::func::FuncOp entry;
  llvm::MapVector<Part, bool> parts; ///< whether it is written
  bool unknown = false;              ///< whether it may touch anything

  void visit(mlir::Operation *op);
  void touch(mlir::Value pointer, bool writes);
  void add(const void *what, int64_t number, bool writes) { parts[{what, number}] |= writes; }
};

/// Threads of the blocks that tiles of a phase are for; none where it has no tiles.
std::optional<int64_t> threadsOf(const Phase &phase);

/// The phases in groups that may be a kernel each, one after the other: of one level, with one size of blocks.
std::vector<std::vector<Phase>> groupsOf(mlir::func::FuncOp entry, std::vector<Phase> phases);

} // namespace heddle::kernels

#endif
