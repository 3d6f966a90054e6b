//===- StageNames.h - names in the text of a stage --------------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_DRIVER_STAGENAMES_H
#define HEDDLE_COMPILER_DRIVER_STAGENAMES_H

#include "mlir/IR/BuiltinOps.h"

namespace heddle {

/// Reports every name of a module read from the text of a stage that no description could have declared
/// (DeclaredNames.h): of the model, its functions, inputs, outputs, states and dims, and the keys of its settings.
mlir::LogicalResult checkNames(mlir::ModuleOp module);

} // namespace heddle

#endif
