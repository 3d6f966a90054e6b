//===- SliceParameters.h - experts of one tensor as parameters --*- C++ -*-===//
//
// The pass model-slice-parameters as a function: the compiler asks for it before it looks for the codes of matrices.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_DIALECTS_MODEL_TRANSFORMS_SLICEPARAMETERS_H
#define HEDDLE_DIALECTS_MODEL_TRANSFORMS_SLICEPARAMETERS_H

#include "dialects/Model/IR/Model.h"
#include "mlir/IR/BuiltinOps.h"

namespace heddle::model {

/// Gives each linear that reads one matrix of a tensor [experts, N, K] a parameter of its own, `NAME[e]`.
void sliceParameters(mlir::ModuleOp module);

} // namespace heddle::model

#endif
