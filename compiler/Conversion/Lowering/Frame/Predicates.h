//===- Predicates.h - what all targets ask of an element --------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_FRAME_PREDICATES_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_FRAME_PREDICATES_H

#include "compiler/Conversion/Lowering/Frame/Lowering.h"

namespace heddle::loops {

/// Whether `candidate` is larger than `best`: a NaN is larger than every number, and no larger than a NaN.
Value beats(Lowering &l, Value candidate, Value best);
/// 1 where element `i` of a mask is not 0, as an index.
Value isLive(Lowering &l, Value mask, mlir::Type element, Value i);

} // namespace heddle::loops

#endif
