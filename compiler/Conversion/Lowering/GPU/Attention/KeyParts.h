//===- KeyParts.h - keys of an attention, shared out --------------*- C++ -*-===//
//
// The keys that a batch element sees are in parts of kPartKeys. Each part has a softmax of its own: the largest score
// m, the sum of weights l and the sum of weighted values o of a row. Parts are joined in ascending order, and one that
// a row sees nothing of changes no bit. A prefill joins each part when it has done it; in a step every part is another
// block's work, and what they leave is joined by a separate kernel. So both have the same bits.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_GPU_ATTENTION_KEYPARTS_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_GPU_ATTENTION_KEYPARTS_H

#include "compiler/Conversion/Lowering/Facts/AttentionShape.h"
#include "compiler/Conversion/Lowering/Frame/Lowering.h"

namespace heddle::loops {

constexpr int64_t kPartKeys = 128;                 ///< a multiple of the keys of every tile
constexpr double kLowest = -3.4028234663852886e38; ///< the largest score of no keys

/// What blocks leave of their parts, in scratch behind packed keys and values:
///   o [batch][group][part][kLowRows][u] | m, l [batch][group][part][kLowRows][2]
struct KeyParts {
  static constexpr int64_t kLowRows = 16; ///< the most packed rows of a group whose keys are shared out

  KeyParts(Lowering &l, const AttentionShape &plan);
  static model::Size bytes(const AttentionShape &plan);
  /// Bytes of what is left of `plan`'s rows.
  static model::Size leftBytes(const AttentionShape &plan);

  Lowering &l;
  const AttentionShape &plan;
  Length count; ///< parts of each group

  /// Packed row `row` of a part, counted through all of them; the address of its `o`, of its `m`.
  Value rowOf(Value batch, Value group, Value part, Value row) const;
  Value output(Value row) const;
  Value numbers(Value row) const;

private:
  Value base;
  Value outputs; ///< words of all `o`
};

//===-- joining -----------------------------------------------------------------------===//

/// A score that is greater takes the place; a NaN shows in its weight.
inline Value larger(Lowering &l, Value x, Value y) { return l.select({l.lessf(y, x), x, y}); }
/// What sums relative to `most` are multiplied by where they become relative to `now`.
Value shrinkage(Lowering &l, Value most, Value now);
/// x f of sums so far and those of a part; what is no number (an infinity that was seen) stays what it is.
Value shrunk(Lowering &l, Value x, Value factor);

/// Joins what the blocks have left, for rows [0, rows) of each head, and writes the rows of the result.
void emitJoin(Lowering &l, const KeyParts &parts, const Length &rows);

} // namespace heddle::loops

#endif
