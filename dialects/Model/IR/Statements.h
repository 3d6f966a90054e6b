//===- Statements.h - the statement of a block that made an op --*- C++ -*-===//
//
// An op made inside a block has two places: the call that messages show, and the statement of the block with the calls
// around it. Its location holds both, the shown one first:
//   loc(fused<"$.body[3] > encoder_layer">["model.json":12:5, callsite("stdlib.json":40:7 at "model.json":12:5)])
// So two ops of one call differ, in every stage.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_DIALECTS_MODEL_IR_STATEMENTS_H
#define HEDDLE_DIALECTS_MODEL_IR_STATEMENTS_H

#include "mlir/IR/Location.h"

namespace heddle::model {

/// The location of an op made inside calls of blocks: `shown` under `path`, and beside it `statement`, called from
/// `calls` (a place, or a place called from others).
mlir::Location withCalls(llvm::StringRef path, mlir::Location shown, mlir::Location statement, mlir::Location calls);

/// The places that led to an op, the statement that made it first, the calls after it. The place that
/// messages show is one of them. One place where no block is involved; none without a file.
llvm::SmallVector<mlir::Location> callsOf(mlir::Location where);

/// The statement that made an op, as "stdlib.json:40:7", the folders of the file left out; empty without a file.
std::string statementOf(mlir::Location where);

} // namespace heddle::model

#endif
