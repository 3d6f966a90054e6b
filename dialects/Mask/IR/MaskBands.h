//===- MaskBands.h - bounds that never decrease with the row ----*- C++ -*-===//
//
// A bound is made of terms i + c, i // n * n + c, n[b] + c and c. An upper bound is the least of its groups'
// greatest terms, a lower one the greatest of its groups' least terms. So AND of two upper
// bounds joins their lists of groups, OR is the same after distribution, NOT turns the one kind
// into the other, and every such bound takes its least value at the first row of a tile.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_DIALECTS_MASK_IR_MASKBANDS_H
#define HEDDLE_DIALECTS_MASK_IR_MASKBANDS_H

#include "dialects/Mask/IR/Mask.h"

namespace heddle::mask {

/// x <= y is proved for every row (`facts`) and whatever the values are.
bool atMost(const Term &x, const Term &y, const Facts &facts);

/// A band of these bounds; an empty one is no limit.
BandOp createBand(mlir::OpBuilder &b, mlir::Location loc, const Bound &from, const Bound &below);

} // namespace heddle::mask

#endif
