//===- TileShapes.h - the tiles that chips like -------------------*- C++ -*-===//
//
// What of a tile program is a matter of speed: how large a tile is, which thread holds what of it, how its pieces come.
// It is chosen here for each chip of the target, and is in the types and attributes of the program that is made.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_GPU_LINEAR_TILESHAPES_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_GPU_LINEAR_TILESHAPES_H

#include "dialects/Model/IR/Model.h"
#include "dialects/Tile/IR/Tile.h"

namespace heddle::loops {

/// How the two sides of a linear are laid out: f32 in rows and panels, pairs of bf16 in rows and panels, pairs in
/// groups.
enum class Sides { Reals, Pairs, Groups };

struct TileShape {
  int64_t rows, columns;
  int64_t step, stages; ///< words of k in a round; slots of the ring
  bool bulk;
  tile::Spread spread;
  int64_t down, across;
  int64_t together = 0; ///< blocks that a multiprocessor is to hold at once; 0: as it comes
};

/// A shape and the chips that take it; none: all of the target's.
struct TileForm {
  TileShape shape;
  llvm::SmallVector<llvm::StringRef> on;
};

/// Who multiplies in an attention of many rows, and on which chips.
struct AttentionForm {
  tile::Spread spread;
  llvm::SmallVector<llvm::StringRef> on;
};

/// For many rows, a form for each kind of chip among the target's. All have as many threads and tiles of one size,
/// since one launch stands for them.
llvm::SmallVector<TileForm> tallTiles(Sides sides, model::TargetAttr target);
/// The same of an attention; `groups`: its keys are in groups of four words.
llvm::SmallVector<AttentionForm> tallAttention(bool groups, model::TargetAttr target);
/// Features of a head that a tile makes, of `width`: a thread has registers for the sums of 128. More are shared out
/// among tiles evenly, 32 dividing each share.
int64_t featuresOfTile(int64_t width);
/// For up to 16 rows, on every chip.
TileShape lowTile(Sides sides);

} // namespace heddle::loops

#endif
