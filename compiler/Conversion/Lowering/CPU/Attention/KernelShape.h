//===- KernelShape.h - what one attention kernel is made for ----*- C++ -*-===//
//
// A kernel is specialised to widths, head counts and the structure of mask and bias (AttentionShape.h). Lengths are
// arguments, each in its role: neither the name of a dim nor (but for few rows) its number is part of a kernel. So
// attention in @run (rows T, keys T, past 0) and in @step (rows new, keys past + new) is one function. Ops with equal
// texts share their kernels. Scratch, behind packed keys and values:
//
//   first visible key of each batch element |
//   one area a thread: Q, S, O, l, alpha, m, bounds of row groups, counts, pairs of values, biases
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_CPU_ATTENTION_KERNELSHAPE_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_CPU_ATTENTION_KERNELSHAPE_H

#include "compiler/Conversion/Lowering/Facts/AttentionShape.h"
#include "compiler/Conversion/Lowering/Facts/Tiles.h"

namespace heddle::loops {

constexpr int64_t kScoreFront = kPanelsAtOnce * kPanel; ///< room before column 0 of a row of scores

/// Floats of a head's row of biases by distance: -reach-16 .. reach+16.
inline int64_t tableStride(int64_t reach) { return (2 * reach + 33 + 15) / 16 * 16; }

/// What a length says of an attention. Values, Anchors and Threads are where these parts of scratch begin, in floats.
enum class Role {
  Rows,
  Keys,
  Past,
  KeyStart,
  KeyRoom,
  ValueRoom,
  RowBlocks,
  KeyBlocks,
  Values,
  Anchors,
  Threads,
  KeyRing,
  ValueRing
};
constexpr int64_t kNoRing = int64_t(1) << 40; ///< the length of a ring that never turns

struct KernelShape final : AttentionShape {
  explicit KernelShape(attn::SdpaOp op);

  /// One length for each Role (of rings only where there may be some), the zero of each relative_dot, and the axes of
  /// `tensors` that are no numbers. Where batch elements have slots, Role::Past and Role::Keys are what each text has
  /// next to the positions that were there, and `slots` and `starts` are arguments, too.
  llvm::SmallVector<model::Size> lengths;
  bool rings; ///< whether caches may be rings, since the mask looks back so far and no farther: then the kernel turns
  /// With dots, whether scores and outputs are made in matrix registers (AttentionMatrix.cpp).
  bool matrix;

  /// The number that a length is in this kernel: few rows, of which no more than one group is computed at once, are
  /// worth a kernel of their own.
  std::optional<int64_t> numberOf(Role role) const;
  /// Where among `lengths` these are.
  size_t indexOf(Role role) const { return size_t(role); }
  size_t indexOf(attn::RelativeDotOp bias) const;
  size_t indexOf(mlir::Value tensor, int64_t axis) const;

  /// Offsets inside a thread's area, in floats.
  int64_t atQuery, atScores, atOutput, atSum, atScale, atMax, atBounds, atCounts, atPairs, threadFloats;
  llvm::SmallVector<int64_t> atBias; ///< one a member of `biases`
  /// Floats of a row of scores: as much room after the tile as before it, and a line, so that rows fall on
  /// different sets of the cache.
  int64_t scoreStride() const { return kScoreFront + keyTile + kScoreFront + 16; }
  /// Where the areas of threads begin in scratch, in floats.
  model::Size atThreads() const;
  model::Size scratchBytes() const;

  /// Equal texts: equal kernels. Where keys and values come from is not in it: only packing asks.
  std::string text() const;

private:
  /// The axes of `tensors` that are no numbers, in the order of their lengths.
  llvm::SmallVector<std::pair<mlir::Value, int64_t>> axes;
  void layOutArea();
};

/// Floats of scratch of a relative_dot: panels of distances, dots (AttentionRelative.cpp).
int64_t relativeFloats(const KernelShape &shape, int64_t w, bool keySide);

} // namespace heddle::loops

#endif
