//===- Passes.h - what is decided before code is made -----------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_PLAN_PASSES_H
#define HEDDLE_COMPILER_PLAN_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace heddle::plan {
#define GEN_PASS_DECL
#include "compiler/Plan/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "compiler/Plan/Passes.h.inc"
} // namespace heddle::plan

#endif
