//===- Gather.cpp - rows by number: embedding and gather ------------------===//
//
// Rows chosen by numbers of the data: embedding and gather. A number outside of the table is recorded as the run's
// error (heddle_fail); the first row is read in its place and the runtime refuses the results.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/Frame/Lookups.h"
#include "compiler/Conversion/Lowering/Frame/Lowering.h"
#include "compiler/Conversion/Lowering/Language/Abi.h"
#include "compiler/Conversion/Lowering/Language/CodeNumbers.h"
#include "compiler/Conversion/Lowering/Language/Halves.h"
#include "compiler/Conversion/Lowering/Language/LayoutCode.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using namespace heddle::model;
using Lower = heddle::loops::Lowering;

/// The id at `index` as an index; reports one outside of [0, rows), and in the bits above the code which lookup it is
/// of.
static Value checkedId(Lower &l, Operation *lookup, Value ids, Value index, Value rows) {
  Type i64 = l.b.getI64Type();
  Value id = l.load(i64, l.at(ids, index, i64)), n = l.toI64(rows);
  Value bad = arith::CmpIOp::create(l.b, arith::CmpIPredicate::uge, id, n);
  auto failure =
      heddle::abi::Failure(int64_t(heddle::abi::Failure::IdOutsideTable) + ((lookupNumber(lookup) + 1) << 8));
  l.when(bad, [&] { l.fail(failure, id, n); });
  return l.select(bad, l.constant(0), l.toIndex(id));
}

/// Of a table of codes the elements of a row are decoded one by one.
static void decodeRows(Lower &l, EmbeddingOp op, const WeightLayout &layout) {
  ModelTensorType table = op.getTable().getType();
  int64_t width = *table.getSize(1).constant(), rows = *table.getSize(0).constant();
  Type i8 = l.b.getI8Type(), i32 = l.b.getI32Type(), f32 = l.f32();
  const Coding &coding = layout.coding;
  Value ids = l.pointer(op.getIds()), from = l.pointer(op.getTable()), to = l.allocatePointer(op->getResult(0));
  auto real = [&](PackedType type, Value at) {
    Value address = l.at(from, at, i8);
    return type == PackedType::F32 ? l.load(f32, address) : widenedScale(l, type, l.load(l.b.getI16Type(), address));
  };
  l.parallelFor(op.getLoc(), l.size(op.getIds().getType().getCount()), [&](Value i) {
    Value id = checkedId(l, op, ids, i, l.constant(rows)), target = l.at(to, l.mul(i, width), f32);
    l.elements(l.constant(width), [&](Value j) {
      Value n = layout.inOut ? j : id, p = layout.inOut ? id : j, feature = j;
      auto place = coding.at(LayoutCode{l}, n, p, layout.panel, layout.inOut ? rows : width);
      if (coding.ordered)
        feature = l.toIndex(arith::ExtSIOp::create(l.b, l.b.getI64Type(), l.load(i32, l.at(from, j, i32))));
      auto word = [&](Value at) -> Value { return arith::ExtUIOp::create(l.b, i32, l.load(i8, l.at(from, at, i8))); };
      auto field = [&](Value at, Value shift, int64_t bits) -> Value {
        Value by = arith::IndexCastOp::create(l.b, i32, shift), moved = arith::ShRUIOp::create(l.b, word(at), by);
        return arith::AndIOp::create(l.b, moved, l.integer(i32, (1 << bits) - 1));
      };
      int64_t low = coding.lowBits();
      Value code = field(place.code, place.shift, low);
      if (coding.hasHighBits()) {
        Value high = field(place.high, place.highShift, coding.bits - low);
        code = arith::OrIOp::create(l.b, code, arith::ShLIOp::create(l.b, high, l.integer(i32, low)).getResult());
      }
      GroupValues group{real(coding.scale, place.scale), {}, {}};
      (coding.minima ? group.minimum : group.zero) =
          coding.zeros || coding.minima ? real(PackedType::F16, place.second) : Value();
      if (coding.super) {
        Value subScale = signedByte(l, word(place.subScale), l.integer(i32, 24));
        Value none = l.integer(i32, 0);
        group = group.times(l, subScale, coding.minima ? unsignedByte(l, word(place.subMinimum), none) : Value());
      }
      Value value = group.number(l, coding, code);
      l.store(value, l.at(target, feature, f32));
    });
  });
  l.barrier(op.getLoc());
}

/// Row ids[i] of the table [rows, width] becomes row i of the result, in f32. The table is laid out as it is in the
/// file, perhaps in 16 bits, or in the panels of a linear that shares it (tied embeddings), whose elements are
/// addressed one by one.
LogicalResult heddle::loops::lowerEmbedding(Lower &l, EmbeddingOp op) {
  ModelTensorType table = op.getTable().getType();
  Value rows = l.size(table.getSize(0)), width = l.size(table.getSize(1));
  Value ids = l.pointer(op.getIds()), from = l.pointer(op.getTable()), to = l.allocatePointer(op->getResult(0));
  auto param = op.getTable().getDefiningOp<ParamOp>();
  WeightLayout layout = param && param.getLayout() ? param.getLayout()->getLayout() : WeightLayout();
  bool halves = layout.halves();
  Stored stored = storedOf(layout.type);
  Type f32 = l.f32(), half = l.b.getI16Type();
  if (layout.coding) {
    decodeRows(l, op, layout);
    return success();
  }
  l.parallelFor(op.getLoc(), l.size(op.getIds().getType().getCount()), [&](Value i) {
    Value id = checkedId(l, op, ids, i, rows), target = l.at(to, l.mul(i, width), f32);
    if (!layout.panel) {
      Value row = l.at(from, l.mul(id, width), halves ? half : f32);
      l.vectors(width, [&](Value j, Value mask) {
        Value v = halves ? widened(l, stored, l.loadLanes(half, l.at(row, j, half), mask)) : l.loadVec(row, j, mask);
        l.storeLanes(v, l.at(target, j, f32), mask);
      });
      return;
    }
    // The panels of a linear: a table [rows, width] is its W[N, K], or [K, N].
    l.elements(width, [&](Value j) {
      Value n = layout.inOut ? j : id, k = layout.inOut ? id : j, all = layout.inOut ? rows : width;
      Value depth = l.div(l.add(all, layout.pair() - 1), l.constant(layout.pair()));
      Value at = layout.at(LayoutCode{l}, n, k, depth);
      l.store({halves ? widened(l, stored, l.load(half, l.at(from, at, half))) : l.loadF32(from, at),
               l.at(target, j, f32)});
    });
  });
  l.barrier(op.getLoc());
  return success();
}

/// Rows x[b, at[b, i]] of a tensor x [B, T, ..], whose batch axis may be 1.
LogicalResult heddle::loops::lowerGather(Lower &l, GatherOp op) {
  ModelTensorType x = op.getOperand().getType(), at = op.getAt().getType();
  Type element = x.getElementType();
  Value rows = l.size(x.getSize(1)), width = l.count(x, 2, x.getRank());
  Value chosen = l.count(at, 1, at.getRank()); // rows a batch element
  Value from = l.pointer(op.getOperand()), ids = l.pointer(op.getAt()), to = l.allocatePointer(op->getResult(0));
  l.parallelFor(op.getLoc(), l.size(at.getCount()), [&](Value i) {
    Value batch = x.getSize(0).is(1) ? l.constant(0) : l.div(i, chosen);
    Value id = checkedId(l, op, ids, i, rows);
    Value row = l.at(from, l.mul(l.add(l.mul(batch, rows), id), width), element);
    Value target = l.at(to, l.mul(i, width), element);
    l.vectors(width, [&](Value j, Value mask) {
      l.storeLanes({l.loadLanes(element, l.at(row, j, element), mask), l.at(target, j, element)}, mask);
    });
  });
  l.barrier(op.getLoc());
  return success();
}
