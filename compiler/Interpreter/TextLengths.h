//===- TextLengths.h - rows of different lengths ----------------*- C++ -*-===//
//
// As runtime/Generate/Padding does it: where no mask says what of a prompt is padding, its id does.
// The mask is made of it where the model takes one; else rows of one length are a group, and
// each group generates without its padding.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_INTERPRETER_TEXTLENGTHS_H
#define HEDDLE_COMPILER_INTERPRETER_TEXTLENGTHS_H

#include "compiler/Interpreter/Interpreter.h"

namespace heddle {

/// Rows of a batch that have one length, and their inputs.
struct RowGroup {
  std::vector<int64_t> rows;
  Tensors inputs;
};

/// One group of all rows where none is padded, or where there is a mask. Errors: an input that
/// cannot be cut to the length of a text.
mlir::FailureOr<std::vector<RowGroup>> groupsByLength(mlir::ModuleOp module, const Tensors &inputs);

/// What the groups generated, row by row: prompts as in `inputs`, and the new ids after them. Of a group that ended
/// before the others, later logits are 0.
Generated mergedGroups(llvm::ArrayRef<RowGroup> groups, llvm::ArrayRef<Generated> made, const Tensor &prompt,
                       int64_t newTokens);

} // namespace heddle

#endif
