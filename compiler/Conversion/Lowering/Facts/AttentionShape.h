//===- AttentionShape.h - widths, tensors and layouts of an attention -*- C++ -*-===//
//
// What the code of an attention asks of its op, on every target: widths and head counts, the structure of mask and
// bias, and where keys and values are. Each lowering makes one for an op and hands it on. Layouts, with the blocks of
// the usual schedule (Tiles.h):
//
//   keys     [B][g][blocks of 128][8 panels][w][16 keys]      values   [B][g][rows][u]
//   halves   [B][g][blocks of 128][8 panels][w/2][16 keys][2]          [B][g][rows][u], halves,
//                                                                 or  [B][g][rows/2][u][2] where they are `paired`
//   (warps have keys of dots in groups of four words: PackedRows.h)
//   of d classes (KeyClasses.h) d of these a head, one after the other
//   scratch  packed keys | packed values | what a target adds, such as areas of threads (counted in floats)
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_FACTS_ATTENTIONSHAPE_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_FACTS_ATTENTIONSHAPE_H

#include "dialects/Attn/IR/Attn.h"
#include "dialects/Model/IR/Arithmetic.h"

namespace heddle::loops {

constexpr int64_t kKeyTile = 128; ///< keys of a tile, and of a block of the cache, where nobody says otherwise
constexpr int64_t kPanel = 16;    ///< keys of a panel
constexpr int64_t kRowTile = 32;  ///< packed rows of a work item, where nobody says otherwise

/// Where the keys or values of an attention come from.
enum class Source { Rows, Cache };

/// The leaves of a bias, each once.
llvm::SmallVector<mlir::Operation *> biasLeaves(mlir::Value bias);

/// Features of one head of `rows`; 0 where their number is no constant.
int64_t headWidth(mlir::Value rows, int64_t heads);

struct AttentionShape {
  explicit AttentionShape(attn::SdpaOp op);

  mutable attn::SdpaOp op;      ///< accessors of ops are not const
  model::Arithmetic arithmetic; ///< how keys and values are stored, and the queries with dots
  int64_t heads, kvHeads, width, valueWidth;
  /// Rows (position, member) of one key head are together unless mask or bias know heads.
  int64_t packed;
  int64_t classes;          ///< into how many attentions this one falls (KeyClasses.h)
  int64_t rowTile, keyTile; ///< packed rows of a work item; keys that it meets at once
  model::Size batch, rows, keys, past, keyStart;
  bool sharedKeys; ///< one batch element of keys for all
  /// Batch elements are texts of their own, in slots of the caches: then `past` and `keys` hold for the longest text.
  bool slotted;
  Source keySource, valueSource;
  model::Size keyRoom, valueRoom; ///< rows that a class of a head has room for
  /// With dots values are packed in pairs, unless they come from a cache or the tiles of a batch element are at
  /// a key of its own: then those of a tile are paired when it is met.
  bool paired;
  int64_t keyRing = 0, valueRing = 0; ///< of a cache: after how many positions places come again (0: never)

  /// Mask (may be null), bias (may be null) and sinks (may be null) as a kernel knows them: copies, owned by the
  /// shape, in which every operand is a separate tensor. So they show neither which dims the tensors of an op have
  /// nor whether two of them are one.
  mlir::Value mask, bias, sinks;
  bool counted;
  llvm::SmallVector<mlir::Operation *> leading; ///< `keys` leaves of `mask` that say where a batch element begins
  llvm::SmallVector<mlir::Operation *> biases;  ///< leaves of `bias`, each once

  /// The tensors that code reads beside q, k and v: those of leaves, slopes, tables, sinks.
  llvm::ArrayRef<mlir::BlockArgument> tensors() const { return own->getArguments(); }
  /// What the op has for one of `tensors`.
  mlir::Value sourceOf(mlir::Value tensor) const {
    return sources[mlir::cast<mlir::BlockArgument>(tensor).getArgNumber()];
  }

  /// For each of `biases`, in turn: what its distances map to (indices of a table of buckets), as constants; empty
  /// where nothing is looked up.
  struct Lookup {
    llvm::SmallVector<int32_t> entries;
    int64_t reach = 0; ///< entry n stands for distance (n - reach) * classes
  };
  llvm::SmallVector<Lookup> lookups;

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
  /// Offsets of the shared parts of scratch, in floats.
  model::Size atKeys() const { return model::Size(0); }
  model::Size atValues() const;
  model::Size atAnchors() const; ///< behind packed keys and values

private:
  std::unique_ptr<mlir::Block> own = std::make_unique<mlir::Block>(); ///< the copies; its arguments are `tensors`
  llvm::SmallVector<mlir::Value> sources;                             ///< for each of `tensors`

  mlir::Value addTensor(mlir::Value source);
  mlir::Value copyOf(mlir::Value maskOrBias, llvm::DenseMap<mlir::Value, mlir::Value> &made);
};

} // namespace heddle::loops

#endif
