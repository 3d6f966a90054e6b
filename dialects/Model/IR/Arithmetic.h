//===- Arithmetic.h - how reals are stored and multiplied -------*- C++ -*-===//
//
// Four attributes of a module, read by everything from the interpreter to the kernels:
//
//   model.dtype  "f32" (as without it), "bf16" or "f16": what weights of linears, tables of
//                embeddings, and the keys and values of attention are rounded to where they are stored
//   model.math   "wide" (as without it): a stored number is widened and meets an f32;
//                "dots", of bf16: linears, scores and weighted values round the other factor too, and
//                pairs of products are added at once (vdpbf16ps), or 32 of them (matrix registers)
//   model.attention_math  "wide" or "dots": the same of scores and weighted values alone (without it: model.math)
//   model.codes  "dots" (as without it): a linear whose weight is coded (#model.coded) rounds its rows to 8 bits and
//                multiplies integers, as its contract says (ModelOps.td); "wide": it is a linear over what the codes
//                mean. A weight that is coded is not rounded to model.dtype
//   model.rows   128 (as without it) or 32: features of a row that share a scale where model.codes is "dots"; codes of
//                two levels always have 128
//
// Sums are f32 whatever these say, and every other tensor is.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_DIALECTS_MODEL_IR_ARITHMETIC_H
#define HEDDLE_DIALECTS_MODEL_IR_ARITHMETIC_H

#include "dialects/Model/IR/WeightLayout.h"
#include "mlir/IR/BuiltinOps.h"

namespace heddle::model {

/// How a number is in memory.
enum class Stored { f32, bf16, f16 };

/// "bf16"...; and back, nothing for another word.
llvm::StringRef wordOf(Stored stored);
std::optional<Stored> storedOf(llvm::StringRef word);

/// The same in words of the blob.
PackedType packedTypeOf(Stored stored);
Stored storedOf(PackedType type);

struct Arithmetic {
  Stored stored = Stored::f32;                                ///< model.dtype
  bool dots = false;                                          ///< model.math; only with bf16. Of codes model.codes
  Stored left() const { return dots ? stored : Stored::f32; } ///< the other factor of a product
  bool halves() const { return stored != Stored::f32; }       ///< 16 bits
  Coding coding;                                              ///< of the weight or the table that an op reads
  int64_t rows = Coding::rowFeatures;                         ///< model.rows
  bool integers() const { return coding && dots; }            ///< products of codes and of rows of 8 bits
  /// Features of K that are summed as integers: a group, or `rows` of a larger one.
  int64_t unit(int64_t k) const { return std::min(coding.features(k), rows); }
};

/// What the module around `op` says, and the weight that a linear or an embedding reads.
Arithmetic arithmeticOf(mlir::Operation *op);
/// What it says of scores and weighted values of attention.
Arithmetic attentionArithmeticOf(mlir::Operation *op);

/// Reports attributes with another value, and dots of anything but bf16.
mlir::LogicalResult verifyArithmetic(mlir::ModuleOp module);

} // namespace heddle::model

#endif
