//===- KeyClasses.h - attention that falls into several ---------*- C++ -*-===//
//
// Attention under a dilated mask of step d: rows and keys of different residues modulo d never meet. The kernel stores
// the keys of a residue (a class) together and computes d attentions: key k of class c is key row c + d * k, and the
// rows of the class are those whose position is key_start + c modulo d. Tiles are then dense, and every row, in prefill
// and step alike, visits the keys of its class only.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_PLAN_KEYCLASSES_H
#define HEDDLE_COMPILER_PLAN_KEYCLASSES_H

#include "dialects/Attn/IR/Attn.h"

namespace heddle::plan {

/// The number of classes of an attention; 1: all keys together.
inline int64_t keyClasses(attn::SdpaOp op) {
  int64_t step = mask::stridedOf(op.getMask());
  return step <= attn::CacheAttr::mostClasses ? step
                                              : 1; // each class is rounded up to a block; many would be mostly empty
}

/// Rows that a class of `rows` rows is rounded up to: whole blocks of `block`, or with several classes, which are
/// small, half blocks.
inline model::Size roomOfClass(const model::Size &rows, int64_t classes, int64_t block) {
  model::Size unit(classes == 1 ? block : (block + 1) / 2), all = unit * model::Size(classes);
  return (rows + all - model::Size(1)).floorDiv(all) * unit;
}

} // namespace heddle::plan

#endif
