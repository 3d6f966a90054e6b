//===- PreparedRows.cpp - what a linear prepares for its panels ------------===//

#include "compiler/Conversion/Lowering/CPU/Linear/PreparedRows.h"
#include "compiler/Conversion/Lowering/CPU/Linear/IntegerRows.h"
#include "compiler/Conversion/Lowering/CPU/Linear/KeptRows.h"
#include "compiler/Conversion/Lowering/CPU/Linear/MatrixSums.h"
#include "compiler/Conversion/Lowering/CPU/Linear/UnpackPanel.h"
#include "dialects/Model/IR/ModelPlanAttrs.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using namespace heddle::model;

/// Whether the tiles of many rows multiply by panels of 16 bits that a thread has widened: not where a row may need
/// none of them.
static bool widensPanels(LinearOp op, const Arithmetic &arithmetic, int64_t k) {
  auto y = cast<ModelTensorType>(op->getResult(0).getType());
  int64_t n = y.getSize(y.getRank() - 1).constant().value_or(0);
  return arithmetic.halves() && !arithmetic.dots && k * n >= scheduleOf(op).getSmall() && !gateOf(op);
}

/// Bytes of a panel that a thread decodes, unpacks for its matrix registers, or widens for many rows; 0 where it reads
/// panels as they are.
static int64_t panelBytes(LinearOp op, const Arithmetic &arithmetic, int64_t k) {
  int64_t panel = weightLayoutOf(op).panel;
  if (!arithmetic.coding)
    return widensPanels(op, arithmetic, k) ? LinearScratch::linesOf(4 * k * panel) : 0;
  const Coding &coding = arithmetic.coding;
  if (!arithmetic.dots)
    return LinearScratch::linesOf(4 * coding.sections(k) * coding.sectionFeatures(k) * panel);
  return unpacksPanels(op) ? LinearScratch::linesOf(unpackedCoding(coding, productsOf(op)).panelBytes(panel, k)) : 0;
}

plan::Preparation heddle::loops::registerPreparation(LinearOp op) {
  plan::Preparation preparation;
  int64_t k = featuresOf(op);
  if (!k) // no kernel takes it (Support.cpp)
    return preparation;
  Arithmetic arithmetic = arithmeticOf(op);
  bool matrices = multipliesMatrices(op);
  if (arithmetic.integers()) {
    preparation.pitch = IntegerRow(arithmetic, k, productsOf(op)).bytes / 4;
  } else if (matrices) { // an odd number of lines: rows of a register are in different sets of a cache
    int64_t words = SumStep(arithmetic, k).pitch;
    preparation.pitch = words + (words / MatrixTiles::words % 2 ? 0 : MatrixTiles::words);
  }
  preparation.rowsTogether = matrices ? MatrixTiles::rows : 1;
  preparation.panelBytes = preparation.threadBytes = panelBytes(op, arithmetic, k);
  if (arithmetic.integers() && arithmetic.coding.ordered) // a row in the order of the codes
    preparation.threadBytes = std::max(preparation.threadBytes, LinearScratch::linesOf(4 * k));
  return preparation;
}

Operation *heddle::loops::preparesRowsOf(Operation *op) {
  auto linear = dyn_cast<LinearOp>(op);
  SmallVector<LinearOp> readers = linear ? readersOfRows(linear) : SmallVector<LinearOp>();
  return readers.empty() || readers.front() == linear ? nullptr : readers.front();
}

Value heddle::loops::preparedRows(Lowering &l, LinearOp op, const SumStep &step) {
  if (step.arithmetic.integers())
    return integerRows(l, op);
  if (keptRows(op.getInput()))
    return l.pointer(op.getInput());
  SmallVector<LinearOp> readers = readersOfRows(op);
  return readers.empty() || readers.front() == op ? packRows(l, op, step) : l.scratchPointer(op);
}
