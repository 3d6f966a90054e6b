//===- Cost.h - what a phase of an op takes ---------------------*- C++ -*-===//
//
// Operations and bytes as forms over the dims of an entry, with every row that may be padding counted as a row. Bytes
// are what the op must touch at least once: each operand and each result one time, in the type in which it is stored.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_FRAME_COST_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_FRAME_COST_H

#include "dialects/Model/IR/Arithmetic.h"
#include "dialects/Model/IR/Model.h"
#include "dialects/Tile/IR/Tile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace heddle::loops {

struct Cost {
  std::string op;                    ///< "linear"
  model::Size operations = 0;        ///< multiplications and additions of products
  bool dots = false;                 ///< of pairs of bf16
  model::Size read = 0, written = 0; ///< bytes
  bool integers = false;             ///< of codes by rows of 8 bits
  /// Why the products have no tiles that threads share, in a word; "" where they have, or need none.
  std::string untiled = {};

  tile::CostAttr attribute(mlir::MLIRContext *context) const;
  static Cost of(tile::CostAttr attribute);
};

/// Bytes of a tensor where it is stored: a parameter in its layout, a cache in its type.
model::Size bytesWhereItLies(mlir::Value v);

/// Of a whole op: its products, operands and results.
Cost costOf(mlir::Operation *op);

/// Of an append or a store of rows into a cache of `stored` numbers.
Cost costOfWrite(mlir::Operation *op, model::Stored stored);

/// Multiplications and additions of one call of an entry; of these, those of integers.
model::Size operations(mlir::func::FuncOp function);
model::Size integerOperations(mlir::func::FuncOp function);

/// Bytes of weights and caches that one call of an entry reads, each once: of tables the rows that are looked up, of
/// caches the keys that the mask can reach.
model::Size bytesRead(mlir::func::FuncOp function);

} // namespace heddle::loops

#endif
