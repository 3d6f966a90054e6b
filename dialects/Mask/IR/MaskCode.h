//===- MaskCode.h - integer code for cursors and predicates -----*- C++ -*-===//
//
// Predicates are written once for a key that is an index or a vector of consecutive keys:
// the helpers here spread scalars where the other side is a vector.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_DIALECTS_MASK_IR_MASKCODE_H
#define HEDDLE_DIALECTS_MASK_IR_MASKCODE_H

#include "dialects/Mask/IR/Mask.h"
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
  Value min(Value x, Value y) { return mlir::arith::MinSIOp::create(b, loc, x, y); }
  Value max(Value x, Value y) { return mlir::arith::MaxSIOp::create(b, loc, x, y); }
  Value compare(Compare p, Value x, Value y) { return mlir::arith::CmpIOp::create(b, loc, p, x, y); }
  Value less(Value x, Value y) { return compare(Compare::slt, x, y); }
  Value both(Value x, Value y) { return mlir::arith::AndIOp::create(b, loc, x, y); }
  Value either(Value x, Value y) { return mlir::arith::OrIOp::create(b, loc, x, y); }
  Value choose(Value c, Value x, Value y) { return mlir::arith::SelectOp::create(b, loc, c, x, y); }
  Value invert(Value bit);
  /// `v` as large as `like`: itself, or broadcast to like's vector length.
  Value spread(Value v, Value like);
  /// key <p> bound, for an index bound within +-kUnbounded.
  Value keyAgainst(Compare p, Value key, Value bound);
  /// An i64 as a bound: clamped to +-kUnbounded, index.
  Value asBound(Value i64);
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

/// The segment of one operand of the root.
Segment emitSegment(Emitter &e, const Residual &residual, Value key);

/// Row of this call at position `row`.
Value rowIndex(Emitter &e, mlir::OpBuilder &b, Value row);
/// t[last] or t[batch, last].
Value loadAlong(Emitter &e, mlir::OpBuilder &b, Value tensor, Value last);
/// The least and the greatest element that the tile's rows have in `tensor`, once a tile.
std::pair<Value, Value> rowRange(Emitter &e, mlir::Operation *op, Value tensor);
/// The stretch of keys from `key` on with one state (any, all), to the end of a granule.
using StateAt = llvm::function_ref<std::pair<Value, Value>(mlir::OpBuilder &, Value key)>;
Segment scanStretch(Emitter &e, Value key, StateAt state);
/// How often `blocks` lists the block of a key (i64).
Value emitMultiplicity(BlocksOp op, Emitter &e, Value row, Value key);

inline MaskOpInterface ask(mlir::Value mask) { return mask.getDefiningOp<MaskOpInterface>(); }

} // namespace heddle::mask
#endif
