//===- AttentionRows.cpp - rows of an item, before and after its tiles ---===//

#include "compiler/Conversion/Lowering/CPU/Attention/AttentionKernel.h"
#include "compiler/Conversion/Lowering/CPU/Linear/KeptRows.h"
#include "compiler/Conversion/Lowering/Language/Halves.h"
#include "compiler/Conversion/Lowering/Language/Reals.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <cmath>

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;

namespace {
class Rows : ItemCode {
public:
  explicit Rows(const ItemCode &item) : ItemCode(item) {}
  void in();
  Value out();

private:
  const std::optional<KeptRows> kept =
      keptRows(plan.op->getResult(0)); ///< how the result is laid out, if not as rows of f32
  void storeQuery(Value source, Value target);
  Value resultAt(Value row, Value head);
  void storeResult(Value elements, Value target, Value column, Value mask);
  void maskedRow(Value target);
};
} // namespace

/// A query in units of log2 and with its scale; with dots as it is, in pairs.
void Rows::storeQuery(Value source, Value target) {
  double scale = plan.op.getScale().convertToDouble() * kLog2E;
  bool dots = plan.arithmetic.dots;
  Type stored = dots ? Type(b.getI16Type()) : f32();
  vectors(constant(plan.width), [&](Value j, Value mask) {
    Value x = loadVec(source, j, mask);
    store({dots ? toBf16(*this, x) : mulf(x, real(vec(f32()), scale)), at(target, j, stored)}, mask);
  });
  if (dots && plan.width % 2)
    store(integer(stored, 0), at(target, constant(plan.width), stored));
}

void Rows::in() {
  Value zero = real(vec(f32()), 0.0);
  loop(constant(0), item.count, 1, [&](Value r) {
    Value packedRow = add(item.firstRow, r), head = headOf(packedRow);
    Value source = queryOf(packedRow), target = area.query(r);
    storeQuery(source, target);
    Value out = area.output(r);
    for (int64_t j = 0; j < area.outputStride(); j += lanes)
      store(zero, at(out, constant(j), f32()));
    Value greatest = real(kLowest), sum = zero;
    if (Value sinks = plan.sinks) {
      // The sink is a score whose value is 0: it is there from the start.
      Value sink = mulf(loadF32(tensor(sinks), head), real(kLog2E));
      greatest = larger(*this, sink, greatest);
      Value lane = iota(constant(0)), none = splatWord(constant(0));
      Value first = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, lane, none);
      sum = select(first, splat(exp2(*this, subf(sink, greatest))), zero);
    }
    store(sum, area.sum(r));
    store(greatest, area.greatest(r));
  });
}

/// Where the outputs of `head` in `row` begin in the result.
Value Rows::resultAt(Value row, Value head) {
  if (kept)
    return keptAt(*this, args.result, *kept, row, mul(head, plan.valueWidth));
  return at(args.result, mul(add(mul(row, plan.heads), head), plan.valueWidth), f32());
}

void Rows::storeResult(Value elements, Value target, Value column, Value mask) {
  if (kept)
    storeKept(*this, elements, at(target, column, b.getI16Type()), mask);
  else
    store({elements, at(target, column, f32())}, mask);
}

Value Rows::out() {
  Value zero = real(vec(f32()), 0.0);
  Values bad = loop(constant(0), item.count, 1, ValueRange{zero}, [&](Value r, ValueRange carried) -> Values {
    Value packedRow = add(item.firstRow, r), head = headOf(packedRow);
    Value row = add({mul(keys.batch, length(Role::Rows)), rowOf(packedRow)});
    Value target = resultAt(row, head);
    Value total = sum(load(vec(f32()), area.sum(r)));
    Value empty = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, total, real(0.0));
    Value inverse = splat(select(empty, real(0.0), divf(real(1.0), total)));
    Value source = area.output(r);
    Values finite = vectors(constant(plan.valueWidth), carried, [&](Value j, Value mask, ValueRange c) -> Values {
      Value o = loadVec(source, j, mask);
      storeResult(mulf(o, inverse), target, j, mask);
      return {fma(o, zero, c[0])}; // 0 * o is NaN unless o is finite
    });
    if (plan.op.getMaskedRows() != attn::MaskedRows::zero)
      when(empty, [&] { maskedRow(target); });
    return finite;
  });
  return vector::ReductionOp::create(b, vector::CombiningKind::OR, isNaN(bad[0]));
}

/// A row that saw nothing, where the model wants NaN or the mean of all values.
void Rows::maskedRow(Value target) {
  Value nan = real(vec(f32()), std::nan(""));
  Value first = mul({headOfKeys(), mul(length(Role::ValueRoom), plan.classes * plan.valueWords())});
  Value values = at(args.value, first, f32());
  Value count = arith::SIToFPOp::create(b, f32(), toI64(keys.all));
  vectors(constant(plan.valueWidth), [&](Value j, Value mask) {
    Value v = nan;
    if (plan.op.getMaskedRows() == attn::MaskedRows::mean) {
      Values sum =
          loop(constant(0), keys.all, 1, ValueRange{real(vec(f32()), 0.0)}, [&](Value k, ValueRange c) -> Values {
            Value row = k;
            if (keys.residue) // all keys in turn, whatever their class
              row =
                  add({mul({rem(k, constant(plan.classes)), length(Role::ValueRoom)}), div(k, constant(plan.classes))});
            return {addf(c[0], loadValue(values, add(mul(row, valuePitch()), j), mask))};
          });
      v = divf(sum[0], splat(count));
    }
    storeResult(v, target, j, mask);
  });
}

void heddle::loops::emitRowsIn(const ItemCode &item) { Rows(item).in(); }
Value heddle::loops::emitRowsOut(const ItemCode &item) { return Rows(item).out(); }
