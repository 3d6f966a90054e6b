//===- Norms.cpp - statistics over features, groups and files -------------===//

#include "compiler/Interpreter/Evaluator.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace heddle;
using namespace heddle::evaluation;

/// Calls f on every row along the last axis.
static void forEachRow(Tensor &t, llvm::function_ref<void(MutableArrayRef<double>)> f) {
  int64_t width = t.shape.back();
  for (int64_t at = 0; at < t.count(); at += width)
    f(MutableArrayRef<double>(t.reals).slice(at, width));
}

static LogicalResult evaluate(Evaluator &e, model::LayerNormOp op) {
  Tensor t = e.tensor(op.getInput());
  forEachRow(t, [&](MutableArrayRef<double> row) {
    double n = row.size(), mean = 0, variance = 0;
    for (double x : row)
      mean += x;
    mean /= n;
    for (double x : row)
      variance += (x - mean) * (x - mean);
    variance /= n;
    for (auto [i, x] : llvm::enumerate(row)) {
      x = (x - mean) / std::sqrt(variance + op.getEps().convertToDouble());
      if (op.getWeight())
        x *= e.tensor(op.getWeight()).reals[i];
      if (op.getBias())
        x += e.tensor(op.getBias()).reals[i];
    }
  });
  e.set(op.getResult(), std::move(t));
  return success();
}

static LogicalResult evaluate(Evaluator &e, model::RmsNormOp op) {
  Tensor t = e.tensor(op.getInput());
  const Tensor &weight = e.tensor(op.getWeight());
  forEachRow(t, [&](MutableArrayRef<double> row) {
    double square = 0;
    for (double x : row)
      square += x * x;
    square /= double(row.size());
    for (auto [i, x] : llvm::enumerate(row))
      x = x / std::sqrt(square + op.getEps().convertToDouble()) * (op.getOffset().convertToDouble() + weight.reals[i]);
  });
  e.set(op.getResult(), std::move(t));
  return success();
}

static LogicalResult evaluate(Evaluator &e, model::GroupNormOp op) {
  const Tensor &x = e.tensor(op.getInput()), &weight = e.tensor(op.getWeight()), &bias = e.tensor(op.getBias());
  Tensor out = x;
  int64_t batches = x.shape[0], channels = x.shape.back(), width = channels / int64_t(op.getGroups());
  int64_t places = product(ArrayRef(x.shape).drop_front().drop_back());
  for (int64_t b = 0; b < batches; ++b)
    for (int64_t first = 0; first < channels; first += width) {
      double n = double(places * width), mean = 0, variance = 0;
      auto each = [&](auto f) {
        for (int64_t p = 0; p < places; ++p)
          for (int64_t c = first; c < first + width; ++c)
            f((b * places + p) * channels + c, c);
      };
      each([&](int64_t at, int64_t) { mean += x.reals[at]; });
      mean /= n;
      each([&](int64_t at, int64_t) { variance += (x.reals[at] - mean) * (x.reals[at] - mean); });
      variance /= n;
      each([&](int64_t at, int64_t c) {
        out.reals[at] = (x.reals[at] - mean) / std::sqrt(variance + op.getEps().convertToDouble()) * weight.reals[c] +
                        bias.reals[c];
      });
    }
  e.set(op.getResult(), std::move(out));
  return success();
}

static LogicalResult evaluate(Evaluator &e, model::BatchNormOp op) {
  Tensor t = e.tensor(op.getInput());
  const Tensor &mean = e.tensor(op.getMean()), &variance = e.tensor(op.getVariance());
  const Tensor &weight = e.tensor(op.getWeight()), &bias = e.tensor(op.getBias());
  forEachRow(t, [&](MutableArrayRef<double> row) {
    for (auto [i, x] : llvm::enumerate(row))
      x = (x - mean.reals[i]) / std::sqrt(variance.reals[i] + op.getEps().convertToDouble()) * weight.reals[i] +
          bias.reals[i];
  });
  e.set(op.getResult(), std::move(t));
  return success();
}

static LogicalResult evaluate(Evaluator &e, model::L2NormOp op) {
  Tensor t = e.tensor(op.getInput());
  forEachRow(t, [&](MutableArrayRef<double> row) {
    double square = 0;
    for (double x : row)
      square += x * x;
    double length = std::max(std::sqrt(square), op.getEps().convertToDouble());
    for (double &x : row)
      x /= length;
  });
  e.set(op.getResult(), std::move(t));
  return success();
}

Outcome evaluation::evaluateNorms(Evaluator &e, Operation *op) {
  return TypeSwitch<Operation *, Outcome>(op)
      .Case<model::LayerNormOp, model::RmsNormOp, model::GroupNormOp, model::BatchNormOp, model::L2NormOp>(
          [&](auto known) { return evaluate(e, known); })
      .Default([](Operation *) { return std::nullopt; });
}
