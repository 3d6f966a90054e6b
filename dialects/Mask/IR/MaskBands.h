//===- MaskBands.h - bounds that never decrease with the row ----*- C++ -*-===//
//
// A bound is made of terms i + c, n[b] + c and c. An upper bound is the least of its groups'
// greatest terms, a lower one the greatest of its groups' least terms. So AND of two upper
// bounds joins their lists of groups, OR is the same after distribution, NOT turns the one kind
// into the other, and every such bound takes its least value at the first row of a tile.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_DIALECTS_MASK_IR_MASKBANDS_H
#define HEDDLE_DIALECTS_MASK_IR_MASKBANDS_H

#include "dialects/Mask/IR/MaskCode.h"

namespace heddle::mask {

/// (i, or a value of the batch element, or nothing) + shift.
struct Term {
  bool row = false;
  Value value; ///< i64 of rank 0 or 1
  int64_t shift = 0;

  bool operator==(const Term &o) const { return row == o.row && value == o.value && shift == o.shift; }
};
using TermGroup = llvm::SmallVector<Term, 2>;
using Bound = llvm::SmallVector<TermGroup, 2>;

/// The bound of a band-like op on a side that it has.
Bound boundOf(mlir::Operation *op, Sides side);
/// x <= y is proved for every row (`facts`) and whatever the values are.
bool atMost(const Term &x, const Term &y, const Facts &facts);

/// A band of these bounds; an empty one is no limit.
BandOp createBand(mlir::OpBuilder &b, mlir::Location loc, const Bound &from, const Bound &below);

} // namespace heddle::mask

#endif
