//===- AttentionPlan.h - what one attention kernel is made for --*- C++ -*-===//
//
// A kernel is specialised to widths, head counts and the structure of mask and bias. Lengths are numbers that it
// receives, each in its role: neither a dim's name nor (but for few rows) a number among them is part of a kernel, so
// attention in @run (rows T, keys T, past 0) and in @step (rows new, keys past + new) is one function. Ops with one
// plan text share their kernels. Layouts:
//
// (blocks and work items of the usual schedule; another one may say otherwise)
//
//   keys     [B][g][blocks of 128][8 panels][w][16 keys]      values   [B][g][rows][u]
//   halves   [B][g][blocks of 128][8 panels][w/2][16 keys][2]          [B][g][rows][u], halves,
//                                                                 or  [B][g][rows/2][u][2] where they are `paired`
//   (warps have keys of dots in groups of four words: PackedRows.h)
//   of d classes (KeyClasses.h) d of these a head, one after the other
//   scratch  packed keys | packed values | first visible key of each batch element |
//            one area a thread: Q, S, O, l, alpha, m, bounds of row groups, counts, pairs of values, biases
//            (counted in floats)
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_FACTS_ATTENTIONPLAN_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_FACTS_ATTENTIONPLAN_H

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

/// What a length says of an attention. Values, Anchors and Threads are where these parts of scratch begin, in floats.
enum class Role {
  Rows,
  Keys,
  Past,
  KeyStart,
  KeyRoom,
  ValueRoom,
  RowBlocks,
  KeyBlocks,
  Values,
  Anchors,
  Threads,
  KeyRing,
  ValueRing
};
constexpr int64_t kNoRing = int64_t(1) << 40; ///< the length of a ring that never turns

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
  /// Batch elements are texts of their own, in slots of the caches: then `starts` and `slots` are arguments of the
  /// kernel, and Role::Past and Role::Keys are what each text has beside the positions that were there.
  bool slotted;
  Source keySource, valueSource;
  model::Size keyRoom, valueRoom; ///< rows that a class of a head has room for
  /// With dots values are packed in pairs, unless they come from a cache or the tiles of a batch element stand at
  /// a key of its own: then those of a tile are paired when it is met.
  bool paired;
  int64_t keyRing = 0, valueRing = 0; ///< of a cache: after how many positions places come again (0: never)
  bool rings; ///< whether caches may be rings, since the mask looks back so far and no farther: then the kernel turns

  /// With dots, whether scores and outputs are made in matrix registers (AttentionMatrix.cpp).
  bool matrix;

  /// Mask (may be null), bias (may be null) and sinks (may be null) as the kernel knows them: copies, owned by the
  /// plan, in which every operand is a tensor of its own. So it shows neither which dims the tensors of an op have nor
  /// whether two of them are one.
  mlir::Value mask, bias, sinks;
  bool counted;
  llvm::SmallVector<mlir::Operation *> leading; ///< `keys` leaves of `mask` that say where a batch element begins
  llvm::SmallVector<mlir::Operation *> biases;  ///< leaves of `bias`, each once

  /// What the kernel is given beside q, k, v, the result and scratch: tensors of leaves, slopes, tables, sinks; and as
  /// lengths one for each Role (of rings only where there may be some), the zero of each relative_dot, and the axes of
  /// `tensors` that are no numbers.
  llvm::ArrayRef<mlir::BlockArgument> tensors() const { return own->getArguments(); }
  llvm::SmallVector<model::Size> lengths;
  /// What the op has for one of `tensors`.
  mlir::Value sourceOf(mlir::Value tensor) const {
    return sources[mlir::cast<mlir::BlockArgument>(tensor).getArgNumber()];
  }
  /// The number that a length is in this kernel: few rows, of which no more than one group is computed at once, are
  /// worth a kernel of their own.
  std::optional<int64_t> numberOf(Role role) const;
  /// Where among `lengths` these stand.
  size_t indexOf(Role role) const { return size_t(role); }
  size_t indexOf(attn::RelativeDotOp bias) const;
  size_t indexOf(mlir::Value tensor, int64_t axis) const;

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
  /// Equal texts: equal kernels. Where keys and values come from is not in it: only packing asks.
  std::string text() const;

private:
  std::unique_ptr<mlir::Block> own = std::make_unique<mlir::Block>(); ///< the copies; its arguments are `tensors`
  llvm::SmallVector<mlir::Value> sources;                             ///< for each of `tensors`
  /// The axes of `tensors` that are no numbers, in the order of their lengths.
  llvm::SmallVector<std::pair<mlir::Value, int64_t>> axes;

  mlir::Value addTensor(mlir::Value source);
  mlir::Value copyOf(mlir::Value maskOrBias, llvm::DenseMap<mlir::Value, mlir::Value> &made);
};

/// Floats of scratch of a relative_dot: panels of distances, dots (AttentionRelative.cpp).
int64_t relativeFloats(const AttentionPlan &plan, int64_t w, bool keySide);

} // namespace heddle::loops

#endif
