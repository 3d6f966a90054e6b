//===- MatrixSums.h - sums of a linear in matrix registers ------*- C++ -*-===//
//
// What a tile of up to 32 rows by up to 32 results does where the processor has matrix registers (MatrixTiles.h). Rows
// are those of scratch, pairs of bf16 or records (IntegerRows.h); there are as many after the last one as a register
// holds, with anything in them. Weights are laid out as for vectors: a panel is what a register wants, 64 bytes of each
// row of words. Codes have 8 bits (UnpackPanel.h). Sums are left in memory, f32 [32][results of the tile].
//
// Sums of pairs are not those of vdpbf16ps, so these registers make all of them, of one row too. Sums of bytes are
// exact: whatever follows is done as in CodedSums.h, in the same order, and gives the same bits.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_CPU_LINEAR_MATRIXSUMS_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_CPU_LINEAR_MATRIXSUMS_H

#include "compiler/Conversion/Lowering/CPU/Linear/IntegerRows.h"
#include "compiler/Conversion/Lowering/CPU/Linear/MatrixTiles.h"
#include "compiler/Conversion/Lowering/Facts/LinearShape.h"

namespace heddle::loops {

/// Whether the sums of a linear are made in matrix registers: pairs of bf16 where they fill rows of 64 bytes, codes in
/// units of 64 or 128 features. (Units of 32 become f32 too often to gain from it.)
bool multipliesMatrices(model::LinearOp op);
/// Why not, though the processor has such registers; "" if they are, or where it has none.
llvm::StringRef whyNoMatrices(model::LinearOp op);

class MatrixSums {
public:
  static constexpr int64_t mostRows = 2 * MatrixTiles::rows, mostResults = 2 * MatrixTiles::results;

  MatrixSums(Code &c, const SumStep &step, const std::optional<IntegerRow> &record, int64_t panel);

  /// Makes the working memory, 64 bytes and more on the stack of the function; the first thing that a kernel does.
  void begin();
  /// Loads the configuration for tiles of so many rows a register (index, up to 16).
  void configure(Value rows);
  void end() { MatrixTiles::release(c); }

  struct Tile {
    Value left;   ///< the first row
    Value stream; ///< the first byte of the first panel
    int64_t high; ///< registers of rows, 1 or 2
    int64_t panels, first,
        count; ///< vectors [first, first + count) of each of so many panels: up to 4 registers of sums
    std::function<void(Value step)> meanwhile; ///< called in each step along k; may be null
  };
  /// Steps along k, in each of which registers take in 64 bytes of a row.
  int64_t steps() const;
  void sums(const Tile &tile) { record ? sumsOfBytes(tile) : sumsOfPairs(tile); }
  /// Where the sum of a row (index) and the first result of vector j of the tile is.
  Value at(const Tile &tile, Value row, int64_t j);

private:
  Value byte(Value base, Value at) { return c.at(base, at, c.b.getI8Type()); }
  Value byte(Value base, int64_t at) { return byte(base, c.constant(at)); }
  int64_t vectors(const Tile &tile) const { return tile.panels * tile.count; }
  /// Bytes from one row of an area of sums to the next.
  int64_t pitch(const Tile &tile) const { return vectors(tile) * MatrixTiles::bytes; }
  int64_t unitsOfStretch() const; ///< units in 128 features
  void sumsOfPairs(const Tile &tile);
  void sumsOfBytes(const Tile &tile);
  void integers(const Tile &tile, Value unit, Value to);
  void reals(const Tile &tile, Value number, int64_t units, Value from);
  Values scales(const Tile &tile, Value group);
  void stored(const Tile &tile, Value to);

  Code &c;
  const SumStep &step;
  const std::optional<IntegerRow> &record;
  int64_t panel;
  Value configuration, area;  ///< area: the sums
  Value inner, integersOf[2]; ///< of bytes: sums of f32 within a group; integers of a stretch, in turns
};

} // namespace heddle::loops

#endif
