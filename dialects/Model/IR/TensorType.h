//===- TensorType.h - the type of a value that is a tensor ------*- C++ -*-===//
#ifndef HEDDLE_DIALECTS_MODEL_IR_TENSORTYPE_H
#define HEDDLE_DIALECTS_MODEL_IR_TENSORTYPE_H

#include "dialects/Model/IR/Model.h"

namespace heddle::model {

/// The type of a value that is known to be a tensor.
inline ModelTensorType typeOf(mlir::Value v) { return llvm::cast<ModelTensorType>(v.getType()); }

} // namespace heddle::model

#endif
