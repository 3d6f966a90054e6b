//===- Arithmetic.h - how reals are stored and multiplied -------*- C++ -*-===//
//
// Two attributes of a module, read by everything from the interpreter to the kernels:
//
//   model.dtype  "f32" (as without it) or "bf16": what weights of linears, tables of embeddings,
//                and the keys and values of attention are rounded to where they are stored
//   model.math   "wide" (as without it): a stored number is widened and meets an f32;
//                "dots": linears, scores and weighted values round the other factor too, and pairs of
//                products are added at once (vdpbf16ps)
//
// Sums are f32 whatever these say, and every other tensor is.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_DIALECTS_MODEL_IR_ARITHMETIC_H
#define HEDDLE_DIALECTS_MODEL_IR_ARITHMETIC_H

#include "mlir/IR/BuiltinOps.h"

namespace heddle::model {

struct Arithmetic {
  bool bf16 = false; ///< model.dtype
  bool dots = false; ///< model.math; only with bf16
};

/// What the module around `op` says.
Arithmetic arithmeticOf(mlir::Operation *op);

/// Reports attributes with another value, and dots without bf16.
mlir::LogicalResult verifyArithmetic(mlir::ModuleOp module);

} // namespace heddle::model

#endif
