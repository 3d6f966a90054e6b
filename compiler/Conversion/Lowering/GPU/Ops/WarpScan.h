//===- WarpScan.h - what lanes make of a value each -------------*- C++ -*-===//
//
// A running sum, a maximum with its place, the last element of some kind: the 32 lanes of a warp hold neighbouring
// elements and join them in 5 steps. What is joined in which order depends on how many elements there are alone, never
// on who does it.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_GPU_OPS_WARPSCAN_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_GPU_OPS_WARPSCAN_H

#include "compiler/Conversion/Lowering/Language/Code.h"

namespace heddle::loops {

class WarpScan {
public:
  explicit WarpScan(Code &c);

  /// This thread's number in its warp.
  Value lane;

  /// `v` (a scalar of 1, 32 or 64 bits, or an index) of lane `from`.
  Value of(Value v, Value from);
  /// In lane n what lanes 0 .. n hold, joined; `join` takes earlier ones first.
  Value upTo(Value v, llvm::function_ref<Value(Value, Value)> join);
  /// In all lanes what all hold, joined: `join` must not depend on which side is which.
  Values all(mlir::ValueRange v, llvm::function_ref<Values(mlir::ValueRange, mlir::ValueRange)> join);
  /// body(i, inside, carried) for i = from + lane, .. + 32, ..: in every lane as often. Where `inside` is false, i is
  /// the last element. `carried` may differ from lane to lane.
  Values each(Value from, Value to, mlir::ValueRange init,
              llvm::function_ref<Values(Value i, Value inside, mlir::ValueRange carried)> body);

private:
  Code &c;
};

} // namespace heddle::loops

#endif
