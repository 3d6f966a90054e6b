//===- InputDefaults.h - what stands for inputs that grow -------*- C++ -*-===//
//
// An input that `generate.extend` continues may be left out of a prompt: the prompt then has its default, and what
// follows has the number of `extend`. Where these differ, somebody has to compute the default of the prompt alone.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_DIALECTS_MODEL_IR_INPUTDEFAULTS_H
#define HEDDLE_DIALECTS_MODEL_IR_INPUTDEFAULTS_H

#include "dialects/Model/IR/Model.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace heddle::model {

/// The name of the entry that `model-derive-entries` makes of `defaultsOf`.
inline constexpr llvm::StringLiteral kDefaultsEntry = "defaults";

/// What `generate.extend` says of an input; none if it is no number.
std::optional<double> numberOf(mlir::Attribute value);

/// The inputs of `run` that its module's `generate.extend` continues with another number than their default; in the
/// order of the arguments.
llvm::SmallVector<std::string> extendedDefaults(mlir::func::FuncOp run);

/// A function in no module whose results are the defaults of the inputs `names` of `run`, by their names. Its arguments
/// are those of `run` that these depend on. Every name must be that of an input with a default.
mlir::OwningOpRef<mlir::func::FuncOp> defaultsOf(mlir::func::FuncOp run, llvm::ArrayRef<std::string> names);

} // namespace heddle::model

#endif
