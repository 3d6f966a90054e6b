//===- RandomAttention.h - an attention around a mask -----------*- C++ -*-===//
//
// A Case of AttentionCases.h whose mask is a MaskSpec, with widths, heads and a score modifier
// by chance.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TEST_MASK_RANDOMATTENTION_H
#define HEDDLE_TEST_MASK_RANDOMATTENTION_H

#include "test/Mask/MaskSpec.h"
#include "test/Numerics/AttentionCases.h"
#include <memory>

namespace heddle::test {

/// How often each query sees each key in the call that is checked.
struct Counts {
  std::vector<MaskSpec::Row> rows; ///< [B][heads][T]
  int heads;
  void fill(const MaskSpec &spec, const Call &call);
  int32_t at(const Case::At &a) const { return rows[(a.b * heads + a.h) * a.n.T + a.r][a.k]; }
};

/// A mask with the attention around it.
struct RandomAttention {
  MaskSpec spec;
  std::shared_ptr<Counts> counts = std::make_shared<Counts>();
  Case test;
  std::string modifier = "plain";
  bool small = true; ///< no bias: scores are small, weights do not vanish
  std::string str() const;
};

inline MaskSizes sizesOf(const Sizes &n) { return {n.B, n.T, n.S, n.P, n.K}; }
/// "B, T, 16" as its axes.
std::vector<std::string> axesOf(const std::string &text);

/// `modifier`: the index of a bias case; none: by chance one or none.
RandomAttention drawAttention(std::mt19937_64 &random, MaskSpec spec, std::optional<size_t> modifier = std::nullopt);
size_t modifierCount();

/// dilated(d) and X, such that rows and keys fall into d classes (KeyClasses.h).
MaskSpec drawDilated(std::mt19937_64 &random, int depth, int64_t most);
/// X + not blocks, with the blocks of X: what is listed twice is hidden once.
MaskSpec drawCounted(std::mt19937_64 &random, int depth, int64_t most);
/// Whether a leaf of one of these kinds occurs.
bool reads(const MaskSpec::Node &node, std::initializer_list<MaskSpec::Kind> kinds);

} // namespace heddle::test

#endif
