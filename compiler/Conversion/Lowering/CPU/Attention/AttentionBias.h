//===- AttentionBias.h - what is added to a score ---------------*- C++ -*-===//
//
// Biases, in natural units (not log2), evaluated for a vector of keys of one row: from the distance (alibi), from a
// table by distance that is made once for each head and work item (buckets), from dot products made for each tile
// (relative_dot), or from a tensor (dense).
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_CPU_ATTENTION_ATTENTIONBIAS_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_CPU_ATTENTION_ATTENTIONBIAS_H

#include "compiler/Conversion/Lowering/CPU/Attention/AttentionItem.h"

namespace heddle::loops {

/// The biases of an item over one tile of keys.
class TileBias {
public:
  /// Emitted before the tiles of an item: tables of buckets by distance.
  static void emitTables(const ItemCode &item);
  /// Emits the dot products that the biases of this tile need.
  TileBias(const ItemCode &item, const Tile &tile);
  /// The bias of a row for a vector of keys from `firstKey`, which is `column` of the tile.
  Value at(Value bias, const RowContext &row, Value firstKey, Value column) const;

private:
  const ItemCode &item;
  Value dotColumn; ///< the first column that has dot products; null: no bias needs them
};

/// The dot products of one relative_dot (AttentionRelative.cpp); `at` is its index among the plan's biases.
class RelativeDots : ItemCode {
public:
  RelativeDots(const ItemCode &item, attn::RelativeDotOp op, int64_t at);
  /// Emits the dot products of the tile from column `first` on.
  void emit(const Tile &tile, Value first);
  /// Loads a row's dot products from `column` on; those of the tile begin at column `first`.
  Value atRow(const RowContext &row, Value column, Value first);

private:
  attn::RelativeDotOp op;
  int64_t number;
  int64_t w;                    ///< features of a head
  int64_t panels, dots, scores; ///< their offsets in the thread's area, in floats

  void packDistances(Value farthest, Value panelCount);
  Values products(llvm::ArrayRef<Value> rows, Value panel, int64_t count);
  void queryDots(Value panelCount, llvm::function_ref<Value(Value)> lineAt);
  void keyDots(Value first, Value columns, llvm::function_ref<Value(Value)> lineAt);
  void transposeDots(Value from, Value column, Value first);
};

} // namespace heddle::loops

#endif
