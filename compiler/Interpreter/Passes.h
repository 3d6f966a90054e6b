//===- Passes.h - passes that ask the interpreter ---------------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_INTERPRETER_PASSES_H
#define HEDDLE_COMPILER_INTERPRETER_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace heddle {
#define GEN_PASS_DECL
#include "compiler/Interpreter/Passes.h.inc"
/// registerInterpreterPasses().
#define GEN_PASS_REGISTRATION
#include "compiler/Interpreter/Passes.h.inc"
} // namespace heddle

#endif
