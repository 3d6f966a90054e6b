//===- AttentionPlan.h - what one attention kernel is made for --*- C++ -*-===//
//
// A kernel is specialised to widths, head counts, the structure of mask and bias, and where
// keys come from; batch, lengths and `past` are numbers it receives. Ops with one plan text
// share one kernel. Layouts:
//
// (blocks and work items of the usual schedule; another one may say otherwise)
//
//   keys     [B][g][blocks of 128][8 panels][w][16 keys]      values   [B][g][rows][u]
//   halves   [B][g][blocks of 128][8 panels][w/2][16 keys][2]          [B][g][rows][u], halves,
//                                                                 or  [B][g][rows/2][u][2] where they are `paired`
//   of d classes (KeyClasses.h) d of these a head, one after the other
//   scratch  packed keys | packed values | first visible key of each batch element |
//            one area a thread: Q, S, O, l, alpha, m, bounds of row groups, counts, pairs of values, biases
//            (counted in floats)
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_TOLOOPS_ATTENTIONPLAN_H
#define HEDDLE_COMPILER_CONVERSION_TOLOOPS_ATTENTIONPLAN_H

#include "dialects/Attn/IR/Attn.h"
#include "dialects/Model/IR/Arithmetic.h"

namespace heddle::loops {

constexpr int64_t kKeyTile = 128;    ///< keys of a tile, and of a block of the cache, where nobody says otherwise
constexpr int64_t kPanel = 16;       ///< keys of a panel
constexpr int64_t kRowTile = 32;     ///< packed rows of a work item, where nobody says otherwise
constexpr int64_t kPanelsAtOnce = 4; ///< panels that scores are made of at once, at most
constexpr int64_t kScoreFront = kPanelsAtOnce * kPanel; ///< room before column 0 of a row of scores

/// Floats of a head's row of biases by distance: -reach-16 .. reach+16.
inline int64_t tableStride(int64_t reach) { return (2 * reach + 33 + 15) / 16 * 16; }

/// Where the keys or values of an attention come from.
enum class Source { Rows, Cache };

struct AttentionPlan {
  explicit AttentionPlan(attn::SdpaOp op);

  mutable attn::SdpaOp op;      ///< accessors of ops are not const
  model::Arithmetic arithmetic; ///< how keys and values are stored, and the queries with dots
  int64_t heads, kvHeads, width, valueWidth;
  /// Rows (position, member) of one key head stand together unless mask or bias know heads.
  int64_t packed;
  int64_t classes;          ///< into how many attentions this one falls (KeyClasses.h)
  int64_t rowTile, keyTile; ///< packed rows of a work item; keys that it meets at once
  model::Size batch, rows, keys, past, keyStart;
  bool sharedKeys; ///< one batch element of keys for all
  Source keySource, valueSource;
  model::Size keyRoom, valueRoom; ///< rows that a class of a head has room for
  /// With dots values are packed in pairs, unless they come from a cache or the tiles of a batch element stand at
  /// a key of its own: then those of a tile are paired when it is met.
  bool paired;
  int64_t keyRing = 0, valueRing = 0; ///< of a cache: after how many positions places come again (0: never)

  bool counted;
  llvm::SmallVector<mlir::Operation *> leading; ///< `keys` leaves that say where a batch element begins
  llvm::SmallVector<mlir::Operation *> biases;  ///< leaves, each once

  /// What the kernel is given beside q, k, v, the result and scratch: tensors of leaves,
  /// slopes, tables, sinks; and every length that is not a number.
  llvm::SmallVector<mlir::Value> tensors;
  llvm::SmallVector<model::Size> lengths;

  /// For each of `biases`, in turn: what its distances map to (indices of a table of buckets),
  /// handed to the kernel as constants; empty where nothing is looked up.
  struct Lookup {
    llvm::SmallVector<int32_t> entries;
    int64_t reach = 0; ///< entry n stands for distance (n - reach) * classes
  };
  llvm::SmallVector<Lookup> lookups;

  /// Offsets inside a thread's area, in floats.
  int64_t atQuery, atScores, atOutput, atSum, atScale, atMax, atBounds, atCounts, atPairs, threadFloats;
  llvm::SmallVector<int64_t> atBias; ///< one a member of `biases`

  int64_t groups() const { return heads / packed; }
  /// Blocks of rows of a class; in all batch * groups() * classes * rowBlocks() work items.
  model::Size rowBlocks() const;
  /// Blocks of keys of a class.
  model::Size keyBlocks() const;
  /// Words of 4 bytes that a row of one head takes where it is stored.
  int64_t keyWords() const { return arithmetic.halves() ? (width + 1) / 2 : width; }
  int64_t valueWords() const {
    return paired ? pairStride() / 2 : arithmetic.halves() ? (valueWidth + 1) / 2 : valueWidth;
  }
  int64_t queryWords() const { return arithmetic.dots ? keyWords() : width; }
  /// Words of a row of paired values: whole vectors of 32 halves.
  int64_t pairStride() const { return (valueWidth + 31) / 32 * 32; }
  /// Floats of a row of scores: as much room behind the tile as before it, and a line, so that rows fall on
  /// different sets of the cache.
  int64_t scoreStride() const { return kScoreFront + keyTile + kScoreFront + 16; }
  /// Offsets of the shared parts of scratch, in floats.
  model::Size atKeys() const { return model::Size(0); }
  model::Size atValues() const;
  model::Size atAnchors() const;
  model::Size atThreads() const;
  model::Size scratchBytes() const;
  /// Equal texts: equal kernels.
  std::string text() const;

private:
  void note(mlir::Value tensor);
  void note(const model::Size &length);
  void noteBias(mlir::Value bias);
  std::string textOf(mlir::Value value) const;
};

/// Floats of scratch of a relative_dot: panels of distances, dots (AttentionRelative.cpp).
int64_t relativeFloats(const AttentionPlan &plan, int64_t w, bool keySide);

} // namespace heddle::loops

#endif
