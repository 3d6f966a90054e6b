//===- CacheLayout.h - how a state holds keys or values ---------*- C++ -*-===//
//
// How a state holds keys or values. If all readers of an append, or of a load and its stores, are attentions, the pass
// attn-plan-cache gives it an #attn.cache (dialects/Attn/IR/AttnAttrs.td): for each iteration of a repeat, batch
// element and key head the state then has panels of keys or rows of values, which attention reads without repacking.
// Under a dilated mask of step d (KeyClasses.h) it has these d times, once for each residue.
//
// In a ring of n places position p is in place p mod n: no reader looks so far back that two positions it may see have
// the same place. A tile of keys may begin anywhere in a block, so the first block is stored again after the last one,
// and every tile is contiguous. A text that fits the ring is stored as without one.
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
  bool keys;                  ///< true: keys, in panels; false: values, in rows
  model::Stored stored;
  int64_t heads, width;
  int64_t words;       ///< words of 4 bytes for a row of one head
  int64_t classes;     ///< residues of keys that are stored apart; 1: all together
  model::Size room;    ///< rows for each class of a head, rounded up to blocks
  int64_t ring;        ///< places of a class's ring; 0: every position has its own place
  model::Size element; ///< words for one head of one batch element: classes * room * words
};

/// The layout of the state after the result of an append or load; none if it is not a cache.
std::optional<CacheLayout> cacheLayoutOf(mlir::Value rows);
/// The same for the append, load or store itself.
std::optional<CacheLayout> cacheLayoutOf(mlir::Operation *op);
/// Whether the result of `op` is the cache itself, which attention reads in place.
bool standsForCache(mlir::Operation *op);

} // namespace heddle::plan

#endif
