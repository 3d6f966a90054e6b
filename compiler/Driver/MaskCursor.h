//===- MaskCursor.h - the cursors of masks, run in this process -*- C++ -*-===//
//
// What `heddle mask` counts and draws is asked of the code that a binary contains: the walk
// over key tiles and the predicate of one element are emitted by the masks' own interface,
// compiled for this machine, and called.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_DRIVER_MASKCURSOR_H
#define HEDDLE_COMPILER_DRIVER_MASKCURSOR_H

#include "dialects/Mask/Emission/Emission.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"

namespace heddle {

/// One attention's grid, and the place in it that a question is about.
struct MaskPlace {
  int64_t batch = 0, head = 0, past = 0, rows = 0, keys = 0, keyStart = 0, anchor = 0;
};

/// A stretch of keys [lo, hi) that some row of the tile may see; `tested`: element by element.
struct MaskRun {
  int64_t lo, hi;
  bool tested;
};

class MaskCursors {
public:
  /// Compiles a walk and a predicate for each of `masks` (null: nothing is hidden). None after
  /// an error, which is in `error`.
  static std::unique_ptr<MaskCursors> compile(mlir::MLIRContext &context, llvm::ArrayRef<mlir::Value> masks,
                                              int64_t keyTile, std::string &error);

  /// The tensors that mask `n` reads, in the order in which their data is handed over: f32,
  /// i64 or i32 elements, bools as bytes.
  llvm::ArrayRef<mlir::Value> tensors(unsigned n) const { return cursors[n].tensors; }
  /// The dims in whose terms those tensors are long.
  llvm::ArrayRef<std::string> dims(unsigned n) const { return cursors[n].dims; }

  /// What mask `n` is asked with from now on.
  void bind(unsigned n, std::vector<const void *> data, std::vector<int64_t> dims);
  /// Ascending runs of the rows first .. last (of this call).
  void walk(unsigned n, const MaskPlace &at, int64_t first, int64_t last, std::vector<MaskRun> &runs);
  /// How many of the keys [lo, hi) row `row` sees.
  int64_t seen(unsigned n, const MaskPlace &at, int64_t row, int64_t lo, int64_t hi);

private:
  struct Cursor {
    llvm::SmallVector<mlir::Value> tensors;
    std::vector<std::string> dims;
    std::vector<const void *> data;
    std::vector<int64_t> arguments; ///< the fixed ones, then the dims
    void (*walk)(const int64_t *, const void *const *, int64_t *) = nullptr;
    int64_t (*seen)(const int64_t *, const void *const *, int64_t *) = nullptr;
  };
  std::vector<Cursor> cursors;
  std::vector<int64_t> room;
  int64_t keyTile = 0;
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

} // namespace heddle

#endif
