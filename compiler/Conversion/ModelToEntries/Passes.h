//===- Passes.h - from one body to the entries of a binary ------*- C++ -*-===//
//
// The stage `entries`: for models that generate, @step (new rows) and, where values depend on
// inputs but on no token, @once are derived from @run.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_MODELTOENTRIES_PASSES_H
#define HEDDLE_COMPILER_CONVERSION_MODELTOENTRIES_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace heddle {
#define GEN_PASS_DECL
#include "compiler/Conversion/ModelToEntries/Passes.h.inc"
/// registerModelToEntriesPasses().
#define GEN_PASS_REGISTRATION
#include "compiler/Conversion/ModelToEntries/Passes.h.inc"
} // namespace heddle

#endif
