//===- Passes.h - from tensors to loops over one arena ----------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_PASSES_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_PASSES_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace heddle::loops {
#define GEN_PASS_DECL
#include "compiler/Conversion/Lowering/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "compiler/Conversion/Lowering/Passes.h.inc"
} // namespace heddle::loops

#endif
