//===- MaskProofs.cpp - what holds for every row --------------------------===//
//
// Proofs about all rows. Facts follow from lengths. A witness is a key that every row sees: its own
// position, or the first key; if there is one, no row is fully masked. Also the proof that a mask is
// strided. All proofs are sound and incomplete: what is not proved is tested at run time.
//
//===----------------------------------------------------------------------===//

#include "dialects/Mask/IR/Mask.h"

using namespace mlir;
using namespace heddle::mask;
using heddle::model::Size;

//===-- facts --------------------------------------------------------------------===//

/// The greatest value of a form whose dims have bounds; none if it has a minus sign or a division.
static std::optional<int64_t> greatest(const Size &form, DictionaryAttr bounds) {
  if (StringRef(form.str()).contains('-') || StringRef(form.str()).contains("//"))
    return std::nullopt;
  std::map<std::string, int64_t> dims;
  for (const std::string &dim : form.dims()) {
    auto bound = bounds ? bounds.getAs<IntegerAttr>(dim) : IntegerAttr();
    if (!bound)
      return std::nullopt;
    dims[dim] = bound.getInt();
  }
  return form.evaluate(dims);
}

Facts heddle::mask::factsOf(const Grid &grid, DictionaryAttr bounds) {
  Facts facts;
  Size lastRow = grid.past + grid.rows, lastKey = grid.keyStart + grid.keys;
  facts.aligned = lastRow == lastKey;
  facts.fromZero = grid.keyStart.is(0);
  facts.sameRows = grid.past == grid.keyStart;
  facts.hasKeys = grid.keys.constant().value_or(0) > 0;
  if (std::optional<int64_t> n = greatest(lastRow, bounds))
    facts.lastRow = *n - 1;
  if (std::optional<int64_t> n = greatest(lastKey, bounds))
    facts.lastKey = *n - 1;
  return facts;
}

Facts heddle::mask::meet(const Facts &a, const Facts &b) {
  auto farther = [](std::optional<int64_t> x, std::optional<int64_t> y) {
    return x && y ? std::optional(std::max(*x, *y)) : std::nullopt;
  };
  return {a.aligned && b.aligned, a.fromZero && b.fromZero,      a.sameRows && b.sameRows,
          a.hasKeys && b.hasKeys, farther(a.lastRow, b.lastRow), farther(a.lastKey, b.lastKey)};
}

//===-- witnesses ----------------------------------------------------------------===//

bool heddle::mask::rowMayBeEmpty(Value mask, const Facts &facts) {
  // Keys cover the positions from 0 to the last row's, so there is one wherever there is a row.
  bool own = facts.fromZero && facts.aligned, first = facts.fromZero && (facts.aligned || facts.hasKeys);
  if (!mask)
    return !own && !facts.hasKeys;
  auto everyRowSees = [&](Witness w) {
    auto op = ask(mask);
    return op && op.surelySees(w, facts);
  };
  return !(own && everyRowSees(Witness::Own)) && !(first && everyRowSees(Witness::First));
}

//===-- residues -----------------------------------------------------------------===//

/// Whether the mask can be evaluated on the keys of a view with this step.
static bool speaksOfViews(Value mask, int64_t step) {
  Operation *op = mask.getDefiningOp();
  if (auto dilated = dyn_cast<DilatedOp>(op))
    return step % int64_t(dilated.getStep()) == 0;
  if (isa<AndOp, OrOp, NotOp>(op))
    return llvm::all_of(op->getOperands(), [&](Value v) { return speaksOfViews(v, step); });
  return isa<AllOp, NoneOp, KeysOp, QueriesOp>(op) || ask(mask).sides() != Sides::NotABand;
}

int64_t heddle::mask::stridedOf(Value mask) {
  if (!mask || !mask.getDefiningOp())
    return 1;
  Residuals root = residuals(mask);
  if (!root.conjunction)
    return 1;
  int64_t step = 1;
  for (const Residual &operand : root.operands)
    if (auto dilated = dyn_cast<DilatedOp>(operand.mask.getDefiningOp()))
      step = std::max(step, int64_t(dilated.getStep()));
  return speaksOfViews(mask, step) ? step : 1;
}
