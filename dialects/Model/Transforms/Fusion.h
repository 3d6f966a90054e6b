//===- Fusion.h - which maps a linear takes in ------------------*- C++ -*-===//
#ifndef HEDDLE_DIALECTS_MODEL_TRANSFORMS_FUSION_H
#define HEDDLE_DIALECTS_MODEL_TRANSFORMS_FUSION_H

#include "dialects/Model/IR/Model.h"

namespace heddle::model {

/// The linear whose epilogue can become `map`: it has one result and no epilogue yet, `map` alone
/// reads it, has its shape, and reads everything else at the element, along the columns, along all
/// of the rows, or as one element. Null where there is none.
LinearOp linearTaking(MapOp map);

} // namespace heddle::model

#endif
