//===- Mask.h - masks as values ---------------------------------*- C++ -*-===//
//
// A mask is a predicate visible(b, h, i, k). Its ops answer the questions of
// MaskInterfaces.td; everything that loops over key tiles is generated from the answers.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_DIALECTS_MASK_IR_MASK_H
#define HEDDLE_DIALECTS_MASK_IR_MASK_H

#include "dialects/Model/IR/Model.h"
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

/// The sides of a band, a bit set.
enum class Sides : unsigned { NotABand = 0, Lower = 1, Upper = 2, Both = 3 };
inline bool has(Sides sides, Sides one) { return unsigned(sides) & unsigned(one); }

/// An operand of the root that keys and rows of a run may have to be tested against: a mask,
/// or one side of a band.
struct Residual {
  mlir::Value mask;
  Sides side = Sides::NotABand; ///< Lower or Upper; NotABand: all of the mask

  bool isBound() const { return side != Sides::NotABand; }
  /// Where it is a bound: its value (index) at position `row`, by code at e.tile. Key k is seen
  /// when k >= bound (Lower), k < bound (Upper).
  mlir::Value emitBound(Emitter &e, mlir::Value row) const;
  /// The predicate, as MaskOpInterface::emitContains.
  mlir::Value emitContains(Emitter &e, mlir::Value row, mlir::Value key) const;
};

/// The operands of a mask's root. Bit n of `need` stands for operands[n].
struct Residuals {
  bool conjunction; ///< visible where all are; else where one is
  llvm::SmallVector<Residual> operands;
};
Residuals residuals(mlir::Value mask);

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

/// The predicate of a mask value, and how often a key is seen (i32): `add` sums, `and`
/// multiplies, `or` takes the larger, `not` is 1 where the count is 0.
mlir::Value emitContains(Emitter &e, mlir::Value mask, mlir::Value row, mlir::Value key);
mlir::Value emitCount(Emitter &e, mlir::Value mask, mlir::Value row, mlir::Value key);
/// Whether counts other than 0 and 1 can occur.
bool isCounted(mlir::Value mask);
/// Every leaf, each once, and the tensors that they read (operands first to last).
void collectLeaves(mlir::Value mask, llvm::SmallVectorImpl<mlir::Operation *> &leaves);
/// The `keys` leaves, or negations of one, that everything visible is seen by: of a conjunction
/// those of either side, of a choice or disjunction those of both. The first key that all of
/// them see is where the batch element begins.
llvm::SmallVector<mlir::Operation *> leadingKeys(mlir::Value mask);

/// The step d > 1 of a mask that is a conjunction of `dilated(d)` with bands and sets of keys and
/// rows, however these are joined: rows and keys of different residues modulo d never meet, so its
/// attention is d attentions over every d-th row and key, in which nothing is left of the residue.
/// 1: it is not such a mask.
///
/// For class c the consumer keeps keys c, c + d, ... together (key k of the view is key row
/// c + d * k) and takes the rows i with i = key_start + c modulo d. It fills Emitter as ever (first,
/// last and `row`: positions; keys: how many the view has), with stride = d and offset = c;
/// emitWalk, Residual::emitBound and emitContains then speak of keys of the view.
int64_t stridedOf(mlir::Value mask);

/// Lengths and positions of the grid of an attention.
struct Grid {
  model::Size rows, keys, past, keyStart;
};

/// What is known of every grid that asks a mask.
struct Facts {
  bool aligned = false;     ///< the last key stands where the last row stands (self-attention)
  bool fromZero = false;    ///< key 0 stands at position 0
  bool sameRows = false;    ///< row r stands where key r stands
  bool hasKeys = false;     ///< there is a key, even where no row is
  std::optional<int64_t> lastRow; ///< no row stands past it
  std::optional<int64_t> lastKey; ///< no key stands past it
};
/// `bounds`: upper bounds of dims (module attribute model.dims).
Facts factsOf(const Grid &grid, mlir::DictionaryAttr bounds);
/// What holds for both.
Facts meet(const Facts &a, const Facts &b);

/// A key that stands for a proof: the row's own position, or the first key.
enum class Witness { Own, First };
/// False is a proof that no row of such a grid is fully masked: the dead-row guard may go.
/// A null mask hides nothing.
bool rowMayBeEmpty(mlir::Value mask, const Facts &facts);

/// Largest j - i and i - j that are let through; none: without limit.
struct Reach {
  std::optional<int64_t> ahead, behind;
};

/// Bit set over b, h, q, k.
enum Axes : unsigned { None = 0, Batch = 1, Head = 2, Query = 4, Key = 8 };
inline Axes operator|(Axes a, Axes b) { return Axes(unsigned(a) | unsigned(b)); }

/// Past every position, and safe where index is 32 bits.
constexpr int64_t kUnbounded = int64_t(1) << 30;

} // namespace heddle::mask

#include "dialects/Mask/IR/MaskDialect.h.inc"
#include "dialects/Mask/IR/MaskInterfaces.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/Mask/IR/MaskTypes.h.inc"
#define GET_OP_CLASSES
#include "dialects/Mask/IR/MaskOps.h.inc"

#endif
