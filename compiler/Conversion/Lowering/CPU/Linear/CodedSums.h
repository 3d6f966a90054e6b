//===- CodedSums.h - tiles of codes ------------------------------*- C++ -*-===//
//
// What a tile of a linear does with a panel of codes (WeightLayout.h, struct Coding). CodedSums multiplies it with
// rows of 8 bits, as the contract of the linear says; decodePanel makes the numbers that the codes mean, which the
// tile of f32 then reads.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_CPU_LINEAR_CODEDSUMS_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_CPU_LINEAR_CODEDSUMS_H

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
  int64_t turns() const { return row.units * (row.unit / row.coding.perWord() / stepsOfTurn()); }
  int64_t panelBytes() const { return row.coding.panelBytes(panel, row.k); }

private:
  /// Words along k that a turn takes: pairs of 4 bits are summed in 16 bits as long as they fit.
  int64_t stepsOfTurn() const;
  Value byte(Value base, Value at) { return c.at(base, at, c.b.getI8Type()); }
  Value byte(Value base, int64_t at) { return byte(base, c.constant(at)); }
  Value word(const Tile &tile, int64_t i, Value at, int64_t behind, mlir::Type type);
  Values unit(const Tile &tile, Value number, Value codes);
  void turn(const Tile &tile, Value unit, Value codes, Value number, Values &sums);
  void step(const Tile &tile, Value k, Value codes, Values &sums, Values &shorts);
  Values reals(const Tile &tile, Value number, Value group, const Values &sums);
  Values scalesOf(const Tile &tile, Value group, int64_t at, PackedType type);
  Values scaled(const Tile &tile, const Values &t, const Values &scales, const Values &sums);
  Values byRow(const Tile &tile, const Values &t, Value scale, const Values &sums);
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
