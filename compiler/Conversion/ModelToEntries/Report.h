//===- Report.h - what was derived, in words --------------------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_CONVERSION_MODELTOENTRIES_REPORT_H
#define HEDDLE_COMPILER_CONVERSION_MODELTOENTRIES_REPORT_H

#include "compiler/Conversion/ModelToEntries/Builder.h"

namespace heddle::entries {

/// A location for messages: "$.body[4]", or file:line:column.
// What the derivation says of a model: reasons for the user, and attributes of the module.

std::string place(mlir::Location loc);
/// A refusal in one line: place, reason, and which value needed it.
std::string line(const Refusal &refusal);

/// On which sides a batch may be padded so that each sequence is computed as if alone
/// (step.md section 3).
struct Padding {
  bool left = true, right = true;
  mlir::Operation *because = nullptr; ///< what forbids both
};
Padding padding(const StepAnalysis &kinds, mlir::Value logits);

/// All ops that `v` depends on, through carried values of repeats, too; without defaults of
/// inputs that have a role.
llvm::SetVector<mlir::Operation *> reaching(mlir::Value v, const StepAnalysis &kinds);

/// The guard for a value `frontier` that changes: a small value that may stand still while
/// tokens are added; null if it is made of activations or changes with every token.
mlir::Value guardFrom(mlir::Value frontier, const StepAnalysis &kinds);

/// The fewest tokens that the first call needs: the largest row that a frozen slice reads.
int64_t shortestPrompt(const StepAnalysis &kinds, mlir::Value logits);

} // namespace heddle::entries

#endif
