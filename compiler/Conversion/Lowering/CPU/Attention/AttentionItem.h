//===- AttentionItem.h - a work item and its tiles of keys ------*- C++ -*-===//
//
// A work item is a block of 32 packed rows of one batch element and one group of heads, under a dilated mask of one
// class of keys (KeyClasses.h). It visits keys in tiles of 128. Item and Tile are values, complete when they are made.
//
//   packed row   (row of the class, member of the group), the member running faster
//   row          of this call; its position is past + row
//   key          of the class; key rows are counted over all classes
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_CPU_ATTENTION_ATTENTIONITEM_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_CPU_ATTENTION_ATTENTIONITEM_H

#include "compiler/Conversion/Lowering/CPU/Attention/AttentionArea.h"
#include "dialects/Mask/Emission/Emission.h"

namespace heddle::loops {

/// The keys of a batch element: all of them, or those of one class.
struct KeyView {
  Value batch;
  Value past;    ///< position of query row 0
  Value all;     ///< key rows of all classes
  Value element; ///< which batch element of the caches has them
  Value count;   ///< of keys
  Value residue; ///< key k is key row residue + k * classes; null: key row k
};

/// All keys of a batch element: in a slot, if it has one, and as many as its own text has.
KeyView keysOfElement(AttentionCode &code, Value batch);

/// What the code of masks and biases asks about the keys of a view.
class KeyCode : public AttentionCode {
public:
  KeyCode(const AttentionCode &code, const KeyView &keys) : AttentionCode(code), keys(keys) {}
  const KeyView keys;

  /// The key rows of a vector of consecutive keys (i32 lanes), and of one key (index).
  Value keyRows(Value firstKey);
  Value keyRow(Value key) { return keys.residue ? add(keys.residue, mul(key, plan.classes)) : key; }
  /// Loads element `at` of a leaf's tensor by code at `builder`; with a vector of key rows as the last index a vector.
  Value element(mlir::OpBuilder &builder, mlir::Value operand, llvm::ArrayRef<Value> at);
  /// Calls body(e) with an Emitter for the mask's code; what `e` refers to lives while the body runs.
  void ask(llvm::function_ref<void(mask::Emitter &)> body);
};

struct Item {
  KeyView keys;
  Value group;    ///< key head, or query head where rows are not packed
  Value firstRow; ///< the packed row it begins with
  Value count;    ///< of packed rows, at most 32; a class may have none left
  Value rowStart; ///< the first row of the class; null: 0
  Value ownStart; ///< the key at the position of the class's first row; may be outside of the keys
  Value anchor;   ///< tiles of keys begin at anchor + n * 128
};

/// Keys [begin, end), those that some row of the item may see, of the tile that begins at `at`.
struct Tile {
  Value at, begin, end;
  Value keyTurn, valueTurn; ///< in a ring: what to subtract from a position to find its place in the cache; else null
};

/// A row of an item, for masks and biases.
struct RowContext {
  Value index;    ///< in the block
  Value row;      ///< of this call
  Value position; ///< past + row
  Value own;      ///< the key at the row's position; may be outside of the keys
  Value head;
};

/// Item number `item` of this kernel.
Item itemOf(AttentionCode &code, Value item);

/// Base class of the steps of an item: addresses and positions of its rows and keys.
class ItemCode : public KeyCode {
public:
  ItemCode(const AttentionCode &code, const ThreadArea &area, const Item &item)
      : KeyCode(code, item.keys), area(area), item(item) {}
  ThreadArea area;
  const Item item;

  //===-- rows ---------------------------------------------------------------------===//
  Value headOf(Value packedRow), rowOf(Value packedRow), ownOf(Value packedRow), positionOf(Value packedRow);
  RowContext contextOf(Value index);
  Value queryOf(Value packedRow); ///< address
  /// Calls body(from, to, rows) for groups of 8 rows (6 with few registers), then of 4, 2 and 1, so that a block with
  /// fewer rows costs only these.
  void byRowGroups(llvm::function_ref<void(Value from, Value to, int64_t rows)> body);

  //===-- stored keys and values -----------------------------------------------------===//
  /// The number of the head of keys among all heads of all batch elements.
  Value headOfKeys();
  /// Addresses for the tile: the panels of this head's keys, and its values from key `key` on.
  Value keysOf(const Tile &tile), valuesOf(const Tile &tile, Value key);

  //===-- a tile and a group of rows -----------------------------------------------------===//
  /// The keys of the tile that the group of row `r` may see; none if end <= begin.
  std::pair<Value, Value> seenBy(const Tile &tile, Value r);

private:
  Value partOf(Value room); ///< the first row of this head and class
};

} // namespace heddle::loops

#endif
