//===- Positions.cpp - places in a text or a picture, as features ---------===//

#include "compiler/Interpreter/Evaluator.h"
#include "llvm/ADT/TypeSwitch.h"
#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace heddle;
using namespace heddle::evaluation;

static LogicalResult evaluate(Evaluator &e, model::SinusoidalOp op) {
  const Tensor &positions = e.tensor(op.getPositions());
  int64_t width = op.getWidth(), half = width / 2;
  double theta = op.getTheta().convertToDouble();
  Tensor out = Tensor::zeros(Tensor::Kind::Real, e.shapeOf(op.getResult()));
  for (int64_t p = 0; p < positions.count(); ++p)
    for (int64_t i = 0; i < half; ++i) {
      double angle = positions.real(p) * std::pow(theta, -2.0 * double(i) / double(width));
      int64_t row = p * width;
      out.reals[row + (op.getHalves() ? i : 2 * i)] = std::sin(angle);
      out.reals[row + (op.getHalves() ? half + i : 2 * i + 1)] = std::cos(angle);
    }
  e.set(op.getResult(), std::move(out));
  return success();
}

/// x is [lead..., heads * width]; the angle of a pair is position[lead...] * frequency[.., pair].
static LogicalResult evaluate(Evaluator &e, model::RotaryOp op) {
  Tensor x = e.tensor(op.getInput());
  const Tensor &positions = e.tensor(op.getPositions()), &frequencies = e.tensor(op.getFrequencies());
  const Tensor &amplitude = e.tensor(op.getAmplitude());
  if (amplitude.count() != 1)
    return op.emitOpError() << "the amplitude is one number, found " << showShape(amplitude.shape);
  int64_t width = op.getHeadWidth(), features = x.shape.back(), heads = features / width;
  int64_t turned = frequencies.shape.back();
  // Frequencies are broadcast against [lead..., n], or with one more axis
  // against [lead..., heads, n].
  std::vector<int64_t> lead(x.shape.begin(), x.shape.end() - 1), angles(lead);
  bool perHead = frequencies.rank() > int64_t(lead.size()) + 1;
  if (perHead)
    angles.push_back(heads);
  ArrayRef<int64_t> outer = ArrayRef(frequencies.shape).drop_back();
  if (!stretches(positions.shape, lead) || !stretches(outer, angles))
    return op.emitOpError() << "positions " << showShape(positions.shape) << " and frequencies "
                            << showShape(frequencies.shape) << " do not fit " << showShape(x.shape);
  std::vector<int64_t> all(lead);
  all.push_back(heads);
  std::vector<int64_t> positionAxes(positions.shape), frequencyAxes = outer.vec();
  positionAxes.push_back(1);
  if (!perHead)
    frequencyAxes.push_back(1);
  double scale = amplitude.reals[0];
  for (Walk w(all, {ArrayRef(positionAxes), ArrayRef(frequencyAxes)}); w.more(); w.next()) {
    double *head = x.reals.data() + w.here() * width;
    for (int64_t i = 0; i < turned; ++i) {
      double angle = positions.real(w.at(0)) * frequencies.reals[w.at(1) * turned + i];
      double sine = std::sin(angle) * scale, cosine = std::cos(angle) * scale;
      double &first = head[op.getPairs() ? 2 * i : i], &second = head[op.getPairs() ? 2 * i + 1 : turned + i];
      double u = first, v = second;
      first = u * cosine - v * sine;
      second = v * cosine + u * sine;
    }
  }
  e.set(op.getResult(), std::move(x));
  return success();
}

/// The weight of a sample at distance `t` (Keys 1981, a = -3/4).
static double cubic(double t) {
  constexpr double a = -0.75;
  t = std::fabs(t);
  if (t <= 1)
    return (a + 2) * t * t * t - (a + 3) * t * t + 1;
  return t < 2 ? a * t * t * t - 5 * a * t * t + 8 * a * t - 4 * a : 0;
}

/// Resamples one axis to `size`: result i reads around (i + 1/2) / scale - 1/2;
/// beyond an edge the edge is repeated.
static Tensor resampled(const Tensor &x, unsigned axis, int64_t size, double scale, bool bicubic) {
  std::vector<int64_t> shape(x.shape);
  int64_t old = shape[axis];
  shape[axis] = size;
  Tensor out = Tensor::zeros(Tensor::Kind::Real, shape);
  for (Walk w(shape, {}); w.more(); w.next()) {
    SmallVector<int64_t> index(w.index());
    double position = std::clamp((double(index[axis]) + 0.5) / scale - 0.5, -4.0, double(old) + 4);
    int64_t left = int64_t(std::floor(position));
    double f = position - double(left);
    for (int64_t tap = bicubic ? -1 : 0; tap <= (bicubic ? 2 : 1); ++tap) {
      double weight = bicubic ? cubic(f - double(tap)) : tap == 0 ? 1 - f : f;
      index[axis] = std::clamp<int64_t>(left + tap, 0, old - 1);
      out.reals[w.here()] += x.reals[place(x.shape, index)] * weight;
    }
  }
  return out;
}

static LogicalResult evaluate(Evaluator &e, model::InterpolateOp op) {
  Tensor x = e.tensor(op.getInput());
  for (auto [i, form] : llvm::enumerate(op.getSizes().getAsValueRange<StringAttr>())) {
    FailureOr<int64_t> size = e.size(op, form);
    if (failed(size))
      return failure();
    unsigned axis = 1 + i;
    if (*size < 0 || (*size > 0 && x.shape[axis] == 0))
      return op.emitOpError() << "cannot make " << *size << " rows out of " << x.shape[axis];
    double scale = double(*size) / double(x.shape[axis]);
    if (!op.getScales().empty()) {
      const Tensor &given = e.tensor(op.getScales()[i]);
      if (given.count() != 1 || !(given.reals[0] > 0) || std::isinf(given.reals[0]))
        return op.emitOpError("a scale is one positive number");
      scale = given.reals[0];
    }
    x = resampled(x, axis, *size, scale, op.getBicubic());
  }
  e.set(op.getResult(), std::move(x));
  return success();
}

Outcome evaluation::evaluatePositions(Evaluator &e, Operation *op) {
  return TypeSwitch<Operation *, Outcome>(op)
      .Case<model::SinusoidalOp, model::RotaryOp, model::InterpolateOp>([&](auto known) { return evaluate(e, known); })
      .Default([](Operation *) { return std::nullopt; });
}
