//===- Gates.h - what rows have chosen --------------------------*- C++ -*-===//
#ifndef HEDDLE_DIALECTS_MODEL_TRANSFORMS_GATES_H
#define HEDDLE_DIALECTS_MODEL_TRANSFORMS_GATES_H

#include "dialects/Model/IR/Model.h"

namespace heddle::model {

/// The top_k whose chosen numbers `v` is made of by ops on rows, so that what it has not chosen is 0 there; null if
/// there is none.
TopKOp chosenBy(mlir::Value v);

} // namespace heddle::model

#endif
