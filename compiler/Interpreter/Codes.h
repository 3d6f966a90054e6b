//===- Codes.h - matrices of codes ------------------------------*- C++ -*-===//
//
// What #model.coded means: a parameter that is rounded to codes when it is read, and products of codes with rows that
// are rounded to 8 bits (ModelOps.td, linear), with exact integers.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_INTERPRETER_CODES_H
#define HEDDLE_COMPILER_INTERPRETER_CODES_H

#include "compiler/Interpreter/Tensor.h"
#include "dialects/Model/IR/Model.h"

namespace heddle::evaluation {

/// Gives `t`, what the file has for a coded parameter, its codes: those of the file, or by the search that packs it
/// too. The elements become what they mean. Reports at `op` what has no codes.
mlir::LogicalResult giveCodes(model::ParamOp op, Tensor &t);

/// Products of one row after the other with the rows of a matrix of codes. Reals are f32 (`declaredTypes`) or f64.
class IntegerProduct {
public:
  /// `block`: features of a row that share a scale.
  IntegerProduct(const TensorCodes &codes, int64_t k, int64_t block, bool declaredTypes);
  /// Rounds a row of K features to 8 bits.
  void round(const double *row);
  /// The rounded row times row `n` of W.
  double with(int64_t n) const;

private:
  template <typename Real> void roundTo(const double *row);
  template <typename Real> Real product(int64_t n) const;

  const TensorCodes &codes;
  int64_t k, group, block;
  bool declaredTypes;
  std::vector<int64_t> rounded;  ///< in the order of the codes
  std::vector<double> rowScales; ///< for each `block` of them
};

} // namespace heddle::evaluation

#endif
