//===- LineDiff.h - which lines two texts share -----------------*- C++ -*-===//
//
// Myers, An O(ND) Difference Algorithm and Its Variations (1986), in linear space. Lines that only one text has are
// left out first, and a comparison that would take too long settles for a split that is good.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_IRTEXT_LINEDIFF_H
#define HEDDLE_COMPILER_IRTEXT_LINEDIFF_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <utility>
#include <vector>

namespace heddle {

/// A line of the first text and one of the second.
using LinePair = std::pair<unsigned, unsigned>;

/// Pairs of equal elements, both members rising: what is kept when `a` becomes `b`. Elements are equal if their numbers
/// are, as of lines their hashes. O((N + M) * min(D, 1024)) time for D differences.
std::vector<LinePair> alignLines(llvm::ArrayRef<uint64_t> a, llvm::ArrayRef<uint64_t> b);

} // namespace heddle

#endif
