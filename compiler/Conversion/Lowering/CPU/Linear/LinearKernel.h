//===- LinearKernel.h - the kernel of a linear ------------------*- C++ -*-===//
//
// One (K, N, epilogue): its tiles in vector registers (Linear.cpp) and in matrix registers (LinearMatrix.cpp).
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_CPU_LINEAR_LINEARKERNEL_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_CPU_LINEAR_LINEARKERNEL_H

#include "compiler/Conversion/Lowering/CPU/Linear/KeptRows.h"
#include "compiler/Conversion/Lowering/CPU/Linear/MatrixSums.h"
#include "compiler/Conversion/Lowering/Ops/LinearCode.h"

namespace heddle::loops {

/// So few rows are computed as fast as their weights are read.
constexpr int64_t kFewRows = 4;
/// The same for a linear: of pairs in matrix registers those of one register.
int64_t fewRows(model::LinearOp op);

/// A linear by the general kernel for all rows.
mlir::LogicalResult lowerLinear(Lowering &l, model::LinearOp op);

/// Emits the kernel of one (K, N, epilogue).
class LinearKernel {
  using LinearOp = model::LinearOp;

public:
  LinearKernel(LinearOp op, Code &c, int64_t registers, mlir::Block *block, mlir::func::FuncOp decoder);
  void emit();
  static mlir::FunctionType typeOf(LinearOp op, mlir::MLIRContext *ctx);

private:
  LinearOp op;
  Code &c;
  SumStep step;
  model::ScheduleAttr tiles;
  int64_t n, width, panels, depth; ///< width: results of a panel; depth: steps along k, rows of words of a panel
  int64_t sumsAtOnce;              ///< for which there are registers
  Value x, w, bias, y, rows, from, to;
  Values extras;
  /// Where a tile's weights come from, and what it fetches meanwhile: `share` at each step, from `distance` after the
  /// beginning of its own panel on.
  struct Source {
    Value share, distance;
    Value reals; ///< its panel in f32, where a tile before it has widened it; else null
    Value to;    ///< where it leaves its panel in f32, if it does; else null
    Value codes; ///< its unpacked panel of codes; else null
  };
  std::optional<IntegerRow> record;     ///< of a row, where integers are multiplied
  std::optional<IntegerRow> manyRecord; ///< the same, with the codes that tiles of many rows multiply
  std::optional<MatrixSums> matrix;     ///< where there are matrix registers for it
  Value decoded;                        ///< where a panel of codes is decoded, by `decoder`; null where none is
  Value widened;                        ///< the same for a panel of 16 bits, which the first tile of many widens
  Value unpacked;                       ///< where a panel of codes is unpacked for many rows; null where none is
  std::optional<KeptRows> kept;         ///< how the result is laid out, if not as rows of f32
  Value gates;                          ///< of rows, whose sums nothing reads where it is 0; null where there is none
  mlir::func::FuncOp decoder;

  void tile(Value row, Value panel, int64_t mr, int64_t pn, bool stream, Source source);
  void pass(Value row, Value panel, int64_t mr, int64_t pn, bool stream, Source source, int64_t first, int64_t count);
  Values sumsOf(Value row, Value panel, int64_t mr, int64_t pn, bool stream, Source source, int64_t first,
                int64_t count);
  Values sumsOfCodes(Value row, Value panel, int64_t mr, int64_t pn, bool stream, Source source, int64_t first,
                     int64_t count);
  Value turnOfTile(Value row);
  void fetchLines(Value panel, Value done);
  void fetchEnds(Value row, Value panel, int64_t mr, int64_t first, int64_t count, Value part, int64_t parts);
  Value resultAt(Value row, Value column);
  Value behind(Value address, int64_t columns);
  void finish(Value sum, Value row, Value column, Value address, Value bias, Value mask);
  Value maskOf(Value column);
  void wide();
  void narrow();
  void matrixTile(MatrixSums::Tile tile, Value row, Value panel, Value count);
  int64_t panelBytes() const;
  Value bytesOfPanel(Value panel);
  void wideMatrix();
  void narrowMatrix();
  Value anyOpen(Value row, int64_t count);
  Value anyOpen(Value row, Value count);
  Values sumsWhereOpen(Value row, int64_t mr, int64_t count, llvm::function_ref<Values()> sums);
  void decode(Value panel) {
    if (decoded)
      mlir::func::CallOp::create(c.b, decoder, mlir::ValueRange{w, panel, decoded});
  }
  int64_t linesOf(int64_t vectors) const { return (vectors * c.lanes + 15) / 16; }
  bool isSmall() const { return step.k * n < tiles.getSmall(); }
};

} // namespace heddle::loops

#endif
