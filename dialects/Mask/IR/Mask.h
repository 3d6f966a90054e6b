//===- Mask.h - masks as values ---------------------------------*- C++ -*-===//
//
// A mask is a predicate visible(b, h, i, k). Its ops answer the questions of MaskInterfaces.td;
// here stand the words of the answers, and what is made of them for a whole mask. No code is
// emitted here: dialects/Mask/Emission.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_DIALECTS_MASK_IR_MASK_H
#define HEDDLE_DIALECTS_MASK_IR_MASK_H

#include "dialects/Model/IR/Model.h"

namespace heddle::mask {

/// Past every position, and safe where index is 32 bits.
constexpr int64_t kUnbounded = int64_t(1) << 30;

//===-- answers --------------------------------------------------------------------===//

/// Largest j - i and i - j that are let through; none: without limit.
struct Reach {
  std::optional<int64_t> ahead, behind;
};

/// Axes of the scores: a bit set over b, h, q, k.
enum Axes : unsigned { None = 0, Batch = 1, Head = 2, Query = 4, Key = 8 };
inline Axes operator|(Axes a, Axes b) { return Axes(unsigned(a) | unsigned(b)); }

/// An operand that is a tensor, and the axis of the scores that each of its axes lies along,
/// aligned at the last; None: an axis of its own. Axes in front may be missing.
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

/// Kleene's logic: And is the lesser, Or the greater.
enum class Truth { Never, Unknown, Always };
/// What a leaf `keys(t)` says, for t.
using KeysTruth = llvm::function_ref<Truth(mlir::Value)>;

/// What of positions a mask reads: which row is before which, how far they are apart, or where
/// they stand. (Data that belongs to a row moves with the row.)
enum class Positions { Order, Distance, Absolute };

/// What a tensor of a mask holds: a set (0 or not), labels, lengths, pairs.
enum class Example { None, Set, Labels, Length, Pairs };

/// How a tensor is written.
using Words = llvm::function_ref<std::string(mlir::Value)>;

/// A key that stands for a proof: the row's own position, or the first key.
enum class Witness { Own, First };

//===-- bands ------------------------------------------------------------------------===//

/// The sides of a band, a bit set.
enum class Sides : unsigned { NotABand = 0, Lower = 1, Upper = 2, Both = 3 };
inline bool has(Sides sides, Sides one) { return unsigned(sides) & unsigned(one); }

/// (i rounded down to a multiple of chunk, or a value of the batch element, or nothing) + shift.
struct Term {
  bool row = false;
  mlir::Value value = {}; ///< i64 of rank 0 or 1
  int64_t shift = 0;
  int64_t chunk = 1;

  bool operator==(const Term &o) const { return row == o.row && value == o.value && shift == o.shift && chunk == o.chunk; }
};
/// An upper bound is the least of its groups' greatest terms, a lower one the greatest of its
/// groups' least terms (MaskBands.h).
using TermGroup = llvm::SmallVector<Term, 2>;
using Bound = llvm::SmallVector<TermGroup, 2>;

//===-- facts ------------------------------------------------------------------------===//

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

//===-- of a whole mask ----------------------------------------------------------------===//

/// MaskOpInterface::implies of a mask value; a null one hides nothing, a carried one is unknown.
Truth truthOf(mlir::Value mask, KeysTruth keys);
/// Whatever the data: Never sees nothing, Always hides nothing.
Truth truthOf(mlir::Value mask);

/// Whether counts other than 0 and 1 can occur.
bool isCounted(mlir::Value mask);
/// Every leaf, each once, and the choices, whose conditions are data too.
void collectLeaves(mlir::Value mask, llvm::SmallVectorImpl<mlir::Operation *> &leaves);
/// The tensors t of the leaves `keys(t)`, as often as they occur.
llvm::SmallVector<mlir::Value> keySetsOf(mlir::Value mask);
/// The `keys` leaves, or negations of one, that everything visible is seen by: of a conjunction
/// those of either side, of a choice or disjunction those of both. The first key that all of
/// them see is where the batch element begins.
llvm::SmallVector<mlir::Operation *> leadingKeys(mlir::Value mask);

/// An operand of the root that keys and rows of a run may have to be tested against: a mask,
/// or one side of a band.
struct Residual {
  mlir::Value mask;
  Sides side = Sides::NotABand; ///< Lower or Upper; NotABand: all of the mask

  bool isBound() const { return side != Sides::NotABand; }
};

/// The operands of a mask's root. Bit n of the walk's `need` stands for operands[n].
struct Residuals {
  bool conjunction; ///< visible where all are; else where one is
  llvm::SmallVector<Residual> operands;
};
Residuals residuals(mlir::Value mask);

/// The step d > 1 of a mask that is a conjunction of `dilated(d)` with bands and sets of keys and
/// rows, however these are joined: rows and keys of different residues modulo d never meet, so its
/// attention is d attentions over every d-th row and key, in which nothing is left of the residue.
/// 1: it is not such a mask.
///
/// For class c the consumer keeps keys c, c + d, ... together (key k of the view is key row
/// c + d * k) and takes the rows i with i = key_start + c modulo d. It fills Emitter as ever (first,
/// last and `row`: positions; keys: how many the view has), with stride = d and offset = c; what is
/// emitted then speaks of keys of the view.
int64_t stridedOf(mlir::Value mask);

/// False is a proof that no row of such a grid is fully masked: the dead-row guard may go.
/// A null mask hides nothing.
bool rowMayBeEmpty(mlir::Value mask, const Facts &facts);

//===-- defaults of the interface -----------------------------------------------------===//

Axes axesRead(mlir::Operation *op);
std::optional<std::string> misfitOfAxes(mlir::Operation *op, const Scores &scores);
/// How the axes of a tensor do not fit: `want` in the words of messages, aligned at the last axis, none
/// for an axis of its own; `what`: who reads it.
std::optional<std::string> misfitOfTensor(llvm::StringRef what, mlir::Value tensor,
                                          llvm::ArrayRef<std::optional<model::Size>> want, const Scores &scores);
std::string call(mlir::Operation *op, Words tensor);
/// The side of the pairs on which an operand is read, as axesOf() says.
model::StepSide sideRead(mlir::Operation *op, unsigned operand);

} // namespace heddle::mask

#include "dialects/Mask/IR/MaskDialect.h.inc"
#include "dialects/Mask/IR/MaskInterfaces.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/Mask/IR/MaskTypes.h.inc"
#define GET_OP_CLASSES
#include "dialects/Mask/IR/MaskOps.h.inc"

namespace heddle::mask {
/// The op of a mask value; null of one that a block carries.
inline MaskOpInterface ask(mlir::Value mask) { return mask.getDefiningOp<MaskOpInterface>(); }
} // namespace heddle::mask

#endif
