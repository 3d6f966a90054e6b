//===- AttentionKernel.cpp - work items, rows in and out ------------------===//

#include "compiler/Conversion/ToLoops/AttentionKernel.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <cmath>

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using model::ModelTensorType;
using model::Size;

//===-- arguments ------------------------------------------------------------------===//

FunctionType AttentionKernel::typeOf(const AttentionPlan &plan, MLIRContext *ctx) {
  Type ptr = LLVM::LLVMPointerType::get(ctx), index = IndexType::get(ctx);
  SmallVector<Type> types(5 + plan.tensors.size() + plan.lookups.size(), ptr);
  types.append(3 + plan.lengths.size(), index);
  return FunctionType::get(ctx, types, {});
}

void AttentionKernel::bind(Block *block) {
  entry = block;
  unsigned at = 0;
  auto next = [&] { return block->getArgument(at++); };
  query = next();
  key = next();
  value = next();
  result = next();
  scratch = next();
  for (unsigned i = 0; i < plan.tensors.size() + plan.lookups.size(); ++i)
    tensors.push_back(next());
  thread = next();
  from = next();
  to = next();
  for (unsigned i = 0; i < plan.lengths.size(); ++i)
    lengths.push_back(next());
}

Value AttentionKernel::length(const Size &form) {
  if (std::optional<int64_t> n = form.constant()) {
    // Asked for by code that stands elsewhere: it must dominate all of the kernel.
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(entry);
    return constant(*n);
  }
  const auto *at = llvm::find(plan.lengths, form);
  assert(at != plan.lengths.end() && "the plan notes every length");
  return lengths[at - plan.lengths.begin()];
}

Value AttentionKernel::tensor(Value operand) {
  const auto *at = llvm::find(plan.tensors, operand);
  assert(at != plan.tensors.end() && "the plan notes every tensor");
  return tensors[at - plan.tensors.begin()];
}

Value AttentionKernel::element(OpBuilder &builder, Value operand, ArrayRef<Value> at) {
  OpBuilder::InsertionGuard guard(b);
  b.restoreInsertionPoint(builder.saveInsertionPoint());
  auto type = cast<ModelTensorType>(operand.getType());
  Value index = constant(0), lanesOfKeys;
  for (auto [axis, i] : llvm::enumerate(at)) {
    Size n = type.getSize(axis);
    index = mul(index, length(n));
    bool vector = isa<VectorType>(i.getType());
    if (vector)
      lanesOfKeys = i;
    if (n.is(1))
      continue;
    index = add(index, vector ? toIndex(vector::ExtractOp::create(b, i, ArrayRef<int64_t>{0})) : i);
  }
  Type element = type.getElementType();
  Value address = this->at(tensor(operand), index, element);
  if (!lanesOfKeys)
    return load(element, address);
  if (type.getSize(type.getRank() - 1).is(1))
    return splat(load(element, address));
  Value inside = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, lanesOfKeys, splatWord(length(plan.keys)));
  return residue ? gather(element, address, plan.classes, inside) : load(vec(element), address, inside);
}

//===-- small things ---------------------------------------------------------------===//

Value AttentionKernel::splatWord(Value index) {
  return splat(arith::IndexCastOp::create(b, b.getI32Type(), index));
}

Value AttentionKernel::iota(Value firstKey) {
  SmallVector<int32_t> steps;
  for (int32_t i = 0; i < lanes; ++i)
    steps.push_back(i);
  Value up = arith::ConstantOp::create(b, DenseIntElementsAttr::get(words(), steps));
  return arith::AddIOp::create(b, splatWord(firstKey), up);
}

Value AttentionKernel::keyRows(Value firstKey) {
  Value keys = iota(firstKey);
  if (!residue)
    return keys;
  keys = arith::MulIOp::create(b, keys, splatWord(constant(plan.classes)));
  return arith::AddIOp::create(b, keys, splatWord(residue));
}

Value AttentionKernel::keyHead() { return plan.packed == 1 ? div(group, constant(plan.heads / plan.kvHeads)) : group; }
Value AttentionKernel::headOf(Value packedRow) {
  return plan.packed == 1 ? group : add(mul(group, plan.packed), rem(packedRow, constant(plan.packed)));
}
Value AttentionKernel::rowOf(Value packedRow) {
  Value row = div(packedRow, constant(plan.packed));
  return residue ? add(rowStart, mul(row, plan.classes)) : row;
}
Value AttentionKernel::ownOf(Value packedRow) { return add(div(packedRow, constant(plan.packed)), ownStart); }
Value AttentionKernel::keyRow(Value key) { return residue ? add(residue, mul(key, plan.classes)) : key; }

/// x <= 0 as n + r: r, and 1.5*2^23 + n, whose low bits are n. At the clamp n is -127.
std::pair<Value, Value> AttentionKernel::split(Value x) {
  Type t = x.getType();
  Value low = real(t, -127.0), magic = real(t, 12582912.0);
  x = select(lessf(x, low), low, x); // a NaN stays
  Value shifted = addf(x, magic);
  return {subf(x, subf(shifted, magic)), shifted};
}

/// 2^x of a number that was split; -inf gives exactly 0: the bits of 1.0 and of -127 cancel.
Value AttentionKernel::exp2(std::pair<Value, Value> parts) {
  auto [r, shifted] = parts;
  Type t = r.getType(), i = with(t, b.getI32Type());
  Value p = real(t, 0.0013333558);
  for (double k : {0.009618129, 0.05550411, 0.24022651, 0.6931472, 1.0})
    p = fma(p, r, real(t, k));
  auto word = b.getI32IntegerAttr(23);
  auto v = dyn_cast<VectorType>(i);
  Value by = arith::ConstantOp::create(b, v ? TypedAttr(DenseElementsAttr::get(v, APInt(32, 23))) : TypedAttr(word));
  Value exponent = arith::ShLIOp::create(b, Value(arith::BitcastOp::create(b, i, shifted)), by);
  return arith::BitcastOp::create(b, t, Value(arith::AddIOp::create(b, Value(arith::BitcastOp::create(b, i, p)), exponent)));
}

/// A NaN in `x` is passed over: one instruction, and what is not a number shows in its weight.
Value AttentionKernel::larger(Value x, Value y) { return select(lessf(y, x), x, y); }

Value AttentionKernel::largestLane(Value x) {
  return foldLanes(x, [&](Value a, Value b) { return larger(a, b); });
}

/// cap * tanh(s / cap): a rational approximation (13/6, a few units in the last place), a
/// third of the instructions of the general tanh. A NaN stays.
Value AttentionKernel::softcap(Value x) {
  double cap = plan.op.getSoftcap()->convertToDouble();
  Type t = x.getType();
  Value low = real(t, -7.90531110763549805), high = real(t, 7.90531110763549805);
  x = mulf(x, real(t, 1.0 / (cap * kLog2E)));
  x = select(lessf(x, low), low, x);
  x = select(lessf(high, x), high, x);
  Value z = mulf(x, x), p = real(t, -2.76076847742355e-16), q = real(t, 1.19825839466702e-06);
  for (double k : {2.00018790482477e-13, -8.60467152213735e-11, 5.12229709037114e-08, 1.48572235717979e-05,
                   6.37261928875436e-04, 4.89352455891786e-03})
    p = fma(p, z, real(t, k));
  for (double k : {1.18534705686654e-04, 2.26843463243900e-03, 4.89352518554385e-03})
    q = fma(q, z, real(t, k));
  return mulf(divf(mulf(x, p), q), real(t, cap * kLog2E));
}

//===-- work items -----------------------------------------------------------------===//

void AttentionKernel::emit(Block *block) {
  bind(block);
  area = at(scratch, add(length(plan.atThreads()), mul(thread, plan.threadFloats)), f32());
  loop(from, to, 1, [&](Value item) { emitItem(item); });
}

mask::Emitter AttentionKernel::emitter() {
  mask::Emitter e{b, b, b.getLoc(), {}, {}, batch, {}, length(plan.past), length(plan.rows), keyCount ? keyCount : length(plan.keys),
                  length(plan.keyStart), nullptr, nullptr};
  e.lanes = lanes;
  if (residue) {
    e.stride = plan.classes;
    e.offset = residue;
  }
  return e;
}

void AttentionKernel::emitItem(Value item) {
  Value blocks = length(plan.rowBlocks()), outer = div(item, blocks), rows = length(plan.rows);
  keyCount = length(plan.keys);
  ownStart = sub(length(plan.past), length(plan.keyStart));
  if (plan.classes > 1) {
    enterClass(rem(outer, constant(plan.classes)));
    outer = div(outer, constant(plan.classes));
    rows = div(sub(add(rows, plan.classes - 1), rowStart), constant(plan.classes));
  }
  group = rem(outer, constant(plan.groups()));
  batch = div(outer, constant(plan.groups()));
  firstRow = mul(rem(item, blocks), kRowTile);
  count = min(constant(kRowTile), sub(mul(rows, plan.packed), firstRow));
  anchor = constant(0);
  if (!plan.leading.empty()) {
    Value anchors = at(scratch, length(plan.atAnchors()), f32());
    anchor = toIndex(load(b.getI64Type(), at(anchors, batch, b.getI64Type())));
    if (residue) // the first key of the class that is not before it
      anchor = div(sub(add(anchor, plan.classes - 1), residue), constant(plan.classes));
  }
  if (plan.classes == 1)
    return emitRows();
  when(less(constant(0), count), [&] { emitRows(); }); // a class may have fewer rows than another
}

/// Rows r with past + r = key_start + number modulo the number of classes.
void AttentionKernel::enterClass(Value number) {
  Value classes = constant(plan.classes);
  residue = number;
  Value shift = sub(add(number, length(plan.keyStart)), length(plan.past));
  Value turns = floorDiv(shift, classes);
  rowStart = sub(shift, mul(turns, classes));
  keyCount = div(sub(add(length(plan.keys), plan.classes - 1), number), classes);
  ownStart = sub(constant(0), turns);
}

void AttentionKernel::emitRows() {
  emitBiasTables();

  // What is not finite may have come from a value that nobody sees, weighed by 0. Then all
  // is done once more with weights of 0 left out.
  auto again = scf::WhileOp::create(b, TypeRange{b.getI1Type()},
                                    ValueRange{arith::ConstantOp::create(b, b.getBoolAttr(false))});
  OpBuilder::InsertionGuard guard(b);
  Block *before = b.createBlock(&again.getBefore(), {}, {b.getI1Type()}, {b.getLoc()});
  guarded = before->getArgument(0);
  emitSetup();

  mask::Emitter e = emitter();
  e.first = add(e.past, rowOf(firstRow));
  e.last = add(e.past, rowOf(sub(add(firstRow, count), constant(1))));
  e.head = headOf(firstRow);
  auto load = [&](OpBuilder &at, Value operand, ArrayRef<Value> index) { return element(at, operand, index); };
  auto lengthOf = [&](const Size &n) { return length(n); };
  e.load = load;
  e.lengthOf = lengthOf;
  emitBounds(e);
  auto visit = [&](OpBuilder &, Value lo, Value hi, Value need) {
    Value full = equal(need, arith::ConstantIntOp::create(b, 0, 32));
    Value first = add(anchor, tripFloor(sub(lo, anchor), kKeyTile));
    loop(first, hi, kKeyTile, [&](Value at) {
      Value limit = add(at, kKeyTile), begin = max(lo, at), end = min(hi, limit);
      auto turn = [&](int64_t ring) { return ring ? sub(at, rem(at, constant(ring))) : Value(); };
      keyTurn = turn(plan.keyRing);
      valueTurn = turn(plan.valueRing);
      Value whole = arith::AndIOp::create(b, Value(arith::AndIOp::create(b, equal(begin, at), equal(end, limit))), full);
      Tile partial{at, begin, end, true};
      emitScores(partial);
      emitBiasTile(partial);
      if (plan.counted) {
        emitMaxima(partial);
        emitWeights(partial);
      } else {
        when(whole, [&] {
          emitMaxima({at, begin, end, false});
          emitWeights({at, begin, end, false});
        }, [&] {
          Tile bounds = partial;
          bounds.bounds = true;
          if (int64_t others = openBeyondBounds()) {
            Value open = arith::AndIOp::create(b, need, arith::ConstantIntOp::create(b, others, 32));
            Value none = equal(open, arith::ConstantIntOp::create(b, 0, 32));
            when(none, [&] { emitMaxima(bounds); }, [&] { emitMaxima(partial); });
          } else {
            emitMaxima(bounds);
          }
          emitWeights(partial);
        });
      }
      emitOutput(partial);
    });
  };
  mask::emitWalk(b, e, plan.op.getMask(), anchor, kKeyTile, visit);
  keyTurn = valueTurn = {};

  Value bad = emitFinish();
  Value yes = arith::ConstantOp::create(b, b.getBoolAttr(true));
  Value once = arith::XOrIOp::create(b, guarded, yes);
  scf::ConditionOp::create(b, arith::AndIOp::create(b, bad, once), before->getArguments());
  Block *after = b.createBlock(&again.getAfter(), {}, {b.getI1Type()}, {b.getLoc()});
  (void)after;
  scf::YieldOp::create(b, ValueRange{arith::ConstantOp::create(b, b.getBoolAttr(true))});
}

Value AttentionKernel::queryOf(Value packedRow) {
  Value row = add(mul(batch, length(plan.rows)), rowOf(packedRow));
  return at(query, mul(add(mul(row, plan.heads), headOf(packedRow)), plan.width), f32());
}

void AttentionKernel::emitSetup() {
  int64_t outputStride = (plan.valueWidth + 15) / 16 * 16;
  Value zero = real(vec(f32()), 0.0);
  loop(constant(0), count, 1, [&](Value r) {
    Value packedRow = add(firstRow, r), head = headOf(packedRow);
    storeQuery(queryOf(packedRow), at(floats(plan.atQuery), mul(r, plan.queryWords()), f32()));
    Value out = at(floats(plan.atOutput), mul(r, outputStride), f32());
    for (int64_t j = 0; j < outputStride; j += lanes)
      store(zero, at(out, constant(j), f32()));
    Value greatest = real(kLowest), sum = zero;
    if (Value sinks = plan.op.getSinks()) {
      // The sink is a score whose value is 0: it is there from the start.
      Value sink = mulf(loadF32(tensor(sinks), head), real(kLog2E));
      greatest = larger(sink, greatest);
      Value first = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, iota(constant(0)), splatWord(constant(0)));
      sum = select(first, splat(exp2(subf(sink, greatest))), zero);
    }
    store(sum, at(floats(plan.atSum), mul(r, 16), f32()));
    store(greatest, at(floats(plan.atMax), r, f32()));
  });
}

Value AttentionKernel::emitFinish() {
  int64_t outputStride = (plan.valueWidth + 15) / 16 * 16;
  Value zero = real(vec(f32()), 0.0);
  Values bad = loop(constant(0), count, 1, ValueRange{zero}, [&](Value r, ValueRange carried) -> Values {
    Value packedRow = add(firstRow, r), head = headOf(packedRow);
    Value row = add(mul(batch, length(plan.rows)), rowOf(packedRow));
    Value out = at(result, mul(add(mul(row, plan.heads), head), plan.valueWidth), f32());
    Value total = sum(loadVec(floats(plan.atSum), mul(r, 16)));
    Value empty = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, total, real(0.0));
    Value inverse = splat(select(empty, real(0.0), divf(real(1.0), total)));
    Value source = at(floats(plan.atOutput), mul(r, outputStride), f32());
    Values finite = vectors(constant(plan.valueWidth), carried, [&](Value j, Value mask, ValueRange c) -> Values {
      Value o = loadVec(source, j, mask);
      store(mulf(o, inverse), at(out, j, f32()), mask);
      return {fma(o, zero, c[0])}; // 0 * o is NaN unless o is finite
    });
    if (plan.op.getMaskedRows() != attn::MaskedRows::zero)
      when(empty, [&] { emitMaskedRow(out); });
    return finite;
  });
  return vector::ReductionOp::create(b, vector::CombiningKind::OR, isNaN(bad[0]));
}

/// A row that saw nothing, where the model wants NaN or the mean of all values.
void AttentionKernel::emitMaskedRow(Value out) {
  Value nan = real(vec(f32()), std::nan(""));
  Value values = at(value, mul(headOfKeys(), mul(length(plan.valueRoom), plan.classes * plan.valueWords())), f32());
  Value keys = arith::SIToFPOp::create(b, f32(), arith::IndexCastOp::create(b, b.getI64Type(), length(plan.keys)).getResult());
  vectors(constant(plan.valueWidth), [&](Value j, Value mask) {
    Value v = nan;
    if (plan.op.getMaskedRows() == attn::MaskedRows::mean) {
      Values sum = loop(constant(0), length(plan.keys), 1, ValueRange{real(vec(f32()), 0.0)}, [&](Value k, ValueRange c) -> Values {
        Value row = k;
        if (residue) // all keys in turn, whatever their class
          row = add(mul(rem(k, constant(plan.classes)), length(plan.valueRoom)), div(k, constant(plan.classes)));
        return {addf(c[0], loadValue(values, add(mul(row, valuePitch()), j), mask))};
      });
      v = divf(sum[0], splat(keys));
    }
    store(v, at(out, j, f32()), mask);
  });
}
