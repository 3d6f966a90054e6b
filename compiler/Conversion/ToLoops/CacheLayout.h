//===- CacheLayout.h - how a state holds keys or values ---------*- C++ -*-===//
//
// `attn-plan-cache` marks an append whose readers are attentions: its state then holds, for
// each iteration, batch element and key head, either panels of keys
//
//   keys    [blocks of 128 keys][8 panels][w][16 keys]
//   values  [capacity rounded up to 128][u]
//
// so that attention reads it as it lies; in bf16 pairs along w, [w/2][16 keys][2], and halves. The
// mark is the attribute `cache`, a dictionary {kind = "keys" | "values", heads = g} and, in bf16,
// element = "bf16".
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_TOLOOPS_CACHELAYOUT_H
#define HEDDLE_COMPILER_CONVERSION_TOLOOPS_CACHELAYOUT_H

#include "dialects/Model/IR/Model.h"

namespace heddle::loops {

struct CacheLayout {
  model::AppendOp append;
  bool keys;           ///< or values
  bool bf16;
  int64_t heads, width;
  int64_t words;       ///< of 4 bytes that a row of one head takes
  model::Size room;    ///< rows a head has room for: the capacity, rounded up to 128
  model::Size element; ///< words of one batch element's head: room * words
};

/// The layout of the state behind a value that such an append gives.
std::optional<CacheLayout> cacheLayoutOf(mlir::Value appended);
std::optional<CacheLayout> cacheLayoutOf(model::AppendOp append);

} // namespace heddle::loops

#endif
