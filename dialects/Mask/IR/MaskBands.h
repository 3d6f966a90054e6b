//===- MaskBands.h - bounds that never decrease with the row ----*- C++ -*-===//
//
// Bands: keys between bounds that never decrease with the row i. A bound is made of terms i + c,
// i // n * n + c, n[b] + c and c. An upper bound is the least of its groups' greatest terms, a lower
// one the greatest of its groups' least terms. So AND of two upper bounds joins their lists of groups,
// OR does the same after distribution, NOT turns one kind of bound into the other, and over a tile of
// rows every bound is least at the first row.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_DIALECTS_MASK_IR_MASKBANDS_H
#define HEDDLE_DIALECTS_MASK_IR_MASKBANDS_H

#include "dialects/Mask/IR/Mask.h"

namespace heddle::mask {

/// Whether x <= y is proved for every row, whatever the values are.
bool atMost(const Term &x, const Term &y, const Facts &facts);

/// Creates a band between two bounds; an empty bound is no limit.
BandOp createBand(mlir::OpBuilder &b, mlir::Location loc, const Bound &from, const Bound &below);

} // namespace heddle::mask

#endif
