//===- MaskOps.cpp - the mask dialect -------------------------------------===//
//
// What the ops answer stands with their relatives: MaskBands, MaskPositions, MaskSets and
// MaskConnectives; what answers follow from others in MaskAnswers.
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
