//===- MaskOps.cpp - the mask dialect -------------------------------------===//
//
// Registration of the dialect. What ops answer is in MaskBands, MaskPositions, MaskSets and
// MaskConnectives; defaults are in MaskAnswers.
//
//===----------------------------------------------------------------------===//

#include "dialects/Mask/IR/Mask.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace heddle::mask;

#include "dialects/Mask/IR/MaskDialect.cpp.inc"
#include "dialects/Mask/IR/MaskInterfaces.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/Mask/IR/MaskTypes.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/Mask/IR/MaskOps.cpp.inc"

void MaskDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/Mask/IR/MaskTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Mask/IR/MaskOps.cpp.inc"
      >();
}
