//===- MaskPositions.cpp - leaves that read nothing and are no bands ------------===//
//
// Leaves that read positions only and are no bands: all, none, residues, tokens of a picture. Their
// verifiers and answers (MaskInterfaces.td).
//
//===----------------------------------------------------------------------===//

#include "dialects/Mask/IR/Mask.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace heddle::mask;

//===-- all, none --------------------------------------------------------------------===//

Truth AllOp::implies(KeysTruth) { return Truth::Always; }
Positions AllOp::positions() { return Positions::Order; }
bool AllOp::surelySees(Witness, const Facts &) { return true; }

Truth NoneOp::implies(KeysTruth) { return Truth::Never; }
Positions NoneOp::positions() { return Positions::Order; }
/// No pair is visible, so any limit holds.
Reach NoneOp::reach() { return {-kUnbounded, -kUnbounded}; }

//===-- residues ---------------------------------------------------------------------===//

LogicalResult DilatedOp::verify() {
  return int64_t(getStep()) < 1 ? emitOpError("expected a positive step, got ") << getStep() : success(); // dilated_c1
}
Axes DilatedOp::dependsOn() { return Query | Key; }
Positions DilatedOp::positions() { return Positions::Distance; }
std::string DilatedOp::describe(TensorName) { return "dilated(" + std::to_string(getStep()) + ")"; }
bool DilatedOp::surelySees(Witness w, const Facts &) { return w == Witness::Own || int64_t(getStep()) == 1; }

//===-- pictures ---------------------------------------------------------------------===//

static LogicalResult inRange(Operation *op, StringRef what, int64_t n, int64_t least) {
  if (n >= least && n < kUnbounded) // grid_c1, grid_window_c1
    return success();
  return op->emitOpError() << what << " must be " << (least ? "positive" : "0 or more") << " and below 2**30, but is "
                           << n;
}
/// The reach of a token that sees at most so many rows and columns around it.
static Reach reachOf(int64_t width, int64_t rows, int64_t columns) {
  int64_t n = rows * width + std::min(columns, width - 1);
  return n < kUnbounded ? Reach{n, n} : Reach{};
}

LogicalResult GridOp::verify() {
  return success(succeeded(inRange(*this, "width", getWidth(), 1)) && succeeded(inRange(*this, "rows", getRows(), 0)) &&
                 succeeded(inRange(*this, "columns", getColumns(), 0)));
}
Reach GridOp::reach() { return reachOf(getWidth(), getRows(), getColumns()); }
Axes GridOp::dependsOn() { return Query | Key; }
bool GridOp::surelySees(Witness w, const Facts &) { return w == Witness::Own; }
std::string GridOp::describe(TensorName) {
  return llvm::formatv("grid({0}, {1}, {2})", getWidth(), getRows(), getColumns());
}

LogicalResult GridWindowOp::verify() {
  return success(succeeded(inRange(*this, "width", getWidth(), 1)) && succeeded(inRange(*this, "rows", getRows(), 1)) &&
                 succeeded(inRange(*this, "columns", getColumns(), 1)) &&
                 succeeded(inRange(*this, "shift", getShift(), 0)));
}
Reach GridWindowOp::reach() { return reachOf(getWidth(), getRows() - 1, getColumns() - 1); }
Axes GridWindowOp::dependsOn() { return Query | Key; }
bool GridWindowOp::surelySees(Witness w, const Facts &) { return w == Witness::Own; }
std::string GridWindowOp::describe(TensorName) {
  return llvm::formatv("grid_window({0}, {1}, {2}, {3})", getWidth(), getRows(), getColumns(), getShift());
}
