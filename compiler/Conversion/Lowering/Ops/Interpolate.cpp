//===- Interpolate.cpp - a grid stretched to another size -----------------===//
//
// Interpolation of a grid [B, spatial.., channels] to another size, bilinear or bicubic. Result i reads the input at
// position (i+½)/scale - ½ with 2 or 4 taps an axis (Keys 1981, a = -¾); beyond an edge the edge is read. Positions and
// weights are computed in f64, the weighted sums in f32.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/Frame/Lowering.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using namespace heddle::model;
using Lower = heddle::loops::Lowering;

namespace {
/// The taps of one axis for one result index: source indices and their weights.
struct Taps {
  Values index, weight;
};
} // namespace

/// Keys' cubic at distance t >= 0, for taps 0 <= t <= 1 and 1 <= t <= 2.
static Value cubic(Lower &l, Value t, bool near) {
  auto number = [&](double v) { return l.real(l.f64(), v); };
  constexpr double a = -0.75;
  if (near) // (a+2)t³ - (a+3)t² + 1
    return l.fma({l.fma(t, number(a + 2), number(-(a + 3))), l.mulf(t, t), number(1)});
  // a t³ - 5a t² + 8a t - 4a
  return l.fma(l.fma(l.fma(t, number(a), number(-5 * a)), t, number(8 * a)), t, number(-4 * a));
}

/// The taps for index i of a spatial axis, counted without the batch.
static Taps tapsOf(Lower &l, InterpolateOp op, int64_t axis, Value i) {
  auto from = op.getInput().getType();
  Value length = l.size(from.getSize(1 + axis));
  auto real = [&](Value index) -> Value { return arith::SIToFPOp::create(l.b, l.f64(), l.toI64(index)); };
  Value scale;
  if (op.getScales().empty())
    scale = l.divf(real(l.size(op.getType().getSize(1 + axis))), real(length));
  else
    scale = arith::ExtFOp::create(l.b, l.f64(), l.loadF32(l.pointer(op.getScales()[axis]), l.constant(0)));
  Value half = l.real(l.f64(), 0.5), one = l.real(l.f64(), 1.0);
  Value position = l.subf(l.divf(l.addf(real(i), half), scale), half);
  Value whole = math::FloorOp::create(l.b, position), f = l.subf(position, whole);
  Value base = l.toIndex(arith::FPToSIOp::create(l.b, l.b.getI64Type(), whole));
  Taps taps;
  auto tap = [&](int64_t offset, Value weight) {
    Value at = l.add(base, l.constant(offset));
    taps.index.push_back(l.max(l.constant(0), l.min(at, l.sub(length, l.constant(1)))));
    taps.weight.push_back(arith::TruncFOp::create(l.b, l.f32(), weight));
  };
  if (op.getBicubic()) {
    tap(-1, cubic(l, l.addf(f, one), false));
    tap(0, cubic(l, f, true));
    tap(1, cubic(l, l.subf(one, f), true));
    tap(2, cubic(l, l.subf(l.real(l.f64(), 2.0), f), false));
  } else {
    tap(0, l.subf(one, f));
    tap(1, f);
  }
  return taps;
}

/// A thread takes a place of the result; the channels there are vectors.
LogicalResult heddle::loops::lowerInterpolate(Lower &l, InterpolateOp op) {
  auto from = op.getInput().getType();
  ModelTensorType to = op.getType();
  int64_t rank = to.getRank(), axes = op.getSizes().size();
  Value x = l.pointer(op.getInput()), y = l.allocatePointer(op->getResult(0));
  Values strides = l.strides(from);
  SmallVector<Size> lead = to.getSizes();
  lead.pop_back();
  ModelTensorType places = to.withSizes(lead);
  Value channels = l.size(to.getSize(rank - 1));
  l.parallelFor(op.getLoc(), l.count(places), [&](Value place) {
    Values at = l.unravel(places, place);
    Value fixed = l.mul(at[0], strides[0]);
    for (int64_t i = 1 + axes; i < rank - 1; ++i)
      fixed = l.add(fixed, l.mul(at[i], strides[i]));
    SmallVector<Taps> taps;
    for (int64_t axis = 0; axis < axes; ++axis)
      taps.push_back(tapsOf(l, op, axis, at[1 + axis]));
    l.vectors(channels, [&](Value j, Value mask) {
      // Axis by axis, the last one inside.
      std::function<Value(int64_t, Value)> sum = [&](int64_t axis, Value base) -> Value {
        if (axis == axes)
          return l.loadVec(x, l.add(base, j), mask);
        Value total;
        for (auto [index, weight] : llvm::zip_equal(taps[axis].index, taps[axis].weight)) {
          Value v = sum(axis + 1, l.add(base, l.mul(index, strides[1 + axis])));
          Value w = l.splat(weight);
          total = total ? l.fma(w, v, total) : l.mulf(w, v);
        }
        return total;
      };
      l.storeLanes({sum(0, fixed), l.at(y, l.add(l.mul(place, channels), j), l.f32())}, mask);
    });
  });
  l.barrier(op.getLoc());
  return success();
}
