//===- WarpLanes.h - lanes are the threads of a warp ------------*- C++ -*-===//
//
// A value "of a vector" is one element a thread; 32 threads that run in step are a team. Items are dealt in turn
// (item i to team i modulo the number of teams), so that neighbours touch neighbouring memory.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_GPU_WARPLANES_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_GPU_WARPLANES_H

#include "compiler/Conversion/Lowering/Language/Lanes.h"

namespace heddle::loops {

constexpr int64_t kWarp = 32;

class WarpLanes final : public Lanes {
public:
  WarpLanes() : Lanes(kWarp) {}
  mlir::Type vec(mlir::Type element) const override { return element; }
  Value load(Code &c, mlir::Type element, Value address, Value mask) const override;
  void store(Code &c, Value value, Value address, Value mask) const override;
  Value first(Code &c, Value n) const override;
  Value splat(Code &, Value scalar) const override { return scalar; }
  Value fold(Code &c, Value lanes, llvm::function_ref<Value(Value, Value)> join) const override;
  void prefetch(Code &, Value, bool) const override {}
  Value farAngle(Code &c, Value x, bool sine) const override;
  void sync(Code &c) const override;
  void elements(Code &c, Value n, llvm::function_ref<void(Value)> body) const override;
  mlir::Operation *items(Code &c, Value n, Value team, Value teams, Worker worker,
                         llvm::function_ref<void(Value)> body) const override;

  /// This thread's number in its warp (index).
  static Value lane(Code &c);
  /// The turn of worker `number` of `count` where `before` items have been dealt already (index).
  static Value turn(Code &c, Value number, Value count, Value before);
  /// The value (f32 or i32) that lane `from` (index) holds.
  static Value fromLane(Code &c, Value value, Value from);
};

} // namespace heddle::loops

#endif
