//===- CacheLayout.h - how a state holds keys or values ---------*- C++ -*-===//
//
// `attn-plan-cache` marks an append, or a load and its stores, whose readers are attentions, with an #attn.cache
// (dialects/Attn/IR/AttnAttrs.td): the state then holds, for each iteration, batch element and key head, panels of keys
// or rows of values, so that attention reads it as it lies. Under a mask whose attention falls into attentions over
// every d-th row and key (KeyClasses.h) this stands d times, one after the other.
//
// In a ring position p lies in place p mod n, as no reader looks so far back that two positions it may see share
// a place. A tile of keys may begin anywhere in a block, so the first block stands once more behind the last:
// every tile is one stretch. A text that fits the ring is not touched by any of this.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_PLAN_CACHELAYOUT_H
#define HEDDLE_COMPILER_PLAN_CACHELAYOUT_H

#include "dialects/Model/IR/Arithmetic.h"
#include "dialects/Model/IR/Model.h"

namespace heddle::plan {

struct CacheLayout {
  mlir::Value state;
  mlir::OperandRange indices; ///< of the iteration
  bool keys;           ///< or values
  model::Stored stored;
  int64_t heads, width;
  int64_t words;       ///< of 4 bytes that a row of one head takes
  int64_t classes;     ///< 1: every key of a head lies in one row of blocks
  model::Size room;    ///< rows a class of a head has room for: its share of the state's, rounded up
  int64_t ring;        ///< of a class; 0: every position has a place of its own
  model::Size element; ///< words of one batch element's head: classes * room * words
};

/// The layout of the state behind a value that such an append or load gives.
std::optional<CacheLayout> cacheLayoutOf(mlir::Value rows);
/// The same of the append, load or store itself.
std::optional<CacheLayout> cacheLayoutOf(mlir::Operation *op);
/// Whether the result of `op` is the state itself, which attention reads as it lies.
bool standsForCache(mlir::Operation *op);

} // namespace heddle::plan

#endif
