//===- ScoreBias.cpp - what becomes of one score --------------------------===//

#include "compiler/Conversion/Lowering/GPU/Attention/ScoreBias.h"
#include "compiler/Conversion/Lowering/Language/Functions.h"
#include "dialects/Mask/Emission/MaskCode.h"
#include "dialects/Model/IR/TensorType.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using model::ModelTensorType;
using model::Size;
using model::typeOf;

Value ScoreBias::finished(Value s, Value k) const {
  attn::SdpaOp op = plan.op;
  s = l.mulf(s, l.real(op.getScale().convertToDouble()));
  if (op.getSoftcap()) {
    double cap = op.getSoftcap()->convertToDouble();
    s = l.mulf(Functions(l).tanh(l.mulf(s, l.real(1 / cap))), l.real(cap));
  }
  return plan.bias ? l.addf(s, biasAt(plan.bias, k)) : s;
}

Value ScoreBias::length(Value tensor, int64_t axis) const {
  OpBuilder::InsertionGuard guard(l.b);
  l.b.setInsertionPointToStart(&l.function.getBody().front());
  return l.size(typeOf(tensor).getSize(axis));
}

Value ScoreBias::element(OpBuilder &builder, Value tensor, ArrayRef<Value> at) const {
  OpBuilder::InsertionGuard guard(l.b);
  l.b.restoreInsertionPoint(builder.saveInsertionPoint());
  ModelTensorType type = typeOf(tensor);
  Value index = l.constant(0);
  for (auto [axis, i] : llvm::enumerate(at)) {
    Size n = type.getSize(axis);
    index = l.mul(index, l.size(n));
    if (!n.is(1))
      index = l.add(index, i);
  }
  return l.load(type.getElementType(), l.at(pointer(tensor), index, type.getElementType()));
}

Value ScoreBias::firstKey() const {
  if (plan.leading.empty())
    return l.constant(0);
  auto scan = scf::WhileOp::create(l.b, TypeRange{l.b.getIndexType()}, ValueRange{l.constant(0)});
  OpBuilder::InsertionGuard guard(l.b);
  Block *before = l.b.createBlock(&scan.getBefore(), {}, {l.b.getIndexType()}, {l.b.getLoc()});
  Value k = before->getArgument(0), inside = l.less(k, l.size(plan.keys));
  auto look = scf::IfOp::create(l.b, TypeRange{l.b.getI1Type()}, inside, /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard inner(l.b);
    l.b.setInsertionPointToStart(look.thenBlock());
    auto load = [&](OpBuilder &b, Value operand, ArrayRef<Value> at) { return element(b, operand, at); };
    auto lengthOf = [&](Value t, int64_t axis) { return length(t, axis); };
    mask::Emitter e{l.b, l.b, l.b.getLoc()};
    e.batch = batch;
    e.past = l.size(plan.past);
    e.queries = l.size(plan.rows);
    e.keys = l.size(plan.keys);
    e.keyStart = l.size(plan.keyStart);
    e.load = load;
    e.lengthOf = lengthOf;
    mask::IntCode code{l.b, l.b.getLoc()};
    Value hidden;
    for (Operation *leaf : plan.leading) {
      e.tile = e.step = l.b;
      Value clear = code.invert(mask::emitContains(e, leaf->getResult(0), e.past, k));
      hidden = hidden ? code.either(hidden, clear) : clear;
    }
    scf::YieldOp::create(l.b, hidden);
    l.b.setInsertionPointToStart(look.elseBlock());
    Value no = arith::ConstantOp::create(l.b, l.b.getBoolAttr(false));
    scf::YieldOp::create(l.b, no);
  }
  scf::ConditionOp::create(l.b, look.getResult(0), before->getArguments());
  Block *after = l.b.createBlock(&scan.getAfter(), {}, {l.b.getIndexType()}, {l.b.getLoc()});
  Value next = l.add(after->getArgument(0), 1);
  scf::YieldOp::create(l.b, next);
  return scan.getResult(0);
}

/// What the table of buckets of a bias says of a distance, in steps of the classes.
Value ScoreBias::lookedUp(Operation *bias, Value distance) const {
  const AttentionShape::Lookup &lookup = plan.lookups[llvm::find(plan.biases, bias) - plan.biases.begin()];
  Type i32 = l.b.getI32Type();
  auto type = RankedTensorType::get({int64_t(lookup.entries.size())}, i32);
  Value table = l.constantArray(DenseElementsAttr::get(type, ArrayRef<int32_t>(lookup.entries)));
  Value steps = plan.classes == 1 ? distance : l.floorDiv(distance, l.constant(plan.classes));
  Value at = l.add(l.min(l.max(steps, l.constant(-lookup.reach)), l.constant(lookup.reach)), lookup.reach);
  Value entry = l.load(i32, l.at(table, at, i32));
  return arith::IndexCastOp::create(l.b, l.b.getIndexType(), entry);
}

/// x . R[zero + i - j], x the query's row or the key's.
Value ScoreBias::relativeDot(attn::RelativeDotOp op, Value k, Value own) const {
  ModelTensorType x = typeOf(op.getX()), table = typeOf(op.getTable());
  int64_t heads = op.getHeads(), w = *x.getSize(2).exactDiv(Size(heads))->constant();
  Value distance = l.sub(own, k);
  if (op.getBucket())
    distance = lookedUp(op, distance);
  Value last = l.sub(l.size(table.getSize(0)), l.constant(1)),
        zero = l.size(Size::parse(op.getZero()).value_or(Size(0)));
  Value entry = l.min(l.max(l.add(zero, distance), l.constant(0)), last);
  Value element = x.getSize(0).is(1) ? l.constant(0) : batch, member = heads == 1 ? l.constant(0) : head;
  Value line = l.add(l.mul(element, l.size(x.getSize(1))), op.getKeySide() ? k : row);
  Value left = l.at(pointer(op.getX()), l.mul(l.add(l.mul(line, heads), member), w), l.f32());
  Value at = l.mul(entry, l.size(table.getSize(1)));
  if (!table.getSize(1).is(w))
    at = l.add(at, l.mul(head, w));
  Value right = l.at(pointer(op.getTable()), at, l.f32());
  return l.Code::loop(l.constant(0), l.constant(w), 1, ValueRange{l.real(0.0)}, [&](Value d, ValueRange sum) {
    Value a = l.loadF32(left, d), b = l.loadF32(right, d);
    return Values{l.fma(a, b, sum[0])};
  })[0];
}

Value ScoreBias::biasAt(Value bias, Value k) const {
  Value own = l.sub(position, l.size(plan.keyStart)), distance = l.sub(k, own);
  return llvm::TypeSwitch<Operation *, Value>(bias.getDefiningOp())
      .Case([&](attn::BiasAddOp op) {
        Value lhs = biasAt(op.getLhs(), k), rhs = biasAt(op.getRhs(), k);
        return l.addf(lhs, rhs);
      })
      .Case([&](attn::BiasScaleOp op) {
        return l.mulf(biasAt(op.getOperand(), k), l.real(op.getFactor().convertToDouble()));
      })
      .Case([&](attn::AlibiOp op) {
        Value slope =
            l.loadF32(pointer(op.getSlopes()), typeOf(op.getSlopes()).getCount().is(1) ? l.constant(0) : head);
        Value d = arith::SIToFPOp::create(l.b, l.f32(), l.toI64(distance));
        if (op.getSymmetric()) {
          d = math::AbsFOp::create(l.b, d);
          d = arith::NegFOp::create(l.b, d);
        }
        return l.mulf(slope, d);
      })
      .Case([&](attn::BucketBiasOp op) {
        Size columns = typeOf(op.getTable()).getSize(1);
        Value entry = lookedUp(op, distance);
        Value at = l.add(l.mul(entry, l.size(columns)), columns.is(1) ? l.constant(0) : head);
        return l.loadF32(pointer(op.getTable()), at);
      })
      .Case([&](attn::RelativeDotOp op) { return relativeDot(op, k, own); })
      .Case([&](attn::DenseBiasOp op) {
        int64_t rank = typeOf(op.getTensor()).getRank();
        Values at;
        if (rank > 2)
          at.push_back(batch);
        if (rank > 3)
          at.push_back(head);
        at.append({row, k});
        return element(l.b, op.getTensor(), at);
      });
}
