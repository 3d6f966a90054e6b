//===- Mask.h - masks as values ---------------------------------*- C++ -*-===//
//
// A mask is a predicate visible(b, h, i, k): does query i of head h and batch element b see key k.
// Its ops answer the questions of MaskInterfaces.td; here are the types of the answers, and what
// follows from them for a whole mask. No code is emitted here: that is dialects/Mask/Emission.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_DIALECTS_MASK_IR_MASK_H
#define HEDDLE_DIALECTS_MASK_IR_MASK_H

#include "dialects/Model/IR/Model.h"

namespace heddle::mask {

/// More than any position, and safe where an index has 32 bits.
constexpr int64_t kUnbounded = int64_t(1) << 30;

//===-- answers --------------------------------------------------------------------===//

/// The largest j - i and i - j of visible pairs (query i, key j); none: unlimited.
struct Reach {
  std::optional<int64_t> ahead, behind;
};

/// Axes of the scores, a bit set over batch, head, query and key.
enum Axes : unsigned { None = 0, Batch = 1, Head = 2, Query = 4, Key = 8 };
inline Axes operator|(Axes a, Axes b) { return Axes(unsigned(a) | unsigned(b)); }

/// How a mask reads a tensor: for each axis of the operand, aligned at the last, the axis of the
/// scores that it is along; None: another axis. Axes in front may be missing.
struct Reading {
  unsigned operand;
  llvm::SmallVector<Axes, 4> axes;
  llvm::StringRef name = ""; ///< "labels": what messages call it; else it is the mask's only one
};

/// The scores of an attention: [batch, heads, rows, keys].
struct Scores {
  model::Size batch, rows, keys;
  int64_t heads;
  llvm::function_ref<std::string(mlir::Value)> show; ///< a tensor, in a message
};

/// Three-valued logic (Kleene's): And is the minimum, Or the maximum.
enum class Truth { Never, Unknown, Always };
/// The truth of a leaf keys(t), by its tensor t.
using KeysTruth = llvm::function_ref<Truth(mlir::Value)>;

/// What a mask's answer depends on besides data: the order of rows, distances, or absolute
/// positions. (Data of a row moves with the row.) It decides whether padding may be moved.
enum class Positions { Order, Distance, Absolute };

/// The contents of a mask's tensor, to invent examples: a set (0 or not), labels, lengths, or a
/// value for each pair of a query and a key.
enum class Example { None, Set, Labels, Length, Pairs };

/// How a tensor is called in a description or message.
using TensorName = llvm::function_ref<std::string(mlir::Value)>;

/// The key by which a row is proved not to be empty: the row's own position, or the first key.
enum class Witness { Own, First };

//===-- bands ------------------------------------------------------------------------===//

/// The sides of a band, a bit set.
enum class Sides : unsigned { NotABand = 0, Lower = 1, Upper = 2, Both = 3 };
inline bool has(Sides sides, Sides one) { return unsigned(sides) & unsigned(one); }

/// One term of a bound: (i rounded down to a multiple of chunk, or a value of the batch element, or
/// 0) + shift, where i is the position of the row.
struct Term {
  bool row = false;
  mlir::Value value = {}; ///< i64 of rank 0 or 1
  int64_t shift = 0;
  int64_t chunk = 1;

  bool operator==(const Term &o) const {
    return row == o.row && value == o.value && shift == o.shift && chunk == o.chunk;
  }
};
/// A bound: an upper one is the least of its groups' greatest terms, a lower one the greatest of its
/// groups' least terms (MaskBands.h).
using TermGroup = llvm::SmallVector<Term, 2>;
using Bound = llvm::SmallVector<TermGroup, 2>;

//===-- facts ------------------------------------------------------------------------===//

/// The rows and keys of an attention: how many, and the positions of the first ones.
struct Grid {
  model::Size rows, keys, past, keyStart;
};

/// What holds for every attention that uses a mask.
struct Facts {
  bool aligned = false;           ///< the last key and the last row have the same position (self-attention)
  bool fromZero = false;          ///< key 0 has position 0
  bool sameRows = false;          ///< row r and key r have the same position
  bool hasKeys = false;           ///< there is at least one key, even if there are no rows
  std::optional<int64_t> lastRow; ///< no row has a larger position
  std::optional<int64_t> lastKey; ///< no key has a larger position
};
/// The facts of one grid; `bounds` are upper bounds of dims (module attribute model.dims).
Facts factsOf(const Grid &grid, mlir::DictionaryAttr bounds);
/// The facts that hold in both.
Facts meet(const Facts &a, const Facts &b);

//===-- of a whole mask ----------------------------------------------------------------===//

/// MaskOpInterface::implies of a whole mask. A null mask hides nothing; of one that a block carries
/// nothing is known.
Truth truthOf(mlir::Value mask, KeysTruth keys);
/// The same whatever the data: Never sees nothing, Always hides nothing.
Truth truthOf(mlir::Value mask);

/// Whether it can count other than 0 and 1 (below a `+`).
bool isCounted(mlir::Value mask);
/// All leaves, each once, and choices (`?:`), whose conditions are data, too.
void collectLeaves(mlir::Value mask, llvm::SmallVectorImpl<mlir::Operation *> &leaves);
/// The tensors t of the leaves `keys(t)`, as often as they occur.
llvm::SmallVector<mlir::Value> keySetsOf(mlir::Value mask);
/// The `keys` leaves, negated or not, that see every visible key: of a conjunction those of either
/// side, of a disjunction or choice those of both. The first key that all of them see is where the
/// text of the batch element begins.
llvm::SmallVector<mlir::Operation *> leadingKeys(mlir::Value mask);

/// An operand of a mask's root that the elements of a run may have to be tested against: a mask, or
/// one side of a band.
struct Residual {
  mlir::Value mask;
  Sides side = Sides::NotABand; ///< Lower or Upper; NotABand: all of the mask

  bool isBound() const { return side != Sides::NotABand; }
};

/// The operands of a mask's root. Bit n of `need` (emitWalk) stands for operands[n].
struct Residuals {
  bool conjunction; ///< visible where all of them see the key; else where one does
  llvm::SmallVector<Residual> operands;
};
Residuals residuals(mlir::Value mask);

/// The step d > 1 of a mask that is a conjunction of `dilated(d)` with bands and sets of keys and
/// rows, in any nesting; 1 for any other. Rows see keys of their own residue modulo d only, so such
/// an attention is d attentions, each over every d-th row and key, and within them the condition on
/// residues is always true.
///
/// For class c a kernel stores keys c, c + d, ... contiguously (key k of this view is key row
/// c + d * k) and takes the rows i with i = key_start + c modulo d. It fills Emitter as usual (first,
/// last and `row` are positions, `keys` the number of keys in the view) with stride = d and
/// offset = c; the emitted code then counts keys of the view.
int64_t stridedOf(mlir::Value mask);

/// False if it is proved that every row of such a grid sees a key, so that no guard is needed. A null
/// mask hides nothing.
bool rowMayBeEmpty(mlir::Value mask, const Facts &facts);

//===-- defaults of the interface -----------------------------------------------------===//

Axes axesRead(mlir::Operation *op);
std::optional<std::string> misfitOfAxes(mlir::Operation *op, const Scores &scores);
/// How the axes of a tensor differ from `want` (aligned at the last axis; none: any length), in words;
/// none if they fit. `what` is the op that reads the tensor.
std::optional<std::string> misfitOfTensor(llvm::StringRef what, mlir::Value tensor,
                                          llvm::ArrayRef<std::optional<model::Size>> want, const Scores &scores);
std::string call(mlir::Operation *op, TensorName tensor);
/// Whether an operand is read by query, by key or by both, from axesOf().
model::StepSide sideRead(mlir::Operation *op, unsigned operand);

} // namespace heddle::mask

#include "dialects/Mask/IR/MaskDialect.h.inc"
#include "dialects/Mask/IR/MaskInterfaces.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/Mask/IR/MaskTypes.h.inc"
#define GET_OP_CLASSES
#include "dialects/Mask/IR/MaskOps.h.inc"

namespace heddle::mask {
/// The op that defines a mask; null for one that a block carries.
inline MaskOpInterface ask(mlir::Value mask) { return mask.getDefiningOp<MaskOpInterface>(); }
} // namespace heddle::mask

#endif
