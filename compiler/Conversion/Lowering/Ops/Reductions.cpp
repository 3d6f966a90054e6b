//===- Reductions.cpp - sums, maxima, running sums, softmax, top k --------===//
//
// Reductions, running sums, softmax and top k. One thread makes one element (or one row) of the result and walks what
// is reduced in ascending order, so the bits do not depend on the number of threads. `sum` and `mean` of reals add in
// f64; running sums and the denominators of softmax in f32.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/Frame/Lowering.h"
#include "compiler/Conversion/Lowering/Frame/Predicates.h"
#include "compiler/Conversion/Lowering/Language/Functions.h"
#include <limits>

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using namespace heddle::model;
using Lower = heddle::loops::Lowering;

namespace {
/// A tensor around one axis: [outer, length, inner].
struct AroundAxis {
  Length outer, length, inner;
  AroundAxis(Lower &l, ModelTensorType t, int64_t axis)
      : outer(l.count(t, 0, axis)), length(l.size(t.getSize(axis))), inner(l.count(t, axis + 1, t.getRank())) {}
};
} // namespace

/// A constant i64.
static Value i64(Lower &l, int64_t v) { return arith::ConstantOp::create(l.b, l.b.getI64IntegerAttr(v)); }

Value heddle::loops::beats(Lower &l, Value candidate, Value best) {
  if (!isa<FloatType>(candidate.getType()))
    return arith::CmpIOp::create(l.b, arith::CmpIPredicate::sgt, candidate, best);
  Value more = l.lessf(best, candidate);
  Value none = l.isNaN(candidate), number = arith::CmpFOp::create(l.b, arith::CmpFPredicate::ORD, best, best);
  Value nan = arith::AndIOp::create(l.b, none, number);
  return arith::OrIOp::create(l.b, more, nan);
}

namespace {
/// The axes of a reduction: those that stay and those that go, each row-major.
struct ReducedAxes {
  SmallVector<int64_t> kept, gone;
  SmallVector<Length> sizes;
  Values strides;
  Value reduced; ///< elements of each sum

  ReducedAxes(Lower &l, ReduceOp op) : gone(op.getAxes()), strides(l.strides(op.getOperand().getType())) {
    ModelTensorType from = op.getOperand().getType();
    llvm::sort(gone);
    reduced = l.constant(1);
    for (int64_t axis = 0; axis < from.getRank(); ++axis) {
      sizes.push_back(l.size(from.getSize(axis)));
      if (llvm::is_contained(gone, axis))
        reduced = l.mul(reduced, sizes.back());
      else
        kept.push_back(axis);
    }
  }

  /// Where element `number` of these axes is, numbered row-major.
  Value place(Lower &l, ArrayRef<int64_t> axes, Value number) const {
    Value at = l.constant(0);
    for (int64_t axis : llvm::reverse(axes)) {
      bool all = axis == axes.front(); // nothing is left for axes in front of it
      at = l.add(at, l.mul(all ? number : l.rem(number, sizes[axis]), strides[axis]));
      number = all ? number : l.div(number, sizes[axis]);
    }
    return at;
  }
};
} // namespace

/// The sum or mean that f64 `sum` stands for, as a result holds it; of vectors alike.
static Value finished(Lower &l, ReduceOp op, const ReducedAxes &axes, Value sum) {
  if (op.getKind() == ReduceKind::mean) {
    Value n = arith::SIToFPOp::create(l.b, l.f64(), l.toI64(axes.reduced));
    sum = l.divf(sum, isa<VectorType>(sum.getType()) ? l.splat(n) : n);
  }
  return arith::TruncFOp::create(l.b, Code::with(sum.getType(), l.f32()), sum);
}

/// Sums of reals whose last axis, of `width` elements, stays: a vector of neighbours at a time. Each sum has the order,
/// and so the bits, that it has alone.
static void sumNeighbours(Lower &l, ReduceOp op, const ReducedAxes &axes, int64_t width) {
  Value source = l.pointer(op.getOperand()), target = l.allocatePointer(op->getResult(0));
  int64_t vectors = (width + l.lanes - 1) / l.lanes;
  Length each = l.number(vectors), items = each;
  for (int64_t axis : ArrayRef(axes.kept).drop_back())
    items = l.mul(items, axes.sizes[axis]);
  l.parallelFor(op.getLoc(), items, [&](Value item) {
    Value row = l.div(item, each), first = l.mul(l.rem(item, each), l.lanes);
    Value mask = width % l.lanes ? l.firstLanes(l.sub(l.constant(width), first)) : Value();
    Value base = l.add(axes.place(l, ArrayRef(axes.kept).drop_back(), row), first);
    Value zeros = l.splat(l.real(l.f64(), 0.0));
    Values sum = l.Code::loop(l.constant(0), axes.reduced, 1, zeros, [&](Value i, ValueRange now) {
      Value x = l.loadVec(source, l.add(base, axes.place(l, axes.gone, i)), mask);
      return Values{l.addf(now[0], arith::ExtFOp::create(l.b, l.vec(l.f64()), x))};
    });
    Value to = l.at(target, l.add(l.mul(row, width), first), l.f32());
    l.storeLanes(finished(l, op, axes, sum[0]), to, mask);
  });
}

/// sum, mean, max or argmax over any axes. The result's elements are numbered row-major over the axes that stay; for
/// each the axes that go are walked as one loop. Its two carried values are the sum (f64) or the largest element so
/// far, and the index of the latter.
LogicalResult heddle::loops::lowerReduce(Lower &l, ReduceOp op) {
  Location loc = op.getLoc();
  ModelTensorType from = op.getOperand().getType(), to = op.getType();
  Type element = from.getElementType();
  bool real = element.isF32(), extreme = op.getKind() == ReduceKind::max || op.getKind() == ReduceKind::argmax;
  Type held = extreme ? element : real ? l.f64() : element;
  ReducedAxes axes(l, op);
  if (real && !extreme && !axes.kept.empty() && axes.kept.back() == from.getRank() - 1) {
    std::optional<int64_t> width = Code::known(axes.sizes.back());
    if (width && *width >= l.lanes) {
      sumNeighbours(l, op, axes, *width);
      l.barrier(loc);
      return success();
    }
  }
  Value source = l.pointer(op.getOperand()), target = l.allocatePointer(op->getResult(0));
  l.forEach(loc, l.count(to), [&](Value out) {
    // The axes that stay, most significant first, are exactly the result's (or 1).
    Value base = axes.place(l, axes.kept, out);
    Value first = extreme ? real ? l.real(-std::numeric_limits<double>::infinity()) : i64(l, INT64_MIN)
                  : real  ? l.real(l.f64(), 0.0)
                          : i64(l, 0);
    Values result = l.Code::loop(l.constant(0), axes.reduced, 1, {first, i64(l, 0)}, [&](Value i, ValueRange now) {
      Value x = l.load(element, l.at(source, l.add(base, axes.place(l, axes.gone, i)), element));
      if (extreme) {
        Value won = beats(l, x, now[0]);
        return Values{l.select(won, x, now[0]), l.select(won, l.toI64(i), now[1])};
      }
      if (real)
        return Values{l.addf(now[0], arith::ExtFOp::create(l.b, held, x)), now[1]};
      return Values{arith::AddIOp::create(l.b, now[0], x), now[1]};
    });
    Value value = op.getKind() == ReduceKind::argmax ? result[1] : result[0];
    if (real && !extreme)
      value = finished(l, op, axes, value);
    l.store(value, l.at(target, out, to.getElementType()));
  });
  l.barrier(loc);
  return success();
}

/// y[k] = init + x[0] + .. + x[k] along an axis; `init` [outer, inner] is the sum of the past rows in a cached step.
LogicalResult heddle::loops::lowerCumsum(Lower &l, CumsumOp op) {
  Location loc = op.getLoc();
  ModelTensorType type = op.getType();
  Type element = type.getElementType();
  AroundAxis a(l, type, op.getAxis());
  Value from = l.pointer(op.getOperand()), to = l.allocatePointer(op->getResult(0));
  Value init = op.getInit() ? l.pointer(op.getInit()) : Value();
  l.forEach(loc, l.mul(a.outer, a.inner), [&](Value i) {
    Value base = l.add({l.mul({l.div(i, a.inner), l.mul(a.length, a.inner)}), l.rem(i, a.inner)});
    Value zero = element.isF32() ? l.real(0.0) : i64(l, 0);
    Value first = init ? l.load(element, l.at(init, i, element)) : zero;
    l.Code::loop(l.constant(0), a.length, 1, first, [&](Value k, ValueRange sum) {
      Value at = l.add(base, l.mul(k, a.inner));
      Value x = l.load(element, l.at(from, at, element));
      Value next = element.isF32() ? l.addf(sum[0], x) : Value(arith::AddIOp::create(l.b, sum[0], x));
      l.store(next, l.at(to, at, element));
      return Values{next};
    });
  });
  l.barrier(loc);
  return success();
}

/// Softmax along the last axis: three passes over a row in vectors, for the maximum, the sum of exponentials (kept in
/// the result), and the quotients.
static void softmaxRows(Lower &l, SoftmaxOp op, const AroundAxis &a, Value from, Value to) {
  Value low = l.splat(l.real(-std::numeric_limits<double>::infinity())), zero = l.splat(l.real(0.0));
  l.parallelFor(op.getLoc(), a.outer, [&](Value r) {
    Value at = l.mul(r, a.length), x = l.at(from, at, l.f32()), y = l.at(to, at, l.f32());
    Value top = l.splat(l.largest(l.vectors(a.length, low, [&](Value j, Value mask, ValueRange best) {
      Value v = l.loadVec(x, j, mask);
      return Values{l.maxf(best[0], mask ? l.select(mask, v, low) : v)};
    })[0]));
    Value total = l.splat(l.sum(l.vectors(a.length, zero, [&](Value j, Value mask, ValueRange sum) {
      Value e = Functions(l).exp(l.subf(l.loadVec(x, j, mask), top));
      if (!op.getLogarithm())
        l.storeLanes(e, l.at(y, j, l.f32()), mask);
      return Values{l.addf(sum[0], mask ? l.select(mask, e, zero) : e)};
    })[0]));
    // The maximum goes first: next to a large one the logarithm of the sum would be lost.
    Value share = op.getLogarithm() ? Functions(l).log(total) : Value();
    l.vectors(a.length, [&](Value j, Value mask) {
      Value v = share ? l.subf(l.subf(l.loadVec(x, j, mask), top), share) : l.divf(l.loadVec(y, j, mask), total);
      l.storeLanes(v, l.at(y, j, l.f32()), mask);
    });
  });
}

/// Along any other axis one thread takes a column, element by element.
LogicalResult heddle::loops::lowerSoftmax(Lower &l, SoftmaxOp op) {
  AroundAxis a(l, op.getType(), op.getAxis());
  Value from = l.pointer(op.getOperand()), to = l.allocatePointer(op->getResult(0));
  if (Code::known(a.inner) == 1) {
    softmaxRows(l, op, a, from, to);
  } else {
    l.forEach(op.getLoc(), l.mul(a.outer, a.inner), [&](Value i) {
      Value base = l.add({l.mul({l.div(i, a.inner), l.mul(a.length, a.inner)}), l.rem(i, a.inner)});
      auto place = [&](Value p, Value k) { return l.at(p, l.add(base, l.mul(k, a.inner)), l.f32()); };
      auto along = [&](Value first, llvm::function_ref<Value(Value, Value)> step) {
        return l.Code::loop(l.constant(0), a.length, 1, first, [&](Value k, ValueRange now) {
          return Values{step(l.load(l.f32(), place(from, k)), now[0])};
        })[0];
      };
      Value top =
          along(l.real(-std::numeric_limits<double>::infinity()), [&](Value x, Value m) { return l.maxf(m, x); });
      Value total = along(l.real(0.0), [&](Value x, Value s) { return l.addf(s, Functions(l).exp(l.subf(x, top))); });
      Value share = op.getLogarithm() ? Functions(l).log(total) : Value();
      l.Code::loop(l.constant(0), a.length, 1, [&](Value k) {
        Value below = l.subf(l.load(l.f32(), place(from, k)), top);
        l.store({share ? l.subf(below, share) : l.divf(Functions(l).exp(below), total), place(to, k)});
      });
    });
  }
  l.barrier(op.getLoc());
  return success();
}

/// An element stays when fewer than k come before it: at a lower index those that it does not beat, at a
/// higher one those that beat it. Rows are short (as many as there are experts).
LogicalResult heddle::loops::lowerTopK(Lower &l, TopKOp op) {
  ModelTensorType type = op.getType();
  AroundAxis a(l, type, type.getRank() - 1);
  Value from = l.pointer(op.getOperand()), to = l.allocatePointer(op->getResult(0));
  Value k = i64(l, op.getK());
  double fill = op.getFill().convertToDouble();
  l.forEach(op.getLoc(), l.mul(a.outer, a.length), [&](Value i) {
    Value row = l.at(from, l.mul(l.div(i, a.length), a.length), l.f32()), place = l.rem(i, a.length);
    Value x = l.loadF32(row, place);
    Value none = i64(l, 0), one = i64(l, 1);
    Value before = l.Code::loop(l.constant(0), place, 1, none, [&](Value j, ValueRange n) {
      return Values{arith::AddIOp::create(l.b, n[0], l.select(beats(l, x, l.loadF32(row, j)), none, one))};
    })[0];
    before = l.Code::loop(l.add(place, 1), a.length, 1, before, [&](Value j, ValueRange n) {
      return Values{arith::AddIOp::create(l.b, n[0], l.select(beats(l, l.loadF32(row, j), x), one, none))};
    })[0];
    Value stays = arith::CmpIOp::create(l.b, arith::CmpIPredicate::slt, before, k);
    l.store({l.select(stays, x, l.real(fill)), l.at(to, i, l.f32())});
  });
  l.barrier(op.getLoc());
  return success();
}
