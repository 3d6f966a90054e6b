//===- CacheLayout.h - how a state holds keys or values ---------*- C++ -*-===//
//
// `attn-plan-cache` marks an append whose readers are attentions: its state then holds, for
// each iteration, batch element and key head, either panels of keys
//
//   keys    [blocks of 128 keys][8 panels][w][16 keys]
//   values  [capacity rounded up to 128][u]
//
// so that attention reads it as it lies. The mark is the attribute `cache`, a dictionary
// {kind = "keys" | "values", heads = g}.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_TOLOOPS_CACHELAYOUT_H
#define HEDDLE_COMPILER_CONVERSION_TOLOOPS_CACHELAYOUT_H

#include "dialects/Model/IR/Model.h"

namespace heddle::loops {

struct CacheLayout {
  model::AppendOp append;
  bool keys;           ///< or values
  int64_t heads, width;
  model::Size room;    ///< rows a head has room for: the capacity, rounded up to 128
  model::Size element; ///< floats of one batch element's head: room * width
};

/// The layout of the state behind a value that such an append gives.
std::optional<CacheLayout> cacheLayoutOf(mlir::Value appended);
std::optional<CacheLayout> cacheLayoutOf(model::AppendOp append);

} // namespace heddle::loops

#endif
