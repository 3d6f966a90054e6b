//===- MaskCursor.h - the cursors of masks, run in this process -*- C++ -*-===//
//
// `heddle mask` counts and draws with the code that a binary contains: the walk over key tiles and the predicate of one
// element are emitted through the masks' interface, compiled for this machine, and called.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_MASKREPORT_MASKCURSOR_H
#define HEDDLE_COMPILER_MASKREPORT_MASKCURSOR_H

#include "dialects/Mask/Emission/Emission.h"

namespace llvm::orc {
class LLJIT; // whose header takes three seconds to parse
}

namespace heddle {

/// The lengths and positions of an attention, and the batch element and head to look at.
struct MaskPlace {
  int64_t batch = 0, head = 0, past = 0, rows = 0, keys = 0, keyStart = 0, anchor = 0;
};

/// A run of keys [lo, hi) that some row of the tile may see; `tested`: each element is tested.
struct MaskRun {
  int64_t lo, hi;
  bool tested;
};

class MaskCursors {
public:
  MaskCursors();
  ~MaskCursors();
  /// Compiles a walk and a predicate for each of `masks` (null: hides nothing). Null with `error` on failure.
  static std::unique_ptr<MaskCursors> compile(mlir::MLIRContext &context, llvm::ArrayRef<mlir::Value> masks,
                                              int64_t keyTile, std::string &error);

  /// The tensors that mask `n` reads, in the order in which `bind` takes their data: f32, i64 or i32 elements, booleans
  /// as bytes.
  llvm::ArrayRef<mlir::Value> tensors(unsigned n) const { return cursors[n].tensors; }
  /// The dims that occur in the lengths of those tensors.
  llvm::ArrayRef<std::string> dims(unsigned n) const { return cursors[n].dims; }

  /// Sets the data and dims with which mask `n` is evaluated from now on.
  void bind(unsigned n, std::vector<const void *> data, std::vector<int64_t> dims);
  /// Fills `runs` with the ascending runs for the rows first .. last of this call.
  void walk(unsigned n, const MaskPlace &at, int64_t first, int64_t last, std::vector<MaskRun> &runs);
  /// How many of the keys [lo, hi) are seen by `row`.
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
