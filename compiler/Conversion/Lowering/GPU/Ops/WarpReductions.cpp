//===- WarpReductions.cpp - sums, maxima, running sums, group norm --------===//
//
// Sums are f64, so what parts and lanes make of them differs from the sum of one thread in bits that no f32 shows but
// rarely; a running sum of f32 is done in the order of its axis, as everywhere, so that a step has a prefill's bits.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/Frame/Predicates.h"
#include "compiler/Conversion/Lowering/GPU/Ops/WarpOps.h"
#include "compiler/Conversion/Lowering/GPU/Ops/WarpScan.h"
#include "llvm/ADT/STLExtras.h"
#include <limits>

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using namespace heddle::model;
using Lower = heddle::loops::Lowering;

static Value i64(Lower &l, int64_t v) { return arith::ConstantOp::create(l.b, l.b.getI64IntegerAttr(v)); }

//===-- sums and maxima ----------------------------------------------------------------===//

/// Elements that one warp reduces where there are more than kLong of them.
static constexpr int64_t kPart = 1024, kLong = 4096;

/// How many elements, side by side in memory, a result is made of; none where they are not the last axes.
static std::optional<Size> rowOf(ReduceOp op) {
  ModelTensorType from = op.getOperand().getType();
  SmallVector<int64_t> gone(op.getAxes());
  llvm::sort(gone);
  Size row = 1;
  for (auto [i, axis] : llvm::enumerate(gone)) {
    if (axis != from.getRank() - int64_t(gone.size()) + int64_t(i))
      return std::nullopt;
    row = row * from.getSize(axis);
  }
  return row;
}

/// Parts of a row; 1 where a warp does all of it.
static int64_t partsOf(ReduceOp op) {
  std::optional<Size> row = rowOf(op);
  std::optional<int64_t> n = row ? row->constant() : std::nullopt;
  return n && *n > kLong ? (*n + kPart - 1) / kPart : 1;
}

Size heddle::loops::reduceScratch(ReduceOp op) {
  int64_t parts = partsOf(op);
  return parts > 1 ? op.getType().getCount() * Size(16 * parts) : Size(0);
}

namespace {
/// What is known of a row up to some element: the largest one and where it is, or the sum.
struct Reduction {
  Lower &l;
  ReduceOp op;
  Type element = op.getOperand().getType().getElementType();
  bool real = element.isF32();
  bool extreme = op.getKind() == ReduceKind::max || op.getKind() == ReduceKind::argmax;
  Type held = extreme || !real ? element : l.f64();

  Values none() {
    Value first = extreme ? real ? l.real(-std::numeric_limits<double>::infinity()) : i64(l, INT64_MIN)
                  : real  ? l.real(l.f64(), 0.0)
                          : i64(l, 0);
    Value at = i64(l, 0);
    return {first, at};
  }
  /// Of equal elements the first counts.
  Values join(ValueRange x, ValueRange y) {
    if (!extreme) {
      Value sum = real ? l.addf(x[0], y[0]) : Value(arith::AddIOp::create(l.b, x[0], y[0]));
      return {sum, x[1]};
    }
    Value more = beats(l, y[0], x[0]), less = beats(l, x[0], y[0]);
    Value before = arith::CmpIOp::create(l.b, arith::CmpIPredicate::slt, y[1], x[1]);
    Value same = l.select(less, l.equal(l.constant(0), l.constant(1)), before);
    Value theirs = arith::OrIOp::create(l.b, more, same);
    Value value = l.select(theirs, y[0], x[0]);
    return {value, l.select(theirs, y[1], x[1])};
  }
  Values loaded(Value row, Value i) {
    Value x = l.load(element, l.at(row, i, element));
    if (!extreme && real)
      x = arith::ExtFOp::create(l.b, held, x);
    return {x, l.toI64(i)};
  }
  Value finished(ValueRange whole, Value n) {
    if (op.getKind() == ReduceKind::argmax)
      return whole[1];
    Value value = whole[0];
    if (extreme || !real)
      return value;
    if (op.getKind() == ReduceKind::mean)
      value = l.divf(value, arith::SIToFPOp::create(l.b, held, l.toI64(n)));
    return arith::TruncFOp::create(l.b, l.f32(), value);
  }
};
} // namespace

/// What one warp makes of [from, to), whose elements `load` gives.
static Values reduceRange(Reduction &r, Value from, Value to, llvm::function_ref<Values(Value)> load) {
  WarpScan warp(r.l);
  Values mine = warp.each(from, to, r.none(), [&](Value i, Value inside, ValueRange now) {
    Values more = r.join(now, load(i)), kept;
    for (auto [yes, no] : llvm::zip_equal(more, now))
      kept.push_back(r.l.select(inside, yes, no));
    return kept;
  });
  return warp.all(mine, [&](ValueRange x, ValueRange y) { return r.join(x, y); });
}

bool heddle::loops::lowerWarpReduce(Lower &l, ReduceOp op) {
  std::optional<Size> row = rowOf(op);
  if (!row || row->constant().value_or(kWarp) < kWarp)
    return false;
  Location loc = op.getLoc();
  Reduction r{l, op};
  Type result = op.getType().getElementType(), word = l.b.getI64Type();
  Value source = l.pointer(op.getOperand()), target = l.allocatePointer(op->getResult(0));
  Length n = l.size(*row), outputs = l.count(op.getType());
  int64_t parts = partsOf(op);
  Value partial = parts > 1 ? l.scratchPointer(op) : Value();
  auto placeOf = [&](Value item, int64_t word8) { return l.at(partial, l.add(l.mul(item, 2), word8), word); };
  if (parts > 1) {
    l.parallelFor(loc, l.mul(outputs, parts), [&](Value item) {
      Value out = l.div(item, l.constant(parts)), from = l.mul(l.rem(item, l.constant(parts)), kPart);
      Value base = l.at(source, l.mul(out, n), r.element), to = l.min(n, l.add(from, kPart));
      Values made = reduceRange(r, from, to, [&](Value i) { return r.loaded(base, i); });
      l.store(made[0], placeOf(item, 0));
      l.store(made[1], placeOf(item, 1));
    });
    l.barrier(loc);
    l.noteCost([&] { return Cost{"reduce", 0, false, reduceScratch(op), bytesWhereItLies(op.getResult())}; });
  }
  l.parallelFor(loc, outputs, [&](Value out) {
    Value base = l.at(source, l.mul(out, n), r.element), end = parts > 1 ? l.constant(parts) : n;
    Values made = reduceRange(r, l.constant(0), end, [&](Value i) -> Values {
      if (parts == 1)
        return r.loaded(base, i);
      Value item = l.add(l.mul(out, parts), i), value = l.load(r.held, placeOf(item, 0));
      return {value, l.load(word, placeOf(item, 1))};
    });
    Value value = r.finished(made, n);
    l.store(value, l.at(target, out, result));
  });
  l.barrier(loc);
  return true;
}

//===-- running sums -------------------------------------------------------------------===//

bool heddle::loops::lowerWarpCumsum(Lower &l, CumsumOp op) {
  ModelTensorType type = op.getType();
  Size inner = 1;
  for (int64_t i = op.getAxis() + 1; i < type.getRank(); ++i)
    inner = inner * type.getSize(i);
  if (!inner.is(1)) // neighbouring threads have neighbouring elements
    return false;
  Type element = type.getElementType();
  Value length = l.size(type.getSize(op.getAxis())), from = l.pointer(op.getOperand());
  Value to = l.allocatePointer(op->getResult(0)), init = op.getInit() ? l.pointer(op.getInit()) : Value();
  l.parallelFor(op.getLoc(), l.count(type, 0, op.getAxis()), [&](Value row) {
    WarpScan warp(l);
    Value zero = element.isF32() ? l.real(0.0) : i64(l, 0);
    Value first = init ? l.load(element, l.at(init, row, element)) : zero, base = l.mul(row, length);
    warp.each(l.constant(0), length, first, [&](Value i, Value inside, ValueRange before) -> Values {
      Value place = l.add(base, i), x = l.load(element, l.at(from, place, element));
      Value mine, all;
      if (element.isF32()) {
        Values sums = l.loop(l.constant(0), l.constant(kWarp), 1, ValueRange{before[0], zero},
                             [&](Value k, ValueRange now) -> Values {
                               Value next = l.addf(now[0], warp.of(x, k));
                               return {next, l.select(l.equal(k, warp.lane), next, now[1])};
                             });
        all = sums[0], mine = sums[1];
      } else {
        auto sum = [&](Value a, Value c) -> Value { return arith::AddIOp::create(l.b, a, c); };
        mine = sum(before[0], warp.upTo(l.select(inside, x, zero), sum));
        all = warp.of(mine, l.constant(kWarp - 1));
      }
      l.when(inside, [&] { l.store(mine, l.at(to, place, element)); });
      return {all};
    });
  });
  l.barrier(op.getLoc());
  return true;
}

//===-- group norm ---------------------------------------------------------------------===//

/// Positions of a part.
static constexpr int64_t kPlaces = 256;

static Size placesOf(GroupNormOp op) {
  ModelTensorType type = op.getType();
  Size places = 1;
  for (int64_t i = 1; i + 1 < type.getRank(); ++i)
    places = places * type.getSize(i);
  return places;
}
static Size partsOf(GroupNormOp op) { return (placesOf(op) + Size(kPlaces - 1)).floorDiv(Size(kPlaces)); }
/// Bytes of one f64 for each part of each group.
static Size sumsOf(GroupNormOp op) { return op.getType().getSize(0) * partsOf(op) * Size(int64_t(op.getGroups()) * 8); }
Size heddle::loops::groupNormScratch(GroupNormOp op) { return sumsOf(op) * Size(2); }

/// x [batch, positions.., channels]. An item is a part of the positions of one group; neighbours have neighbouring
/// groups. First the sums of x by parts, then those of (x - mean)^2, then the result: each item adds up what all parts
/// of its group have left, in their order.
void heddle::loops::lowerWarpGroupNorm(Lower &l, GroupNormOp op) {
  Location loc = op.getLoc();
  ModelTensorType type = op.getType();
  Type f64 = l.f64();
  Length batch = l.size(type.getSize(0)), places = l.size(placesOf(op)),
         channels = l.size(type.getSize(type.getRank() - 1));
  Length groups = l.number(op.getGroups()), width = l.div(channels, groups), parts = l.size(partsOf(op));
  Value from = l.pointer(op.getInput()), to = l.allocatePointer(op->getResult(0));
  Value w = l.pointer(op.getWeight()), b = l.pointer(op.getBias());
  Value sums = l.scratchPointer(op), squares = l.at({sums, l.size(sumsOf(op))}, l.b.getI8Type());
  Value zero = l.real(f64, 0.0), eps = l.real(f64, op.getEps().convertToDouble());
  Value count = arith::SIToFPOp::create(l.b, f64, l.toI64(l.mul(places, width)));

  struct Item {
    Value number, group, element, begin, end;
  };
  auto each = [&](llvm::function_ref<void(const Item &)> body) {
    l.forEach(loc, l.mul(l.mul(batch, parts), groups), [&](Value i) {
      Value rest = l.div(i, groups), part = l.rem(rest, parts), begin = l.mul(part, kPlaces);
      body({i, l.rem(i, groups), l.div(rest, parts), begin, l.min(places, l.add(begin, kPlaces))});
    });
    l.barrier(loc);
  };
  auto mean = [&](Value table, const Item &item) {
    Value sum = l.Code::loop(l.constant(0), parts, 1, zero, [&](Value p, ValueRange now) {
      Value at = l.add(l.mul(l.add(l.mul(item.element, parts), p), groups), item.group);
      return Values{l.addf(now[0], l.load(f64, l.at(table, at, f64)))};
    })[0];
    return l.divf(sum, count);
  };
  auto walk = [&](const Item &item, ValueRange init, llvm::function_ref<Values(Value, Value, ValueRange)> body) {
    Value first = l.mul(item.group, width), base = l.mul(item.element, places);
    return l.Code::loop(item.begin, item.end, 1, init, [&](Value p, ValueRange outer) {
      Value row = l.mul(l.add(base, p), channels);
      return l.Code::loop(l.constant(0), width, 1, outer, [&](Value c, ValueRange now) {
        Value channel = l.add(first, c);
        return body(l.add(row, channel), channel, now);
      });
    });
  };
  auto wide = [&](Value at) -> Value { return arith::ExtFOp::create(l.b, f64, l.loadF32(from, at)); };
  auto spendSums = [&] {
    l.noteCost([&] { return Cost{"group_norm", 0, false, bytesWhereItLies(op.getInput()), sumsOf(op)}; });
  };

  each([&](const Item &item) {
    Values sum = walk(item, zero, [&](Value at, Value, ValueRange now) { return Values{l.addf(now[0], wide(at))}; });
    l.store(sum[0], l.at(sums, item.number, f64));
  });
  spendSums();
  each([&](const Item &item) {
    Value mu = mean(sums, item);
    Values sum = walk(item, zero, [&](Value at, Value, ValueRange now) {
      Value d = l.subf(wide(at), mu);
      return Values{l.addf(now[0], l.mulf(d, d))};
    });
    l.store(sum[0], l.at(squares, item.number, f64));
  });
  spendSums();
  each([&](const Item &item) {
    Value mu = mean(sums, item), variance = mean(squares, item);
    Value scale = l.divf(l.real(f64, 1.0), l.sqrt(l.addf(variance, eps)));
    walk(item, {}, [&](Value at, Value channel, ValueRange) {
      Value y = arith::TruncFOp::create(l.b, l.f32(), l.mulf(l.subf(wide(at), mu), scale));
      l.store({l.fma({y, l.loadF32(w, channel), l.loadF32(b, channel)}), l.at(to, at, l.f32())});
      return Values{};
    });
  });
}
