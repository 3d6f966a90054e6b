//===- Element.h - bodies of maps and epilogues -----------------*- C++ -*-===//
//
// Emits the body of an elementwise op, a map or an epilogue, on scalars or on vectors.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_LANGUAGE_ELEMENT_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_LANGUAGE_ELEMENT_H

#include "compiler/Conversion/Lowering/Language/Code.h"

namespace heddle::loops {

/// The elements that `op` (a map or an elementwise op) makes of `operands`, scalars or vectors.
Value emitBody(Code &c, mlir::Operation *op, mlir::ValueRange operands);
/// The same for the body of a map or an epilogue itself.
Value emitRegion(Code &c, mlir::Region &region, mlir::ValueRange operands);

} // namespace heddle::loops

#endif
