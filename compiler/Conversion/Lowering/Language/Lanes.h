//===- Lanes.h - what a vector is -------------------------------*- C++ -*-===//
//
// Kernels work on `count` neighbouring elements at a time. What holds them is a fact of the target: one
// register of a CPU, or the threads of a group that run in step and hold an element each. The lowering of an op
// says only `loadLanes`, `storeLanes`, `sum`, ..., under four rules:
//
//   L1  memory that all lanes read or write side by side goes through loadLanes and storeLanes;
//   L2  other code in parallelFor is done by every lane: it may store (all the same value) and must not read what
//       it stores; where one element depends on the one before it, the loop is forEach;
//   L3  before a lane reads what another stored in the same phase comes laneSync;
//   L4  sum and largest are neither in forEach nor under a condition on which lanes differ.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_LANGUAGE_LANES_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_LANGUAGE_LANES_H

#include "mlir/IR/Types.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace heddle::loops {

class Code;

/// Who does an item of a parallel loop: a team (a thread of a CPU; all lanes of a group together) or a single lane
/// (the same thread of a CPU; one thread of a group).
enum class Worker { Team, Lane };

class Lanes {
public:
  using Value = mlir::Value;
  explicit Lanes(int64_t count) : count(count) {}
  virtual ~Lanes() = default;

  const int64_t count; ///< f32 elements at a time

  /// What `count` elements of a type are in a value.
  virtual mlir::Type vec(mlir::Type element) const = 0;
  /// Elements [address, address + count); lanes that `mask` (null: none) switches off are 0 and touch no memory.
  virtual Value load(Code &c, mlir::Type element, Value address, Value mask) const = 0;
  virtual void store(Code &c, Value value, Value address, Value mask) const = 0;
  /// The mask of the first `n` lanes; n (index) may be larger than `count`.
  virtual Value first(Code &c, Value n) const = 0;
  /// A scalar in all lanes.
  virtual Value splat(Code &c, Value scalar) const = 0;
  /// All lanes joined, in a fixed tree of halves that is the same for equal counts.
  virtual Value fold(Code &c, Value lanes, llvm::function_ref<Value(Value, Value)> join) const = 0;
  /// Asks for memory that will be needed; nothing where a target hides the wait otherwise.
  virtual void prefetch(Code &c, Value address, bool write) const = 0;
  /// sin or cos of angles from 2^50 on, each a f32 like `x`; of others anything.
  virtual Value farAngle(Code &c, Value x, bool sine) const = 0;
  /// What lanes stored before is there for all lanes of the team.
  virtual void sync(Code &c) const = 0;
  /// body(j), j in [0, n), one element at a time in any order.
  virtual void elements(Code &c, Value n, llvm::function_ref<void(Value j)> body) const = 0;
  /// body(i) for the items of [0, n) that fall to worker number `team` of `teams`. Gives the loop over them.
  virtual mlir::Operation *items(Code &c, Value n, Value team, Value teams, Worker worker,
                                 llvm::function_ref<void(Value i)> body) const = 0;
};

} // namespace heddle::loops

#endif
