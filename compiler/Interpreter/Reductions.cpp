//===- Reductions.cpp - what folds an axis, or runs along one -------------===//

#include "compiler/Interpreter/Evaluator.h"
#include "llvm/ADT/TypeSwitch.h"
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

using namespace mlir;
using namespace heddle;
using namespace heddle::evaluation;

/// Order in which a NaN is the largest, as in numpy.
static bool larger(double a, double b) { return a > b || (std::isnan(a) && !std::isnan(b)); }

static LogicalResult evaluate(Evaluator &e, model::ReduceOp op) {
  const Tensor &t = e.tensor(op.getOperand());
  model::ReduceKind kind = op.getKind();
  std::vector<int64_t> kept(t.shape); // folded axes have length 1
  int64_t folded = 1;
  for (int64_t axis : op.getAxes()) {
    folded *= kept[axis];
    kept[axis] = 1;
  }
  if (folded == 0 && (kind == model::ReduceKind::max || kind == model::ReduceKind::argmax))
    return op.emitOpError("takes the largest of no elements");

  bool argmax = kind == model::ReduceKind::argmax;
  Tensor out = Tensor::zeros(argmax ? Tensor::Kind::Int : t.kind, kept);
  std::vector<int64_t> best(product(kept), -1); // index of the largest so far
  for (Walk w(t.shape, {ArrayRef(kept)}); w.more(); w.next()) {
    int64_t from = w.here(), to = w.at(0);
    if (kind == model::ReduceKind::sum || kind == model::ReduceKind::mean) {
      if (t.kind == Tensor::Kind::Real)
        out.reals[to] += t.reals[from];
      else
        out.ints[to] += t.ints[from];
      continue;
    }
    bool better = best[to] < 0 || (t.kind == Tensor::Kind::Real ? larger(t.reals[from], t.reals[best[to]])
                                                                : t.ints[from] > t.ints[best[to]]);
    if (!better)
      continue;
    best[to] = from;
    if (argmax)
      out.ints[to] = w.index()[op.getAxes()[0]];
    else
      store(out, to, scalarOf(t, from));
  }
  if (kind == model::ReduceKind::mean)
    for (double &x : out.reals)
      x /= double(folded);
  e.set(op.getResult(), reshaped(std::move(out), e.shapeOf(op.getResult())));
  return success();
}

static LogicalResult evaluate(Evaluator &e, model::CumsumOp op) {
  Tensor t = e.tensor(op.getOperand());
  unsigned axis = op.getAxis();
  std::vector<int64_t> others(t.shape); // the sums so far, the axis left out
  others.erase(others.begin() + axis);
  Tensor sums = Tensor::zeros(t.kind, others);
  if (op.getInit()) {
    const Tensor &init = e.tensor(op.getInit());
    if (!stretches(init.shape, others))
      return op.emitOpError() << "cannot go on from " << showShape(init.shape) << ", the sums are "
                              << showShape(others);
    sums = stretched(init, others);
  }
  for (Walk w(t.shape, {}); w.more(); w.next()) {
    SmallVector<int64_t> index(w.index());
    index.erase(index.begin() + axis);
    int64_t sum = place(others, index);
    if (t.kind == Tensor::Kind::Real)
      t.reals[w.here()] = sums.reals[sum] += t.reals[w.here()];
    else
      t.ints[w.here()] = sums.ints[sum] += t.ints[w.here()];
  }
  e.set(op.getResult(), std::move(t));
  return success();
}

static LogicalResult evaluate(Evaluator &e, model::SoftmaxOp op) {
  Tensor t = e.tensor(op.getOperand());
  int64_t n = t.shape[op.getAxis()], step = strides(t.shape)[op.getAxis()];
  for (Walk w(t.shape, {}); w.more(); w.next()) {
    if (w.index()[op.getAxis()] != 0)
      continue;
    auto element = [&](int64_t i) -> double & { return t.reals[w.here() + i * step]; };
    double top = -std::numeric_limits<double>::infinity(), sum = 0;
    for (int64_t i = 0; i < n; ++i)
      top = larger(element(i), top) ? element(i) : top;
    for (int64_t i = 0; i < n; ++i)
      sum += std::exp(element(i) - top);
    for (int64_t i = 0; i < n; ++i)
      element(i) = op.getLogarithm() ? element(i) - top - std::log(sum) : std::exp(element(i) - top) / sum;
  }
  e.set(op.getResult(), std::move(t));
  return success();
}

/// Keeps the k largest; of equal ones that with the lower index.
static LogicalResult evaluate(Evaluator &e, model::TopKOp op) {
  Tensor t = e.tensor(op.getOperand());
  int64_t width = t.shape.back(), k = op.getK();
  std::vector<int64_t> order(width);
  for (int64_t first = 0; first < t.count(); first += width) {
    std::iota(order.begin(), order.end(), first);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return larger(t.reals[a], t.reals[b]); });
    for (int64_t i = k; i < width; ++i)
      t.reals[order[i]] = op.getFill().convertToDouble();
  }
  e.set(op.getResult(), std::move(t));
  return success();
}

Outcome evaluation::evaluateReductions(Evaluator &e, Operation *op) {
  return TypeSwitch<Operation *, Outcome>(op)
      .Case<model::ReduceOp, model::CumsumOp, model::SoftmaxOp, model::TopKOp>(
          [&](auto known) { return evaluate(e, known); })
      .Default([](Operation *) { return std::nullopt; });
}
