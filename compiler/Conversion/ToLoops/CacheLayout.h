//===- CacheLayout.h - how a state holds keys or values ---------*- C++ -*-===//
//
// `attn-plan-cache` marks an append whose readers are attentions: its state then holds, for
// each iteration, batch element and key head, either panels of keys
//
//   keys    [blocks of 128 keys][8 panels][w][16 keys]
//   values  [capacity rounded up to 128][u]
//
// so that attention reads it as it lies; in bf16 pairs along w, [w/2][16 keys][2], and halves.
// Under a mask whose attention falls into attentions over every d-th row and key (KeyClasses.h)
// this stands d times, one after the other, for the positions of each residue modulo d. The mark
// is the attribute `cache`, a dictionary {kind = "keys" | "values", heads = g} and, where they are
// not what goes without saying, element = "bf16" and classes = d.
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
  int64_t classes;
  model::Size room;    ///< rows that a class of a head has room for: its share of the capacity, rounded up
  model::Size element; ///< words of one batch element's head: classes * room * words
};

/// The layout of the state behind a value that such an append gives.
std::optional<CacheLayout> cacheLayoutOf(mlir::Value appended);
std::optional<CacheLayout> cacheLayoutOf(model::AppendOp append);

} // namespace heddle::loops

#endif
