//===- Misfit.h - which part of a mask or bias does not fit -----*- C++ -*-===//
//
// `attn::misfit` says in words why a mask or a bias is not of the scores of an attention. A message wants the
// place too: of the op that made the part of it that does not fit.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_DIALECTS_ATTN_IR_MISFIT_H
#define HEDDLE_DIALECTS_ATTN_IR_MISFIT_H

#include "dialects/Attn/IR/Attn.h"

namespace heddle::attn {
/// The leaf of a mask, or the part of a bias, that `misfit` speaks of: its tensors are not along the axes of the
/// scores, or it is made for another number of heads. Null: all fits.
mlir::Operation *misfittingPart(mlir::Value maskOrBias, const mask::Scores &scores);
} // namespace heddle::attn

#endif
