//===- WarpPrograms.h - ops that warps do in their own way ----------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_GPU_WARPPROGRAMS_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_GPU_WARPPROGRAMS_H

#include "compiler/Conversion/Lowering/Frame/Lowering.h"

namespace heddle::loops {

/// Linears through tiles (TileLinear.h); a row of a head a warp (WarpAttention.h); a row of a head a warp into a cache.
const Programs &warpPrograms();

} // namespace heddle::loops

#endif
