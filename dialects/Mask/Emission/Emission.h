//===- Emission.h - the code of masks -----------------------------*- C++ -*-===//
//
// Code generation for masks. A kernel that loops over tiles of keys fills an Emitter and calls
// emitWalk, which visits only tiles that a row may see; its loop body tests what `need` says. All of
// it is built from the three questions of EmissionInterface.td.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_DIALECTS_MASK_EMISSION_EMISSION_H
#define HEDDLE_DIALECTS_MASK_EMISSION_EMISSION_H

#include "dialects/Mask/IR/Mask.h"
#include "llvm/ADT/DenseMap.h"

namespace heddle::mask {

/// What is known of consecutive keys for one tile of rows, two i1 values, and the key where that ends.
/// (any, all): (0, 0) no row sees them < (1, 0) undecided < (1, 1) all rows see them: Kleene's logic
/// with one bit operation for each bit.
struct Segment {
  mlir::Value any, all, end;
};

/// No row of the tile sees a key outside [begin, end); null: no limit.
struct Hull {
  mlir::Value begin, end;
};

/// Where code is emitted and for which rows. `tile` inserts code that runs once for each tile of
/// queries, `step` code that runs at each step of the cursor. All values are of type index.
struct Emitter {
  mlir::OpBuilder tile, step;
  mlir::Location loc;
  mlir::Value first = {}, last = {}; ///< positions (past + row) of the tile's first and last row
  mlir::Value batch = {}, head = {}, past = {}, queries = {}, keys = {};
  mlir::Value keyStart = {}; ///< position of key 0, minus that of query row 0 at past = 0
  /// Loads element `at` (one index for each axis; axes of length 1 are read at 0) of a tensor that a
  /// leaf reads: f32, i64 or i1. If the last index is a vector of key rows (vector<Nxi32>), `stride`
  /// apart, the result is a vector, too.
  llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Value tensor, llvm::ArrayRef<mlir::Value> at)> load = {};
  /// The length (index) of an axis of such a tensor.
  llvm::function_ref<mlir::Value(mlir::Value tensor, int64_t axis)> lengthOf = {};
  /// The walk leaves out keys outside of these.
  Hull within = {};
  /// Lanes of the vectors of keys that `load` accepts while scanning; 1: scalars only.
  int64_t lanes = 1;
  /// For a strided view (stridedOf): key k of the cursor is key row offset + k * stride.
  int64_t stride = 1;
  mlir::Value offset = {};
  /// What a leaf has computed for this tile of rows, so that its loops are emitted once.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value>> kept{};
};

/// The loop body for keys [begin, end): whole tiles, or a part of one. `need` (i32) says what is still
/// to be tested for each element: of a conjunction the operands that are not true for all these keys
/// and rows, of a disjunction those that are not false for all. 0: every row of the tile sees every
/// key. A kernel makes one body for 0, one for each common single bit, and one that tests the mask.
using RunVisitor = llvm::function_ref<void(mlir::OpBuilder &, mlir::Value begin, mlir::Value end, mlir::Value need)>;

/// Emits the loop over the keys that rows e.first .. e.last may see, as ascending runs. Tiles are `tile`
/// keys wide and begin at anchor + n * tile; a run covers whole tiles, or is a part of one, trimmed to
/// what is visible. `visit` emits the body, once. A null mask hides nothing. No key before `anchor`
/// may be visible.
void emitWalk(mlir::OpBuilder &b, Emitter &e, mlir::Value mask, mlir::Value anchor, int64_t tile, RunVisitor visit);

/// The functions of MaskCodeInterface, for a mask value.
Segment emitSegment(Emitter &e, mlir::Value mask, mlir::Value key);
Hull emitHull(Emitter &e, mlir::Value mask);
mlir::Value emitContains(Emitter &e, mlir::Value mask, mlir::Value row, mlir::Value key);
/// How often a row sees a key (i32): `add` sums, `and` multiplies, `or` takes the maximum, `not` is 1
/// where the count is 0.
mlir::Value emitCount(Emitter &e, mlir::Value mask, mlir::Value row, mlir::Value key);

/// The bound (index) of an operand of the root that is one, at position `row`, emitted at e.tile. Key k
/// is seen if k >= bound (Lower) or k < bound (Upper).
mlir::Value emitBound(Emitter &e, const Residual &operand, mlir::Value row);
/// The predicate of an operand of the root, and its segment.
mlir::Value emitContains(Emitter &e, const Residual &operand, mlir::Value row, mlir::Value key);
Segment emitSegment(Emitter &e, const Residual &operand, mlir::Value key);

/// Attaches the code of masks to contexts of this registry, and loads the dialects that the code uses:
/// arith, math, scf, vector.
void registerMaskEmission(mlir::DialectRegistry &registry);

} // namespace heddle::mask

#include "dialects/Mask/Emission/EmissionInterface.h.inc"

#endif
