//===- TileCode.h - what the lowering of tiles is written in ----*- C++ -*-===//
//
// Index arithmetic of Lowering with what a thread of a tile knows: its number, which elements of a fragment it holds,
// where a word of a piece is in shared memory.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_TILETONVVM_TILECODE_H
#define HEDDLE_COMPILER_CONVERSION_TILETONVVM_TILECODE_H

#include "compiler/Conversion/Lowering/Language/Code.h"
#include "dialects/Tile/IR/Tile.h"

namespace heddle::tile {

using loops::Value;
using loops::Values;

/// A piece of shared memory in one stage of a ring.
struct Piece {
  Value base; ///< its first word
  SharedType type;
};

/// Where a piece of a matrix in memory begins, and how large the matrix is.
struct Window {
  Value from, row, column, rows, columns;
  int64_t panels; ///< columns of a panel; 0: the matrix is stored row after row
  bool groups;    ///< the words (of each panel) are in groups of four along the axis that is summed
  bool anywhere;  ///< whether `column` may be any, not only a multiple of four
};

class TileCode : public loops::Code {
public:
  TileCode(mlir::ImplicitLocOpBuilder &b, const loops::Lanes &lanes, int64_t threads);
  const int64_t threads; ///< of a tile
  Value thread;          ///< this one's number

  //===-- fragments (Fragments.cpp): a thread holds heldRows() x heldColumns() ----===//
  /// The row of the fragment that is row `i` of this thread; the column that is its column `j`.
  Value rowOf(FragType type, Value i);
  Value columnOf(FragType type, Value j);
  Value columnOf(FragType type, int64_t j) { return columnOf(type, constant(j)); }

  //===-- shared memory (Pieces.cpp) ----------------------------------------------===//
  mlir::Type sharedPointer();
  /// `words` words behind `base`.
  Value behind(Value base, Value words);
  Value wordAt(const Piece &piece, Value row, Value column);
  /// All threads together ask for what the piece is to hold; what is outside of the matrix is 0.
  void copy(const Window &window, const Piece &piece);

  //===-- bulk copies (Bulk.cpp): done by the threads of the first warp ------------===//
  /// The barrier of `slot` among those that begin at `first`.
  Value barrierAt(Value first, Value slot);
  /// Makes `count` barriers for phases of `pieces` announced pieces each; done by one thread.
  void makeBarriers(Value first, int64_t count, int64_t pieces);
  /// Announces the bytes of a piece to `barrier` and asks for them.
  void copyBulk(const Window &window, const Piece &piece, Value barrier);
  /// Waits until the phase of `barrier` that has this parity is over.
  void waitForPhase(Value barrier, Value parity);

  //===-- products (Products.cpp) -------------------------------------------------===//
  /// sums + left * right over the first `depth` columns of the left side. Of `wgmma` they are under way: registers that
  /// nobody may touch until `settle`.
  Values multiply(const Piece &left, const Piece &right, FragType type, Values sums, int64_t depth);
  /// What this thread has put into shared memory, and copies that it has waited for, are there for units that read it
  /// by themselves; for those of other threads after a barrier.
  void showUnits();
  /// The sums of products that were under way.
  Values settle(mlir::ValueRange sums);
  /// The same where the left side is a fragment of `depth` columns, of which this thread holds `left`.
  Values multiply(const Values &left, int64_t depth, const Piece &right, FragType type, Values sums);

private:
  /// What of a spread's D x A a thread belongs to: itself (block), its group of threads.
  Value owner(FragType type);
  Value address(Value shared);
  Values multiplySquares(const Piece &left, const Piece &right, FragType type, Values sums, int64_t depth);
  Values multiplyChains(const Piece &left, const Piece &right, FragType type, Values sums, int64_t depth);
  Values multiplyReals(const Piece &left, const Piece &right, FragType type, Values sums, int64_t depth);
  Values multiplyPairs(const Piece &left, const Piece &right, FragType type, Values sums, int64_t depth);
  Values multiplyGroups(const Piece &left, const Piece &right, FragType type, Values sums, int64_t depth);
  /// Four matrices of 8 x 8 halves whose rows begin where each lane says, as words.
  Values loadMatrices(Value address, bool turned);
  /// One unit on the rows and columns of `sums` that belong to row pair `i` and column pair `j`.
  void multiplyUnit(llvm::ArrayRef<Value> left, llvm::ArrayRef<Value> right, FragType type, int64_t i, int64_t j,
                    Values &sums);
  Values multiplyHeldReals(const Values &left, int64_t depth, const Piece &right, FragType type, Values sums);
  /// Of the left side of a unit: rows `i` and `i + 1` of this thread, 16 columns from `k` on.
  Values heldWords(const Values &left, int64_t depth, int64_t i, int64_t k);
  Values multiplyHeldPairs(const Values &left, int64_t depth, const Piece &right, FragType type, Values sums);
  Values multiplyHeldGroups(const Values &left, int64_t depth, const Piece &right, FragType type, Values sums);
  /// sums + x y for what this thread has of a column of the left side and of row `at` of the right side.
  void multiplyColumn(const Values &x, const Piece &right, Value at, FragType type, Values &sums);
  void copyParts(const Window &window, const Piece &piece, int64_t words);
};

/// While it lives a thread has a number of which compilers know nothing. So what is made of it is made there, while
/// addresses that are made before a loop take registers through all of it.
class Apart {
public:
  explicit Apart(TileCode &c);
  ~Apart() { c.thread = known; }
  Apart(const Apart &) = delete;
  Apart &operator=(const Apart &) = delete;

private:
  TileCode &c;
  Value known;
};

} // namespace heddle::tile

#endif
