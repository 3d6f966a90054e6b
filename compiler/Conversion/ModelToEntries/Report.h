//===- Report.h - what was derived, in words --------------------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_CONVERSION_MODELTOENTRIES_REPORT_H
#define HEDDLE_COMPILER_CONVERSION_MODELTOENTRIES_REPORT_H

#include "compiler/Conversion/ModelToEntries/Builder.h"

namespace heddle::entries {

/// "$.body[4]", or file:line:column.
std::string place(mlir::Location loc);
/// One line for a reason: place, reason, and what needed it.
std::string line(const Refusal &refusal);

/// May a padded batch be run as it is, each sequence as if alone? (step.md section 3)
struct Padding {
  bool left = true, right = true;
};
Padding padding(const Kinds &kinds, mlir::Value logits);

/// Everything that reaches `v`, through the carried values of repeats too; not what would
/// stand for an input that has a role.
llvm::SetVector<mlir::Operation *> reaching(mlir::Value v, const Kinds &kinds);

/// The value that may stand still for all rows (a guard), starting at `frontier`; null when
/// it is made of activations, or changes with every token for sure.
mlir::Value guardFrom(mlir::Value frontier, const Kinds &kinds);

/// A shortest prompt, where first rows are read: the greatest row that a frozen slice of
/// `step` needs.
int64_t shortestPrompt(const Kinds &kinds, mlir::Value logits);

} // namespace heddle::entries

#endif
