//===- Passes.h - passes of the model dialect -------------------*- C++ -*-===//
#ifndef HEDDLE_DIALECTS_MODEL_TRANSFORMS_PASSES_H
#define HEDDLE_DIALECTS_MODEL_TRANSFORMS_PASSES_H

#include "dialects/Model/IR/Model.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace heddle::model {
#define GEN_PASS_DECL
#include "dialects/Model/Transforms/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "dialects/Model/Transforms/Passes.h.inc"
} // namespace heddle::model

#endif
