//===- Passes.h - passes of the mask dialect --------------------*- C++ -*-===//
#ifndef HEDDLE_DIALECTS_MASK_TRANSFORMS_PASSES_H
#define HEDDLE_DIALECTS_MASK_TRANSFORMS_PASSES_H

#include "dialects/Mask/IR/Mask.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace heddle::mask {
#define GEN_PASS_DECL
#include "dialects/Mask/Transforms/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "dialects/Mask/Transforms/Passes.h.inc"
} // namespace heddle::mask

#endif
