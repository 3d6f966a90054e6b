//===- Emission.cpp - the code of masks, attached to their ops ----------------===//

#include "dialects/Mask/Emission/MaskCode.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace heddle::mask;

#include "dialects/Mask/Emission/EmissionInterface.cpp.inc"

void heddle::mask::registerMaskEmission(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, math::MathDialect, scf::SCFDialect, vector::VectorDialect>();
  registry.addExtension(+[](MLIRContext *context, MaskDialect *) {
    attachBands(*context);
    attachPositions(*context);
    attachSets(*context);
    attachLabels(*context);
    attachBlocks(*context);
    attachConnectives(*context);
  });
}

/// The interface of the op that defines a mask. A mask carried by a block has none, but passes that
/// would make one refuse before.
static MaskCodeInterface codeOf(Value mask) { return cast<MaskCodeInterface>(mask.getDefiningOp()); }

Segment heddle::mask::emitSegment(Emitter &e, Value mask, Value key) { return codeOf(mask).emitSegment(e, key); }
Hull heddle::mask::emitHull(Emitter &e, Value mask) { return codeOf(mask).emitHull(e); }
Value heddle::mask::emitContains(Emitter &e, Value mask, Value row, Value key) {
  return codeOf(mask).emitContains(e, row, key);
}
