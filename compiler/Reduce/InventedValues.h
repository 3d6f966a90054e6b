//===- InventedValues.h - numbers where no file has any ---------*- C++ -*-===//
//
// IR without its weights and inputs can be interpreted all the same: what it reads is made of names and shapes, the
// same at every run, so that a reduced file needs no other file.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_REDUCE_INVENTEDVALUES_H
#define HEDDLE_COMPILER_REDUCE_INVENTEDVALUES_H

#include "compiler/Interpreter/Interpreter.h"
#include <functional>

namespace heddle {

/// What a module is interpreted on.
struct GivenValues {
  Tensors inputs; ///< of @run
  std::function<mlir::FailureOr<Tensor>(llvm::StringRef)> parameter;
};

/// Dims are 2, 3, 4, ... in the order of the inputs, within their bounds; integers are 0 or 1, so that they are rows of
/// every table; reals are between -1 and 1. Inputs with a default are left out. Must not outlive `module`.
GivenValues inventedValues(mlir::ModuleOp module);

} // namespace heddle

#endif
