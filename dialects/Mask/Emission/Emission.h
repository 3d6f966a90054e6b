//===- Emission.h - the code of masks -----------------------------*- C++ -*-===//
//
// Everything that loops over key tiles is generated from three questions (EmissionInterface.td):
// a consumer fills an Emitter, calls emitWalk, and tests what `need` says in the bodies.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_DIALECTS_MASK_EMISSION_EMISSION_H
#define HEDDLE_DIALECTS_MASK_EMISSION_EMISSION_H

#include "dialects/Mask/IR/Mask.h"
#include "llvm/ADT/DenseMap.h"

namespace heddle::mask {

/// State of a stretch of keys for one tile of rows: two i1 values and where they end.
/// empty (0,0) < undecided (1,0) < full (1,1): Kleene's logic, one bit operation a bit.
struct Segment {
  mlir::Value any, all, end;
};

/// No row sees a key outside [begin, end); null: not bounded.
struct Hull {
  mlir::Value begin, end;
};

/// Where code is being emitted and for which rows. `tile` inserts once a query tile,
/// `step` once a cursor step. All values are of type index.
struct Emitter {
  mlir::OpBuilder tile, step;
  mlir::Location loc;
  mlir::Value first = {}, last = {}; ///< positions (past + row) of the tile's first and last row
  mlir::Value batch = {}, head = {}, past = {}, queries = {}, keys = {};
  mlir::Value keyStart = {}; ///< position of key 0, minus that of query row 0 at past = 0
  /// Reads element `at` (one index per axis of the tensor; axes of length 1 are read at 0)
  /// of a tensor that a leaf holds: f32, i64 or i1. Where the last index is a vector of
  /// key rows one apart, or `stride` apart (vector<Nxi32>, see emitContains), so is the result.
  llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Value tensor, llvm::ArrayRef<mlir::Value> at)> load = {};
  /// The value (index) of a length that occurs in the type of such a tensor.
  llvm::function_ref<mlir::Value(const model::Size &)> lengthOf = {};
  /// Lanes of the vectors of keys that `load` may be asked for while scanning; 1: none.
  int64_t lanes = 1;
  /// Of a strided view (see stridedOf): key k of the cursor is key row offset + k * stride.
  int64_t stride = 1;
  mlir::Value offset = {};
  /// What a leaf computed once for this tile of rows (code with loops is not emitted twice).
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value>> kept{};
};

/// Keys [begin, end), in whole tiles or inside of one. `need` (i32) is what is still to be
/// tested: of a conjunction the operands that are not true for all of these keys and rows, of a
/// disjunction those that are not false for all. 0: every row of the tile sees every key. A
/// consumer makes a body for 0, for single bits that are common, and one that tests the mask.
using RunVisitor = llvm::function_ref<void(mlir::OpBuilder &, mlir::Value begin, mlir::Value end, mlir::Value need)>;

/// Emits the loop over the keys that rows e.first .. e.last may see, as ascending runs. Tiles
/// are `tile` keys wide and stand at anchor + n * tile; a run covers whole tiles or lies in
/// one, trimmed to what is visible. `visit` emits the body, which stands once in the code.
/// A null mask hides nothing. No key before `anchor` may be visible.
void emitWalk(mlir::OpBuilder &b, Emitter &e, mlir::Value mask, mlir::Value anchor, int64_t tile, RunVisitor visit);

/// MaskCodeInterface, of a mask value.
Segment emitSegment(Emitter &e, mlir::Value mask, mlir::Value key);
Hull emitHull(Emitter &e, mlir::Value mask);
mlir::Value emitContains(Emitter &e, mlir::Value mask, mlir::Value row, mlir::Value key);
/// How often a key is seen (i32): `add` sums, `and` multiplies, `or` takes the larger, `not` is 1
/// where the count is 0.
mlir::Value emitCount(Emitter &e, mlir::Value mask, mlir::Value row, mlir::Value key);

/// Of an operand of the root that is a bound: its value (index) at position `row`, by code at e.tile.
/// Key k is seen when k >= bound (Lower), k < bound (Upper).
mlir::Value emitBound(Emitter &e, const Residual &operand, mlir::Value row);
/// The predicate of an operand of the root, and its segment.
mlir::Value emitContains(Emitter &e, const Residual &operand, mlir::Value row, mlir::Value key);
Segment emitSegment(Emitter &e, const Residual &operand, mlir::Value key);

/// Lets masks emit code in contexts of this registry. Loads what the code is made of: arith, math,
/// scf, vector.
void registerMaskEmission(mlir::DialectRegistry &registry);

} // namespace heddle::mask

#include "dialects/Mask/Emission/EmissionInterface.h.inc"

#endif
