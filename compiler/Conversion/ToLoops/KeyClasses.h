//===- KeyClasses.h - attention that falls into several ---------*- C++ -*-===//
//
// Under a dilated mask rows and keys of different residues modulo d never meet. The kernel then
// keeps the keys of a residue (a class) together and computes d attentions: key k of class c is
// key row c + d * k, and its rows are those whose position is key_start + c modulo d. So tiles are
// dense, and every row, in a prefill or in a step, walks the keys of its class alone.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_TOLOOPS_KEYCLASSES_H
#define HEDDLE_COMPILER_CONVERSION_TOLOOPS_KEYCLASSES_H

#include "dialects/Attn/IR/Attn.h"

namespace heddle::loops {

/// Each class has room of its own, rounded up: many of them would be mostly empty.
constexpr int64_t kMostClasses = 32;

/// Into how many attentions one falls; 1: it does not.
inline int64_t keyClasses(attn::SdpaOp op) {
  int64_t step = mask::stridedOf(op.getMask());
  return step <= kMostClasses ? step : 1;
}

/// Rows that a class of `rows` rows has room for: whole tiles, or as many as a step reads at once.
inline model::Size roomOfClass(const model::Size &rows, int64_t classes) {
  model::Size unit(classes == 1 ? 128 : 64);
  return (rows + unit * model::Size(classes) - model::Size(1)).floorDiv(unit * model::Size(classes)) * unit;
}

} // namespace heddle::loops

#endif
