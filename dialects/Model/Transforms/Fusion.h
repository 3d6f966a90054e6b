//===- Fusion.h - which maps a linear takes in ------------------*- C++ -*-===//
#ifndef HEDDLE_DIALECTS_MODEL_TRANSFORMS_FUSION_H
#define HEDDLE_DIALECTS_MODEL_TRANSFORMS_FUSION_H

#include "dialects/Model/IR/Model.h"

namespace heddle::model {

/// The linear into whose epilogue `map` can be moved, null if there is none. It must have one result,
/// which only `map` reads, and no epilogue yet; `map` must have its shape and read every other operand
/// at the element, along the columns, along the rows, or as one element.
LinearOp linearTaking(MapOp map);

} // namespace heddle::model

#endif
