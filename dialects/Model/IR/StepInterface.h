//===- StepInterface.h - how rows depend on rows ----------------*- C++ -*-===//
//
// The answers of the interfaces in StepInterface.td: how rows of results depend on rows of
// operands. The derivation of the cached step uses these and its rules for the few ops that
// work along the rows (step.md section 2).
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_DIALECTS_MODEL_IR_STEPINTERFACE_H
#define HEDDLE_DIALECTS_MODEL_IR_STEPINTERFACE_H

#include "mlir/IR/OpDefinition.h"
#include <string>

namespace heddle::model {

/// How the rows along one axis of an operand reach the rows of the results.
struct StepRelation {
  enum Kind {
    Same,  ///< row r of the result from row r of the operand; the result's axis is `axis`
    Along, ///< the op works along these rows, in order: the derivation has a rule for it
    Mixed  ///< rows reach each other in no order; `why` says so to the user
  };
  Kind kind;
  unsigned axis = 0;
  std::string why;

  static StepRelation same(unsigned axis) { return {Same, axis, {}}; }
  static StepRelation along() { return {Along, 0, {}}; }
  static StepRelation mixed(std::string why) { return {Mixed, 0, std::move(why)}; }
};

/// What the last axes of a tensor in a mask or a bias count.
enum class StepSide {
  None, ///< neither: weights, lengths
  Queries,
  Keys,
  Both,           ///< one tensor is read by query and by key (the documents of tokens)
  QueriesAndKeys, ///< the last two axes: queries, then keys
  RowsOfQueries,  ///< axis 1 counts queries (the x of relative_dot)
  RowsOfKeys,
  Table ///< all rows are read, whichever query and key
};

/// The default relation: axes aligned from the right, rows kept apart.
StepRelation relateRowWise(mlir::Operation *op, unsigned operand, unsigned axis);

} // namespace heddle::model

#include "dialects/Model/IR/StepInterface.h.inc"

#endif
