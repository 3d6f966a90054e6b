//===- MaskCode.h - integer code for cursors and predicates -----*- C++ -*-===//
//
// Helpers for the code of masks. Predicates are written once, for a key that is an index or a vector
// of consecutive keys: scalars are broadcast when the other side is a vector.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_DIALECTS_MASK_EMISSION_MASKCODE_H
#define HEDDLE_DIALECTS_MASK_EMISSION_MASKCODE_H

#include "dialects/Mask/Emission/Emission.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

namespace heddle::mask {
using mlir::Value;

/// Integer arithmetic at the insertion point of one builder.
struct IntCode {
  mlir::OpBuilder &b;
  mlir::Location loc;
  using Value = mlir::Value;
  using Compare = mlir::arith::CmpIPredicate;

  Value constant(int64_t v) { return mlir::arith::ConstantIndexOp::create(b, loc, v); }
  Value flag(bool v) { return mlir::arith::ConstantOp::create(b, loc, b.getBoolAttr(v)); }
  Value add(Value x, Value y) { return b.createOrFold<mlir::arith::AddIOp>(loc, x, y); }
  Value sub(Value x, Value y) { return b.createOrFold<mlir::arith::SubIOp>(loc, x, y); }
  Value mul(Value x, Value y) { return b.createOrFold<mlir::arith::MulIOp>(loc, x, y); }
  /// of values that are not negative
  Value div(Value x, int64_t y) { return b.createOrFold<mlir::arith::DivUIOp>(loc, x, constant(y)); }
  /// of any value, by y > 0
  Value ceilDiv(Value x, int64_t y);
  Value min(Value x, Value y) { return mlir::arith::MinSIOp::create(b, loc, x, y); }
  Value max(Value x, Value y) { return mlir::arith::MaxSIOp::create(b, loc, x, y); }
  Value compare(Compare p, Value x, Value y) { return mlir::arith::CmpIOp::create(b, loc, p, x, y); }
  Value rem(Value x, int64_t y) { return b.createOrFold<mlir::arith::RemUIOp>(loc, x, constant(y)); }
  Value less(Value x, Value y) { return compare(Compare::slt, x, y); }
  Value both(Value x, Value y) { return mlir::arith::AndIOp::create(b, loc, x, y); }
  Value either(Value x, Value y) { return mlir::arith::OrIOp::create(b, loc, x, y); }
  Value choose(Value c, Value x, Value y) { return mlir::arith::SelectOp::create(b, loc, c, x, y); }
  Value invert(Value bit);
  /// `v`, broadcast to the vector length of `like` if that is a vector.
  Value spread(Value v, Value like);
  /// key <p> bound, where the bound is an index between -kUnbounded and kUnbounded.
  Value keyAgainst(Compare p, Value key, Value bound);
  /// An i64 of a table as an index.
  Value index(Value i64) { return mlir::arith::IndexCastOp::create(b, loc, b.getIndexType(), i64); }
  /// An i64 clamped to -kUnbounded .. kUnbounded, as an index.
  Value asBound(Value i64);
  /// label >= own + by and label <= own + by on i64, without overflow.
  Value atLeast(Value label, Value own, int64_t by);
  Value atMost(Value label, Value own, int64_t by);
  /// t != 0 for f32, i64 or i1, scalar or vector (NaN is not 0).
  Value isSet(Value t);
  /// x == y for two such values.
  Value equal(Value x, Value y);
  /// A key (index or vector<Nxi32>) as i64 or vector<Nxi64>.
  Value wide(Value key);
};

/// The segment of two masks that begin at the same key, joined by AND or OR: it ends where the nearer
/// one does.
Segment join(IntCode c, Segment x, Segment y, bool conjunction);
Segment negate(IntCode c, Segment s);
Segment everywhere(Emitter &e, Value any, Value all);

/// The segment of k < bound(i), or of k >= bound(i) for a lower side, from the bound at the first and
/// last row of the tile.
Segment halfLine(Emitter &e, Value atFirst, Value atLast, Value key, Sides side);

/// The row of a key (index or vector): the key itself, except in a strided view.
Value keyRow(Emitter &e, mlir::OpBuilder &b, Value key);
/// The first key at or past a key row.
Value keyFrom(Emitter &e, mlir::OpBuilder &b, Value keyRow);
/// The row of this call at position `row`: row - past.
Value rowIndex(Emitter &e, mlir::OpBuilder &b, Value row);
/// The length (index) of a tensor's last axis.
Value lastLength(Emitter &e, mlir::Value tensor);
/// t[last] or t[batch, last].
Value loadAlong(Emitter &e, mlir::OpBuilder &b, Value tensor, Value last);
/// A loop over the rows of the tile, emitted where code runs once for each tile: body(b, row of this
/// call, carried values).
llvm::SmallVector<Value>
overRows(Emitter &e, mlir::ValueRange inits,
         llvm::function_ref<llvm::SmallVector<Value>(mlir::OpBuilder &, Value, mlir::ValueRange)> body);
/// The segment from `key` on found by scanning: all following keys with the same state (any, all), at
/// most to the end of the granule.
using StateAt = llvm::function_ref<std::pair<Value, Value>(mlir::OpBuilder &, Value key)>;
Segment scanStretch(Emitter &e, Value key, StateAt state);

/// A leaf that compares labels: -left <= label(k) - label(q) <= right; with both 0 it is a document.
struct Labels {
  mlir::Operation *op;
  Value rows, keys, table;
  std::optional<int64_t> left, right;
  bool equal() const { return left == 0 && right == 0; }
};
/// A side of a window on labels, none if unlimited.
std::optional<int64_t> labelSide(std::optional<uint64_t> side);
Labels labelsOf(WindowOp op);
Labels labelsOf(DocumentOp op);
Segment labelSegment(const Labels &l, Emitter &e, Value key);
Hull labelHull(const Labels &l, Emitter &e);
Value labelContains(const Labels &l, Emitter &e, Value row, Value key);

/// How often `blocks` lists the block of a key (i64).
Value emitMultiplicity(BlocksOp op, Emitter &e, Value row, Value key);

//===-- the models of each file (registerMaskEmission attaches them) ------------------===//

/// An external model of the interface whose code is three functions.
template <typename Op, Segment segment(Op, Emitter &, Value), Hull hull(Op, Emitter &),
          Value contains(Op, Emitter &, Value, Value)>
struct CodeOf : MaskCodeInterface::ExternalModel<CodeOf<Op, segment, hull, contains>, Op> {
  Segment emitSegment(mlir::Operation *op, Emitter &e, Value key) const { return segment(mlir::cast<Op>(op), e, key); }
  Hull emitHull(mlir::Operation *op, Emitter &e) const { return hull(mlir::cast<Op>(op), e); }
  Value emitContains(mlir::Operation *op, Emitter &e, Value row, Value key) const {
    return contains(mlir::cast<Op>(op), e, row, key);
  }
};

void attachBands(mlir::MLIRContext &context);
void attachPositions(mlir::MLIRContext &context);
void attachSets(mlir::MLIRContext &context);
void attachLabels(mlir::MLIRContext &context);
void attachBlocks(mlir::MLIRContext &context);
void attachConnectives(mlir::MLIRContext &context);

} // namespace heddle::mask
#endif
