//===- Names.h - what a location says ---------------------------*- C++ -*-===//
//
// From the outside in: the name of the value, the path of the statement in the description, the place in the file:
//   loc("x"(fused<"$.body[3].x">["model.json":12:5]))
// A value is printed under its name (OpPrintingFlags::printNameLocAsPrefix); a pass that makes an op in the place of
// another, or of what a value holds, gives it the same location, and with it the name.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_DIALECTS_MODEL_IR_NAMES_H
#define HEDDLE_DIALECTS_MODEL_IR_NAMES_H

#include "mlir/IR/Location.h"
#include "mlir/IR/Value.h"

namespace heddle::model {

/// `file` under the path of a statement, which begins with $; `file` itself where there is no path.
mlir::Location withPath(llvm::StringRef path, mlir::Location file);
/// The path of the statement; empty where none is known.
llvm::StringRef pathOf(mlir::Location where);

/// `where` under the name of a value, in the place of the one that it had; without any where `name` is empty.
mlir::Location withName(llvm::StringRef name, mlir::Location where);
/// The name of the value; empty where it has none.
llvm::StringRef nameOf(mlir::Location where);

/// An op has one location for all of its results: "q-k-v", with _ for a result without a name.
mlir::Location withNames(llvm::ArrayRef<llvm::StringRef> names, mlir::Location where);
/// Of the names in `where`, of an op with several results, that of result `index`; empty where it has none.
llvm::StringRef nameOf(mlir::Location where, unsigned index);
/// Where `v` was made, under its own name: for ops that are made of it.
mlir::Location locationOf(mlir::Value v);

} // namespace heddle::model

#endif
