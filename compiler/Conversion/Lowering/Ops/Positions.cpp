//===- Positions.cpp - sinusoids and rotary positions ---------------------===//
//
// Angles are products of a position and a frequency taken in f64: at position 100000 a
// product in f32 would already be off by a hundredth of a turn.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/Frame/Lowering.h"
#include "compiler/Conversion/Lowering/Language/Functions.h"
#include <cmath>

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using namespace heddle::model;
using Lower = heddle::loops::Lowering;

/// An element of a tensor of positions (i64 or f32) as f64.
static Value positionAt(Lower &l, Value base, Value index, Type element) {
  Value p = l.load(element, l.at(base, index, element));
  return element.isF32() ? Value(arith::ExtFOp::create(l.b, l.f64(), p))
                         : Value(arith::SIToFPOp::create(l.b, l.f64(), p));
}

/// Sinusoidal embeddings: for each position a row of `width` f32, sines and cosines of position · theta^(-2i/width),
/// side by side (s c s c) or in halves (s.. c..). The frequencies are a constant in f64.
static LogicalResult lowerSinusoidal(Lower &l, SinusoidalOp op) {
  Location loc = op.getLoc();
  int64_t half = op.getWidth() / 2;
  SmallVector<double> turns; // theta^(-2i/width)
  for (int64_t i = 0; i < half; ++i)
    turns.push_back(std::pow(op.getTheta().convertToDouble(), -2.0 * double(i) / double(op.getWidth())));
  Value frequencies =
      l.constantArray(DenseElementsAttr::get(RankedTensorType::get({half}, l.f64()), ArrayRef<double>(turns)));
  auto positions = op.getPositions().getType();
  Value from = l.pointer(op.getPositions()), to = l.allocatePointer(op->getResult(0));
  l.parallelFor(loc, l.count(positions), [&](Value p) {
    Value at = positionAt(l, from, p, positions.getElementType());
    Value row = l.at(to, l.mul(p, 2 * half), l.f32());
    l.elements(l.constant(half), [&](Value i) {
      auto [sine, cosine] = Functions(l).sinCos(l.mulf(at, l.load(l.f64(), l.at(frequencies, i, l.f64()))));
      Value s = op.getHalves() ? i : l.mul(i, 2), c = op.getHalves() ? l.add(i, half) : l.add(l.mul(i, 2), 1);
      l.store(sine, l.at(row, s, l.f32()));
      l.store(cosine, l.at(row, c, l.f32()));
    });
  });
  l.barrier(loc);
  return success();
}

/// Rotary embedding of x [.., heads · width]: feature pairs (u, v) of a head become (u·c - v·s, v·c + u·s). With n
/// frequencies the first 2n features of a head turn, paired as (2j, 2j+1) or as (j, j+n), and the rest are copied. A
/// thread takes a row; sine and cosine are computed once for each frequency and serve all heads. Positions broadcast
/// over the leading axes.
static LogicalResult lowerRotary(Lower &l, RotaryOp op) {
  Location loc = op.getLoc();
  ModelTensorType type = op.getType();
  auto positions = op.getPositions().getType(), frequencies = op.getFrequencies().getType();
  int64_t width = op.getHeadWidth(), rank = type.getRank();
  int64_t n = *frequencies.getSize(frequencies.getRank() - 1).constant();
  Value x = l.pointer(op.getInput()), y = l.allocatePointer(op->getResult(0));
  Value at = l.pointer(op.getPositions()), f = l.pointer(op.getFrequencies()), scale = l.pointer(op.getAmplitude());
  Value features = l.size(type.getSize(rank - 1)), heads = l.div(features, l.constant(width));
  SmallVector<Size> lead = type.getSizes();
  lead.pop_back();
  ModelTensorType rows = type.withSizes(lead);
  Values strides = l.strides(positions);
  l.parallelFor(loc, l.count(rows), [&](Value row) {
    Values index = l.unravel(rows, row);
    Value where = l.constant(0);
    for (int64_t k = 0; k < positions.getRank(); ++k)
      where = l.add(where, l.mul(index[rows.getRank() - positions.getRank() + k], strides[k]));
    Value position = positionAt(l, at, where, positions.getElementType());
    Value from = l.at(x, l.mul(row, features), l.f32()), to = l.at(y, l.mul(row, features), l.f32());
    Value amplitude = l.loadF32(scale, l.constant(0));
    bool pairs = op.getPairs();
    // One frequency (pairs) or a vector of them (halves).
    auto turn = [&](Value j, Value mask) {
      auto read = [&](Value base, Value i) {
        Value address = l.at(base, i, l.f32());
        return pairs ? l.load(l.f32(), address) : l.loadLanes(l.f32(), address, mask);
      };
      auto write = [&](Value v, Value base, Value i) {
        Value address = l.at(base, i, l.f32());
        pairs ? l.store(v, address) : l.storeLanes(v, address, mask);
      };
      Value g = read(f, j);
      Type wide = Code::with(g.getType(), l.f64());
      Value p = pairs ? position : l.splat(position), m = pairs ? amplitude : l.splat(amplitude);
      auto [sine, cosine] = Functions(l).sinCos(l.mulf(p, arith::ExtFOp::create(l.b, wide, g)));
      Value s = l.mulf(sine, m), c = l.mulf(cosine, m);
      l.Code::loop(l.constant(0), heads, 1, [&](Value h) {
        Value base = l.mul(h, width);
        Value a = l.add(base, pairs ? l.mul(j, 2) : j), b = l.add(base, pairs ? l.add(l.mul(j, 2), 1) : l.add(j, n));
        Value u = read(from, a), v = read(from, b);
        write(l.subf({l.mulf(u, c), l.mulf(v, s)}), to, a);
        write(l.addf({l.mulf(v, c), l.mulf(u, s)}), to, b);
      });
    };
    if (pairs)
      l.elements(l.constant(n), [&](Value j) { turn(j, {}); });
    else
      l.vectors(l.constant(n), [&](Value j, Value mask) { turn(j, mask); });
    if (2 * n < width)
      l.Code::loop(l.constant(0), heads, 1, [&](Value h) {
        Value rest = l.add(l.mul(h, width), 2 * n);
        l.vectors(l.constant(width - 2 * n), [&](Value j, Value mask) {
          l.storeLanes({l.loadVec(from, l.add(rest, j), mask), l.at(to, l.add(rest, j), l.f32())}, mask);
        });
      });
  });
  l.barrier(loc);
  return success();
}

LogicalResult heddle::loops::lowerPosition(Lower &l, Operation *op) {
  if (auto sinusoidal = dyn_cast<SinusoidalOp>(op))
    return lowerSinusoidal(l, sinusoidal);
  return lowerRotary(l, cast<RotaryOp>(op));
}
