//===- Norms.cpp - layer, rms, group, batch and l2 norms ------------------===//
//
// Layer, rms, group, batch and l2 norms. One thread normalises a row: sums run over vectors in a fixed order, the
// variance in a second pass, when the row is in the nearest cache.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/Frame/Lowering.h"

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
struct NormRows {
  Length count, n;
  explicit NormRows(Lower &l, ModelTensorType type)
      : count(l.count(type, 0, type.getRank() - 1)), n(l.size(type.getSize(type.getRank() - 1))) {}
};
} // namespace

/// Emits the loop over rows, which threads share: `start(row, n)` emits the statistics of a row and returns the
/// function (x[j], j, mask of lanes) -> y[j], emitted in a second loop over the row.
static void eachRow(Lower &l, Operation *op,
                    llvm::function_ref<std::function<Value(Value, Value, Value)>(Value row, Value n)> start) {
  Location loc = op->getLoc();
  auto type = cast<ModelTensorType>(op->getResult(0).getType());
  NormRows rows(l, type);
  Value from = l.pointer(op->getOperand(0)), to = l.allocatePointer(op->getResult(0));
  ExtraStore extra = l.machine.programs.extraStore ? l.machine.programs.extraStore(l, op) : ExtraStore();
  l.parallelFor(loc, rows.count, [&](Value r) {
    Value at = l.mul(r, rows.n);
    Value x = l.at(from, at, l.f32()), y = l.at(to, at, l.f32());
    auto element = start(x, rows.n);
    l.vectors(rows.n, [&](Value j, Value mask) {
      Value elements = element(l.loadVec(x, j, mask), j, mask);
      if (!extra.alone)
        l.storeLanes({elements, l.at(y, j, l.f32())}, mask);
      if (extra.store)
        extra.store(r, j, mask, elements);
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

namespace {
/// What the statistics of a group norm are over: x [batch, places, channels].
struct Grouped {
  Length batch, places, channels;
  Value from, to, w, b;
  double eps;
  Grouped(Lower &l, GroupNormOp op) {
    ModelTensorType type = op.getType();
    int64_t rank = type.getRank();
    batch = l.size(type.getSize(0)), places = l.count(type, 1, rank - 1), channels = l.size(type.getSize(rank - 1));
    from = l.pointer(op.getInput()), to = l.allocatePointer(op->getResult(0));
    w = l.pointer(op.getWeight()), b = l.pointer(op.getBias());
    eps = op.getEps().convertToDouble();
  }
};
} // namespace

/// Every channel of its own, `count` vectors of channels from `first` on: the sums of a channel are those of a group
/// of one channel below, to the bit, and memory is read by whole lines, where a channel alone takes 4 bytes of each.
static void normChannels(Lower &l, const Grouped &g, Value element, Value first, int64_t count, Value mask) {
  Type wide = l.vec(l.f64());
  Value start = l.add(l.mul(element, l.mul(g.places, g.channels)), first);
  auto placeOf = [&](Value p, int64_t u) { return l.add(l.add(start, l.mul(p, g.channels)), l.constant(u * l.lanes)); };
  auto load = [&](Value p, int64_t u) {
    return Value(arith::ExtFOp::create(l.b, wide, l.loadVec(g.from, placeOf(p, u), mask)));
  };
  auto eachVector = [&](llvm::function_ref<Value(int64_t)> f) {
    Values all;
    for (int64_t u = 0; u < count; ++u)
      all.push_back(f(u));
    return all;
  };
  Value n = l.splat(arith::SIToFPOp::create(l.b, l.f64(), l.toI64(g.places)));
  auto means = [&](llvm::function_ref<Value(Value x, int64_t u)> f) {
    Values zeros(count, l.splat(l.real(l.f64(), 0.0)));
    Values sums = l.Code::loop(l.constant(0), g.places, 1, zeros, [&](Value p, ValueRange sum) {
      return eachVector([&](int64_t u) { return l.addf(sum[u], f(load(p, u), u)); });
    });
    return eachVector([&](int64_t u) { return l.divf(sums[u], n); });
  };
  Values mu = means([](Value x, int64_t) { return x; });
  Values variance = means([&](Value x, int64_t u) {
    Value d = l.subf(x, mu[u]);
    return l.mulf(d, d);
  });
  Value one = l.splat(l.real(l.f64(), 1.0)), eps = l.splat(l.real(l.f64(), g.eps));
  Values scale = eachVector([&](int64_t u) { return l.divf(one, l.sqrt(l.addf(variance[u], eps))); });
  auto ofChannels = [&](Value from) {
    return eachVector([&](int64_t u) { return l.loadVec(from, l.add(first, l.constant(u * l.lanes)), mask); });
  };
  Values w = ofChannels(g.w), b = ofChannels(g.b);
  l.Code::loop(l.constant(0), g.places, 1, [&](Value p) {
    for (int64_t u = 0; u < count; ++u) {
      Value y = arith::TruncFOp::create(l.b, l.vec(l.f32()), l.mulf(l.subf(load(p, u), mu[u]), scale[u]));
      Value normed = l.fma({y, w[u], b[u]});
      l.storeLanes(normed, l.at(g.to, placeOf(p, u), l.f32()), mask);
    }
  });
}

/// As many groups as channels. Items are some vectors of channels of one batch element, then single vectors.
static void lowerChannelNorm(Lower &l, GroupNormOp op, int64_t channels) {
  constexpr int64_t kTogether = 4;
  Grouped g(l, op);
  auto items = [&](int64_t begin, int64_t end, int64_t count) {
    int64_t span = count * l.lanes, each = (end - begin + span - 1) / span;
    if (begin == end)
      return;
    l.parallelFor(op.getLoc(), l.mul(g.batch, each), [&](Value i) {
      Value first = l.add(l.mul(l.rem(i, l.constant(each)), span), begin);
      Value mask = end % l.lanes ? l.firstLanes(l.sub(l.constant(end), first)) : Value();
      normChannels(l, g, l.div(i, l.constant(each)), first, count, mask);
    });
  };
  int64_t whole = channels / (kTogether * l.lanes) * (kTogether * l.lanes);
  items(0, whole, kTogether);
  items(whole, channels, 1);
  l.barrier(op.getLoc());
}

/// x [batch, positions.., channels]; a thread takes one group of one batch element. Statistics go over all positions
/// and the group's channels, in f64, since these may be millions.
static void lowerGroupNorm(Lower &l, GroupNormOp op) {
  Location loc = op.getLoc();
  ModelTensorType type = op.getType();
  std::optional<int64_t> known = Code::known(l.size(type.getSize(type.getRank() - 1)));
  if (known && *known == int64_t(op.getGroups()))
    return lowerChannelNorm(l, op, *known);
  Grouped g(l, op);
  Length channels = g.channels, places = g.places, groups = l.number(op.getGroups()), width = l.div(channels, groups);
  Value from = g.from, to = g.to, w = g.w, b = g.b;
  l.forEach(loc, l.mul(g.batch, groups), [&](Value i) {
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
    Value scale = l.divf(l.real(l.f64(), 1.0), l.sqrt(l.addf(variance, l.real(l.f64(), g.eps))));
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
