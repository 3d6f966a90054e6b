//===- Passes.h - from tiles to instructions --------------------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_CONVERSION_TILETONVVM_PASSES_H
#define HEDDLE_COMPILER_CONVERSION_TILETONVVM_PASSES_H

#include "mlir/Pass/Pass.h"

namespace heddle::tile {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/Conversion/TileToNVVM/Passes.h.inc"

} // namespace heddle::tile

#endif
