//===- Split.h - long code becomes several functions ------------*- C++ -*-===//
//
// Cuts functions that are too long for LLVM's code generator into several.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_LANGUAGE_SPLIT_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_LANGUAGE_SPLIT_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace heddle::loops {

/// Moves the code of a function of more than `longest` ops into functions of about a tenth of that, which it then
/// calls.
void splitLongFunction(mlir::func::FuncOp function, int64_t longest);

} // namespace heddle::loops

#endif
