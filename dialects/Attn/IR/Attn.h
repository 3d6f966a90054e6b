//===- Attn.h - attention as an op ------------------------------*- C++ -*-===//
#ifndef HEDDLE_DIALECTS_ATTN_IR_ATTN_H
#define HEDDLE_DIALECTS_ATTN_IR_ATTN_H

#include "dialects/Mask/IR/Mask.h"

#include "dialects/Attn/IR/AttnDialect.h.inc"
#include "dialects/Attn/IR/AttnEnums.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/Attn/IR/AttnTypes.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Attn/IR/AttnAttrs.h.inc"
#define GET_OP_CLASSES
#include "dialects/Attn/IR/AttnOps.h.inc"

namespace heddle::attn {
/// The published ALiBi slopes (Press et al. 2021): a geometric series if `heads` is a power of two;
/// otherwise the rest is the odd members of the next longer series.
std::vector<double> alibiSlopes(int64_t heads);
/// T5's bucket of the distance j - i; the logarithm is computed in float32, as published code does.
int64_t bucketOf(int64_t distance, int64_t buckets, int64_t maxDistance, bool twoSided);
/// What does not fit: a tensor of a mask's leaf or of a bias whose axes are not those of the scores, in
/// words; none if all fit.
std::optional<std::string> misfit(mlir::Value maskOrBias, const mask::Scores &scores);
/// DeBERTa's log bucket of the distance i - j.
int64_t logBucketOf(int64_t distance, int64_t size, int64_t far);
} // namespace heddle::attn

#endif
