//===- Norms.cpp - layer, rms, group, batch and l2 norms ------------------===//
//
// Layer, rms, group, batch and l2 norms. One thread normalises a row: sums run over vectors in a fixed order, the
// variance in a second pass, when the row is in the nearest cache.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ToLoops/Lowering.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using namespace heddle::model;
using Lower = heddle::loops::Lowering;

/// The sum of body(j, mask) over the vectors of a row of n elements. Four partial sums where the length allows, so that
/// additions need not wait for each other.
static Value rowSum(Lower &l, Value n, llvm::function_ref<Value(Value j, Value mask)> body) {
  Value zero = l.splat(l.real(0.0));
  constexpr int64_t unroll = 4;
  if (auto k = Code::known(n); k && *k > 0 && *k % (unroll * l.lanes) == 0) {
    Values sums = l.Code::loop(l.constant(0), n, unroll * l.lanes, Values(unroll, zero), [&](Value j, ValueRange sum) {
      Values next;
      for (int64_t u = 0; u < unroll; ++u)
        next.push_back(l.addf(sum[u], body(l.add(j, l.constant(u * l.lanes)), {})));
      return next;
    });
    return l.sum(l.addf({l.addf(sums[0], sums[1]), l.addf(sums[2], sums[3])}));
  }
  Values sum = l.vectors(n, zero, [&](Value j, Value mask, ValueRange sum) {
    Value v = body(j, mask);
    if (mask)
      v = l.select(mask, v, zero);
    return Values{l.addf(sum[0], v)};
  });
  return l.sum(sum[0]);
}

namespace {
/// A tensor as `count` rows of n elements along its last axis.
struct Rows {
  Value count, n;
  explicit Rows(Lower &l, ModelTensorType type)
      : count(l.count(type, 0, type.getRank() - 1)), n(l.size(type.getSize(type.getRank() - 1))) {}
};
} // namespace

/// Emits the loop over rows, which threads share: `start(row, n)` emits the statistics of a row and returns the
/// function (x[j], j, mask of lanes) -> y[j], emitted in a second loop over the row.
static void eachRow(Lower &l, Operation *op,
                    llvm::function_ref<std::function<Value(Value, Value, Value)>(Value row, Value n)> start) {
  Location loc = op->getLoc();
  auto type = cast<ModelTensorType>(op->getResult(0).getType());
  Rows rows(l, type);
  Value from = l.pointer(op->getOperand(0)), to = l.allocatePointer(op->getResult(0));
  Beside beside = l.machine.programs.beside ? l.machine.programs.beside(l, op) : Beside();
  l.parallelFor(loc, rows.count, [&](Value r) {
    Value at = l.mul(r, rows.n);
    Value x = l.at(from, at, l.f32()), y = l.at(to, at, l.f32());
    auto element = start(x, rows.n);
    l.vectors(rows.n, [&](Value j, Value mask) {
      Value elements = element(l.loadVec(x, j, mask), j, mask);
      if (!beside.alone)
        l.storeLanes({elements, l.at(y, j, l.f32())}, mask);
      if (beside.store)
        beside.store(r, j, mask, elements);
    });
  });
  l.barrier(loc);
}

/// Σ x[j]² over a row.
static Value sumOfSquares(Lower &l, Value x, Value n) {
  return rowSum(l, n, [&](Value j, Value mask) {
    Value v = l.loadVec(x, j, mask);
    return l.mulf(v, v);
  });
}

/// sum / n in f32.
static Value mean(Lower &l, Value sum, Value n) {
  return l.divf(sum, arith::SIToFPOp::create(l.b, l.f32(), l.toI64(n)));
}

/// (x - μ) / √(σ² + eps) · w + b; weight and bias may be absent.
static void lowerLayerNorm(Lower &l, LayerNormOp op) {
  Value w = op.getWeight() ? l.pointer(op.getWeight()) : Value();
  Value b = op.getBias() ? l.pointer(op.getBias()) : Value();
  double eps = op.getEps().convertToDouble();
  eachRow(l, op, [&](Value x, Value n) -> std::function<Value(Value, Value, Value)> {
    Value mu = l.splat(mean(l, rowSum(l, n, [&](Value j, Value mask) { return l.loadVec(x, j, mask); }), n));
    Value variance = mean(l,
                          rowSum(l, n,
                                 [&](Value j, Value mask) {
                                   Value d = l.subf(l.loadVec(x, j, mask), mu);
                                   return l.mulf(d, d);
                                 }),
                          n);
    Value scale = l.splat(l.divf(l.real(1.0), l.sqrt(l.addf(variance, l.real(eps)))));
    return [=, &l](Value v, Value j, Value mask) {
      Value y = l.mulf(l.subf(v, mu), scale);
      if (w && b)
        return l.fma({y, l.loadVec(w, j, mask), l.loadVec(b, j, mask)});
      return w ? l.mulf(y, l.loadVec(w, j, mask)) : b ? l.addf(y, l.loadVec(b, j, mask)) : y;
    };
  });
}

/// x / √(mean x² + eps) · (offset + w).
static void lowerRmsNorm(Lower &l, RmsNormOp op) {
  Value w = l.pointer(op.getWeight());
  double eps = op.getEps().convertToDouble(), offset = op.getOffset().convertToDouble();
  eachRow(l, op, [&](Value x, Value n) -> std::function<Value(Value, Value, Value)> {
    Value square = mean(l, sumOfSquares(l, x, n), n);
    Value scale = l.splat(l.divf(l.real(1.0), l.sqrt(l.addf(square, l.real(eps)))));
    return [=, &l](Value v, Value j, Value mask) {
      Value weight = l.loadVec(w, j, mask);
      if (offset != 0)
        weight = l.addf(weight, l.splat(l.real(offset)));
      return l.mulf(l.mulf(v, scale), weight);
    };
  });
}

/// x / max(‖x‖, eps).
static void lowerL2Norm(Lower &l, L2NormOp op) {
  double eps = op.getEps().convertToDouble();
  eachRow(l, op, [&](Value x, Value n) -> std::function<Value(Value, Value, Value)> {
    Value length = l.maxf(l.sqrt(sumOfSquares(l, x, n)), l.real(eps));
    Value scale = l.splat(length);
    return [=, &l](Value v, Value, Value) { return l.divf(v, scale); };
  });
}

/// (x - mean[j]) / √(var[j] + eps) · w[j] + b[j]: the statistics are weights, so rows need none of their own.
static void lowerBatchNorm(Lower &l, BatchNormOp op) {
  Value mu = l.pointer(op.getMean()), variance = l.pointer(op.getVariance());
  Value w = l.pointer(op.getWeight()), b = l.pointer(op.getBias());
  double eps = op.getEps().convertToDouble();
  eachRow(l, op, [&](Value, Value) -> std::function<Value(Value, Value, Value)> {
    return [=, &l](Value v, Value j, Value mask) {
      Value deviation = l.sqrt(l.addf({l.loadVec(variance, j, mask), l.splat(l.real(eps))}));
      Value y = l.divf(l.subf(v, l.loadVec(mu, j, mask)), deviation);
      return l.fma({y, l.loadVec(w, j, mask), l.loadVec(b, j, mask)});
    };
  });
}

/// x [batch, positions.., channels]; a thread takes one group of one batch element. Statistics go over all positions
/// and the group's channels, in f64, since these may be millions.
static void lowerGroupNorm(Lower &l, GroupNormOp op) {
  Location loc = op.getLoc();
  ModelTensorType type = op.getType();
  int64_t rank = type.getRank();
  Value batch = l.size(type.getSize(0)), places = l.count(type, 1, rank - 1), channels = l.size(type.getSize(rank - 1));
  Value groups = l.constant(op.getGroups()), width = l.div(channels, groups);
  Value from = l.pointer(op.getInput()), to = l.allocatePointer(op->getResult(0));
  Value w = l.pointer(op.getWeight()), b = l.pointer(op.getBias());
  double eps = op.getEps().convertToDouble();
  l.forEach(loc, l.mul(batch, groups), [&](Value i) {
    Value first = l.mul(l.rem(i, groups), width), base = l.mul({l.div(i, groups), l.mul(places, channels)});
    Value zero = l.real(l.f64(), 0.0);
    // The sum of f(x) over the group.
    auto total = [&](llvm::function_ref<Value(Value)> f) {
      return l.Code::loop(l.constant(0), places, 1, zero, [&](Value p, ValueRange outer) {
        return l.Code::loop(l.constant(0), width, 1, outer, [&](Value c, ValueRange sum) {
          Value at = l.add(base, l.add({l.mul(p, channels), l.add(first, c)}));
          Value x = arith::ExtFOp::create(l.b, l.f64(), l.loadF32(from, at));
          return Values{l.addf(sum[0], f(x))};
        });
      })[0];
    };
    Value n = arith::SIToFPOp::create(l.b, l.f64(), l.toI64(l.mul(places, width)));
    Value mu = l.divf(total([](Value x) { return x; }), n);
    Value variance = l.divf(total([&](Value x) {
                              Value d = l.subf(x, mu);
                              return l.mulf(d, d);
                            }),
                            n);
    Value scale = l.divf(l.real(l.f64(), 1.0), l.sqrt(l.addf(variance, l.real(l.f64(), eps))));
    l.Code::loop(l.constant(0), places, 1, [&](Value p) {
      l.Code::loop(l.constant(0), width, 1, [&](Value c) {
        Value channel = l.add(first, c), at = l.add(base, l.add(l.mul(p, channels), channel));
        Value x = arith::ExtFOp::create(l.b, l.f64(), l.loadF32(from, at));
        Value y = arith::TruncFOp::create(l.b, l.f32(), l.mulf(l.subf(x, mu), scale));
        l.store({l.fma({y, l.loadF32(w, channel), l.loadF32(b, channel)}), l.at(to, at, l.f32())});
      });
    });
  });
  l.barrier(loc);
}

LogicalResult heddle::loops::lowerNorm(Lower &l, Operation *op) {
  if (auto norm = dyn_cast<LayerNormOp>(op))
    lowerLayerNorm(l, norm);
  else if (auto norm = dyn_cast<RmsNormOp>(op))
    lowerRmsNorm(l, norm);
  else if (auto norm = dyn_cast<L2NormOp>(op))
    lowerL2Norm(l, norm);
  else if (auto norm = dyn_cast<BatchNormOp>(op))
    lowerBatchNorm(l, norm);
  else
    lowerGroupNorm(l, cast<GroupNormOp>(op));
  return success();
}
