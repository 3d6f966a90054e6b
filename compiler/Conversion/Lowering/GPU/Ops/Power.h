//===- Power.h - x to the y, without a C library ----------------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_GPU_OPS_POWER_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_GPU_OPS_POWER_H

#include "compiler/Conversion/Lowering/Language/Code.h"

namespace heddle::loops {

/// x to the y, f32 scalars, as C's powf within its last place.
Value power(Code &c, Value x, Value y);

} // namespace heddle::loops

#endif
