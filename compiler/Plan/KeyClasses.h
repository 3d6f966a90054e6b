//===- KeyClasses.h - attention that falls into several ---------*- C++ -*-===//
//
// Under a dilated mask rows and keys of different residues modulo d never meet. The kernel then
// keeps the keys of a residue (a class) together and computes d attentions: key k of class c is
// key row c + d * k, and its rows are those whose position is key_start + c modulo d. So tiles are
// dense, and every row, in a prefill or in a step, walks the keys of its class alone.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_PLAN_KEYCLASSES_H
#define HEDDLE_COMPILER_PLAN_KEYCLASSES_H

#include "dialects/Attn/IR/Attn.h"

namespace heddle::plan {

/// Into how many attentions one falls; 1: it does not.
inline int64_t keyClasses(attn::SdpaOp op) {
  int64_t step = mask::stridedOf(op.getMask());
  return step <= attn::CacheAttr::mostClasses ? step : 1; // each class has room of its own, mostly empty where they are many
}

/// Rows that a class of `rows` rows has room for in blocks of `block`: whole blocks, or of classes, which are many and
/// small, halves of them.
inline model::Size roomOfClass(const model::Size &rows, int64_t classes, int64_t block) {
  model::Size unit(classes == 1 ? block : (block + 1) / 2), all = unit * model::Size(classes);
  return (rows + all - model::Size(1)).floorDiv(all) * unit;
}

} // namespace heddle::plan

#endif
