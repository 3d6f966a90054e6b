//===- MaskCode.h - integer code for cursors and predicates -----*- C++ -*-===//
//
// Predicates are written once for a key that is an index or a vector of consecutive keys:
// the helpers here spread scalars where the other side is a vector.
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
  /// `v` as large as `like`: itself, or broadcast to like's vector length.
  Value spread(Value v, Value like);
  /// key <p> bound, for an index bound within +-kUnbounded.
  Value keyAgainst(Compare p, Value key, Value bound);
  /// An i64 of a table as an index.
  Value index(Value i64) { return mlir::arith::IndexCastOp::create(b, loc, b.getIndexType(), i64); }
  /// An i64 as a bound: clamped to +-kUnbounded, index.
  Value asBound(Value i64);
  /// label >= own + by and label <= own + by of i64, as if there were no ends of 64 bits.
  Value atLeast(Value label, Value own, int64_t by);
  Value atMost(Value label, Value own, int64_t by);
  /// t != 0 for f32, i64 or i1, scalar or vector (NaN is not 0).
  Value isSet(Value t);
  /// x == y for two of those.
  Value equal(Value x, Value y);
  /// A key (index or vector<Nxi32>) as i64 or vector<Nxi64>.
  Value wide(Value key);
};

/// Bits of two masks that begin at the same key, joined; the nearer end.
Segment join(IntCode c, Segment x, Segment y, bool conjunction);
Segment negate(IntCode c, Segment s);
Segment everywhere(Emitter &e, Value any, Value all);

/// k < bound(i), or k >= bound(i) for a lower side, from the bound at the tile's end rows.
Segment halfLine(Emitter &e, Value atFirst, Value atLast, Value key, Sides side);

/// The key row of a key (index or vector): itself, but in a strided view.
Value keyRow(Emitter &e, mlir::OpBuilder &b, Value key);
/// The first key at or past a key row.
Value keyFrom(Emitter &e, mlir::OpBuilder &b, Value keyRow);
/// Row of this call at position `row`.
Value rowIndex(Emitter &e, mlir::OpBuilder &b, Value row);
/// t[last] or t[batch, last].
Value loadAlong(Emitter &e, mlir::OpBuilder &b, Value tensor, Value last);
/// body(b, row index of this call, carried) for every row of the tile, once a tile.
llvm::SmallVector<Value> overRows(Emitter &e, mlir::ValueRange inits,
                                  llvm::function_ref<llvm::SmallVector<Value>(mlir::OpBuilder &, Value, mlir::ValueRange)> body);
/// The stretch of keys from `key` on with one state (any, all), looked at key by key, to the
/// end of its granule.
using StateAt = llvm::function_ref<std::pair<Value, Value>(mlir::OpBuilder &, Value key)>;
Segment scanStretch(Emitter &e, Value key, StateAt state);

/// A leaf on labels: -left <= label(k) - label(q) <= right; both 0: a document.
struct Labels {
  mlir::Operation *op;
  Value rows, keys, table;
  std::optional<int64_t> left, right;
  bool equal() const { return left == 0 && right == 0; }
};
/// A side of a window on labels, which can be negated.
std::optional<int64_t> labelSide(std::optional<uint64_t> side);
Labels labelsOf(WindowOp op);
Labels labelsOf(DocumentOp op);
Segment labelSegment(const Labels &l, Emitter &e, Value key);
Hull labelHull(const Labels &l, Emitter &e);
Value labelContains(const Labels &l, Emitter &e, Value row, Value key);

/// How often `blocks` lists the block of a key (i64).
Value emitMultiplicity(BlocksOp op, Emitter &e, Value row, Value key);

//===-- the models of each file (registerMaskEmission attaches them) ------------------===//

/// A model whose code is three functions over its op.
template <typename Op, Segment segment(Op, Emitter &, Value), Hull hull(Op, Emitter &), Value contains(Op, Emitter &, Value, Value)>
struct CodeOf : MaskCodeInterface::ExternalModel<CodeOf<Op, segment, hull, contains>, Op> {
  Segment emitSegment(mlir::Operation *op, Emitter &e, Value key) const { return segment(mlir::cast<Op>(op), e, key); }
  Hull emitHull(mlir::Operation *op, Emitter &e) const { return hull(mlir::cast<Op>(op), e); }
  Value emitContains(mlir::Operation *op, Emitter &e, Value row, Value key) const { return contains(mlir::cast<Op>(op), e, row, key); }
};

void attachBands(mlir::MLIRContext &context);
void attachPositions(mlir::MLIRContext &context);
void attachSets(mlir::MLIRContext &context);
void attachLabels(mlir::MLIRContext &context);
void attachBlocks(mlir::MLIRContext &context);
void attachConnectives(mlir::MLIRContext &context);

} // namespace heddle::mask
#endif
