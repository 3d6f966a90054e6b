//===- LifeAttrs.h - how long places are used, and how large they are -*- C++ -*-===//
//
// A place that the memory plan gives (ModelPlanAttrs.h) may stand in a pair with its life: when it is used and by what.
// Nothing is computed from lives: they are for people and for reports. The printer gives pairs a short name:
//   #slot3 = [#arena3, {begin = 3 : i64, bytes = "64*T", end = 9 : i64, storage = 2 : i64}]
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_DIALECTS_MODEL_IR_LIFEATTRS_H
#define HEDDLE_DIALECTS_MODEL_IR_LIFEATTRS_H

#include "dialects/Model/IR/Model.h"

namespace heddle::model {

/// The life of a storage: one stretch of the arena or of an output, which several results have one after the other.
struct Life {
  int64_t begin = 0,
          end = 0;     ///< from the op that writes it first to the last that reads it (compiler/Plan/Positions.h)
  int64_t storage = 0; ///< results of one number share it: written in place, carried by a repeat
  Size bytes = 0;      ///< as the target keeps it, which a type does not say
};

/// `end` of scratch memory that is used to the end of the function.
inline constexpr int64_t kToTheEnd = std::numeric_limits<int64_t>::max();

/// Of a result's place; none where it has no memory of its own or nobody has planned.
std::optional<Life> lifeOf(mlir::OpResult result);
/// One for each result, after its place.
void setLives(mlir::Operation *op, llvm::ArrayRef<std::optional<Life>> lives);

/// Of the scratch memory of an op.
std::optional<Life> scratchLifeOf(mlir::Operation *op);
void setScratchLife(mlir::Operation *op, const Life &life);

/// A place, alone or in a pair with its life; null for any other attribute.
PlaceAttr placeIn(mlir::Attribute attribute);
/// The life in a pair.
std::optional<Life> lifeIn(mlir::Attribute attribute);
/// The pair.
mlir::ArrayAttr withLife(PlaceAttr place, const Life &life);

} // namespace heddle::model

#endif
