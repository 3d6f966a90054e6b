//===- CursorProgram.h - the code of masks, callable ------------*- C++ -*-===//
//
// Emits what the mask dialect answers for many masks into one module and compiles it in this
// process: the walk over runs, the cursor from every key, the hull, and the predicate of one
// element for scalars, vectors and counts. One query tile a call.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TEST_MASK_CURSORPROGRAM_H
#define HEDDLE_TEST_MASK_CURSORPROGRAM_H

#include "test/Mask/CursorMasks.h"
#include "test/Numerics/JitModule.h"

namespace heddle::test {

class CursorProgram {
public:
  enum class Parts { All, WalkOnly };
  /// Null after a message.
  static std::unique_ptr<CursorProgram> compile(const std::vector<CursorCase> &cases, JitLevel level,
                                                Parts parts = Parts::All, CursorBounds bounds = {});
  ~CursorProgram();

  /// What the code reads: tensors and tables.
  struct Memory {
    std::vector<std::vector<char>> bytes;
    std::vector<void *> pointers;
  };
  /// The tables are made by their own code.
  Memory memory(int mask, const MaskSpec &spec, const MaskSizes &n, const MaskSpec::Data &data, int threads = 1) const;

  /// One query tile: rows first, first + stride ... last of this call, keys from `anchor` on.
  /// Key k is key row offset + k * stride.
  struct Tile {
    MaskSizes n;
    int64_t batch = 0, head = 0, first = 0, last = 0, anchor = 0;
    int64_t stride = 1, offset = 0;
    int64_t rows() const { return (last - first) / stride + 1; }
    int64_t keys() const { return (n.S - offset + stride - 1) / stride; }
  };
  struct Run {
    int64_t begin, end;
    uint64_t need; ///< bits over the residuals; 0: every row sees every key
  };
  struct Segment {
    bool any, all;
    int64_t end;
  };
  std::vector<Run> walk(int mask, const Tile &tile, Memory &memory) const;
  /// The cursor's answer at every key.
  std::vector<Segment> segments(int mask, const Tile &tile, Memory &memory) const;
  std::pair<int64_t, int64_t> hull(int mask, const Tile &tile, Memory &memory) const;
  /// For all pairs of the tile, row by row: bit 0 the predicate of a scalar key, bit 1 that of
  /// a vector, and from bit 8 on the count.
  std::vector<int32_t> elements(int mask, const Tile &tile, Memory &memory) const;
  /// For all pairs: bit n is the predicate of the root's operand n, for a vector of keys; and
  /// the same for a scalar key, from bounds where the operand is one.
  struct Operands {
    std::vector<uint32_t> vectors, scalars;
  };
  Operands operands(int mask, const Tile &tile, Memory &memory) const;

  /// What is known of a mask without running it.
  struct Known {
    bool conjunction = true;   ///< all operands of the root must hold, else one
    bool everyRowSees = false; ///< proved, for every length
    mask::Axes axes = mask::None;
    mask::Reach reach;
    int64_t stride = 1;
    size_t tables = 0;
  };
  const Known &known(int mask) const;

  /// Calls of walk alone, all rows in tiles of `rows`: the runs met, and the least time of a round.
  struct Timing {
    int64_t runs;
    double nanoseconds;
  };
  Timing walkAll(int mask, MaskSizes n, int64_t rows, int rounds, Memory &memory) const;

private:
  CursorProgram();
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace heddle::test

#endif
