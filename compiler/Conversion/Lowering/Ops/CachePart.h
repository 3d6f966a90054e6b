//===- CachePart.h - where an attention finds keys and values ---*- C++ -*-===//
//
// Where an attention finds the keys and values that a cache holds, and where new rows of them are put. The layout is
// the plan's (compiler/Plan/CacheLayout.h); here it becomes addresses.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_OPS_CACHEPART_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_OPS_CACHEPART_H

#include "compiler/Conversion/Lowering/Frame/Lowering.h"
#include "compiler/Plan/CacheLayout.h"

namespace heddle::loops {

/// The first byte of the part of a state with a cache layout that belongs to this iteration of its repeats.
Value cachePart(Lowering &l, const plan::CacheLayout &layout);
/// The same for keys or values that a cache holds; else element 0 of their rows.
Value keysOrValues(Lowering &l, Value operand);

/// Rows [batch][fresh][heads * width] that an op puts where attention reads them: those of an append after the `past`
/// ones, those of a store from the first place on.
struct CacheWrite {
  plan::CacheLayout layout;
  Value part, source; ///< where the cache of this iteration begins; the rows
  Length batch, fresh, past;
  Value room; ///< words of a class of a head
  /// i64 [batch]: which row of the state a batch element has, and its own past. Null: as they come, and `past`.
  Value slots = {}, starts = {};

  /// Batch element `element` as the state counts them, and how many of its rows are there.
  Value elementOf(Lowering &l, Value element) const;
  Value pastOf(Lowering &l, Value element) const;
  /// Emits body(place) for each place at which key number `key` of its class is kept. The first block of a ring is kept
  /// a second time after the last one, so that a tile may read over the end of the ring without wrapping.
  void places(Lowering &l, Value key, llvm::function_ref<void(Value place)> body) const;
};
/// What an append or a store writes; fails where its state has no cache's shape.
mlir::FailureOr<CacheWrite> cacheWrite(Lowering &l, mlir::Operation *op);

} // namespace heddle::loops

#endif
