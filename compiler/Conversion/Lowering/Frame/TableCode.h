//===- TableCode.h - code on the words of mask tables -----------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_FRAME_TABLECODE_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_FRAME_TABLECODE_H

#include "compiler/Conversion/Lowering/Frame/Lowering.h"
#include "dialects/Mask/Emission/MaskCode.h"
#include "dialects/Mask/IR/MaskTables.h"

namespace heddle::loops {

/// Code on i64 words, in addition to Lowering's indices.
struct TableCode {
  Lowering &l;
  mlir::Type i64 = l.b.getI64Type();

  Value word(int64_t v) { return mlir::arith::ConstantOp::create(l.b, l.b.getI64IntegerAttr(v)); }
  Value flag(bool v) { return mlir::arith::ConstantOp::create(l.b, l.b.getBoolAttr(v)); }
  Value compare(mlir::arith::CmpIPredicate p, Value x, Value y) { return mlir::arith::CmpIOp::create(l.b, p, x, y); }
  Value both(Value x, Value y) { return mlir::arith::AndIOp::create(l.b, x, y); }
  Value either(Value x, Value y) { return mlir::arith::OrIOp::create(l.b, x, y); }
  Value exclusive(Value x, Value y) { return mlir::arith::XOrIOp::create(l.b, x, y); }
  Value up(Value x, Value by) { return mlir::arith::ShLIOp::create(l.b, x, by); }
  Value least(Value x, Value y) { return mlir::arith::MinSIOp::create(l.b, x, y); }
  Value greatest(Value x, Value y) { return mlir::arith::MaxSIOp::create(l.b, x, y); }

  Value read(Value table, Value index) { return l.load(i64, l.at(table, index, i64)); }
  void write(Value table, Value index, Value v) { l.store(v, l.at(table, index, i64)); }
  /// A label as i64.
  Value label(Value labels, mlir::Type element, Value index) {
    Value v = l.load(element, l.at(labels, index, element));
    return element.isInteger(1) ? Value(mlir::arith::ExtUIOp::create(l.b, i64, v)) : v;
  }
  /// The address of batch element `batch` in a tensor [S] or [B, S].
  Value element(Value base, model::ModelTensorType t, Value batch);

  /// An i64 whose bit n says whether element `from` + n is set, for n < count <= 16.
  Value setBits(Value base, mlir::Type element, Value from, Value count);
  /// The bits [from, to) set, 0 <= from, to <= 16; none if to <= from.
  Value bitRange(Value from, Value to) {
    Value stop = l.max(from, to);
    auto below = [&](Value n) {
      return mlir::arith::SubIOp::create(l.b, up(word(1), l.toI64(n)), word(1)).getResult();
    };
    Value high = below(stop), low = below(from);
    return exclusive(high, low);
  }
};

} // namespace heddle::loops

#endif
