//===- CodedSums.h - tiles of codes ------------------------------*- C++ -*-===//
//
// What a tile of a linear does with a panel of codes (dialects/Model/IR/Coding.h). CodedSums multiplies it with
// rows of 8 bits, as the contract of the linear says; decodePanel makes the numbers that the codes mean, which the
// tile of f32 then reads.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_CPU_LINEAR_CODEDSUMS_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_CPU_LINEAR_CODEDSUMS_H

#include "compiler/Conversion/Lowering/CPU/Linear/CodeWords.h"
#include "compiler/Conversion/Lowering/CPU/Linear/IntegerRows.h"

namespace heddle::loops {

class CodedSums {
public:
  CodedSums(Code &c, const IntegerRow &row, int64_t panel) : c(c), row(row), panel(panel) {}

  /// Of `rows` rows by the vectors [first, first + count) of each of `panels` panels.
  struct Tile {
    Value left, stream; ///< the record of the first row, the first byte of the first panel
    int64_t rows, panels, first, count;
    bool few; ///< few rows: memory is fetched `ahead` bytes before its use
    int64_t ahead;
    Value next, share; ///< else from `next` on `share` bytes are fetched at each turn of the inner loop
    std::function<void(Value part, int64_t parts)> meanwhile; ///< called in each part of k; may be null
  };
  /// The sums, row by row.
  Values sums(const Tile &tile);

  /// Turns of the inner loop of a panel.
  int64_t turns() const { return row.units * (row.unit / row.coding.blockFeatures() / blocksOfTurn()); }
  int64_t panelBytes() const { return row.coding.panelBytes(panel, row.k); }

private:
  /// Products of pairs of bytes, which are summed in 16 bits as long as they fit.
  struct Shorts {
    Values sums;
    int64_t count = 0; ///< quads in them
  };
  /// Blocks along k that a turn takes.
  int64_t blocksOfTurn() const;
  int64_t mostQuads() const;
  bool multipliesHalves() const { return row.products == Products::Pairs && row.coding.bits == 8; }
  int64_t vectors(const Tile &tile) const { return tile.panels * tile.count; }
  /// Where vector j of the tile is, from what is for the first lanes of its first panel, in elements of `bytes`.
  int64_t vectorAt(const Tile &tile, int64_t j, int64_t bytes) const {
    return j / tile.count * panelBytes() + (tile.first + j % tile.count) * c.lanes * bytes;
  }
  Value byte(Value base, Value at) { return c.at(base, at, c.b.getI8Type()); }
  Value byte(Value base, int64_t at) { return byte(base, c.constant(at)); }
  Value word(const Tile &tile, int64_t i, Value at, int64_t behind, mlir::Type type);
  Values wordsAt(const Tile &tile, Value address);

  Values unit(const Tile &tile, Value number, Value codes);
  void turn(const Tile &tile, Value unit, Value codes, Value number, Values &sums);
  void block(const Tile &tile, Value k, Value codes, Values &sums, Shorts &shorts);
  void plain(const Tile &tile, Value at, const Values &codes, Values &sums);
  void halves(const Tile &tile, Value at, const Values &codes, Values &sums);
  void bytes(const Tile &tile, Value at, const Values &codes, Values &sums, Shorts &shorts);
  void flush(Values &sums, Shorts &shorts);

  Values reals(const Tile &tile, Value number, Value group, const Values &sums);
  Values scalesOf(const Tile &tile, Value group, int64_t at, PackedType type);
  Values scaled(const Tile &tile, const Values &t, const Values &scales, const Values &sums);
  Values byRow(const Tile &tile, const Values &t, Value number, int64_t recordAt, const Values &sums);
  Values sumsOfLargeGroups(const Tile &tile);
  Values sumsOfGroups(const Tile &tile);
  Values sumsOfTwoLevels(const Tile &tile);
  Values stretchOfTwoLevels(const Tile &tile, Value number, Value section, Value part, const Values &sums);
  Values weightedSums(const Tile &tile, Value number, Value subMinima);
  Value sectionAt(const Tile &tile, Value number);
  void fetch(const Tile &tile, Value address, int64_t bytes);

  Code &c;
  const IntegerRow &row;
  int64_t panel;
};

/// A vector of scales or zeros, stored as `type`.
Value loadedReals(Code &c, PackedType type, Value address);

/// Writes the numbers of panel `panel` of the matrix at `from` as f32 [features][width] to `to`, features in the order
/// of the file.
void decodePanel(Code &c, const Coding &coding, int64_t k, int64_t width, Value from, Value panel, Value to);

} // namespace heddle::loops

#endif
