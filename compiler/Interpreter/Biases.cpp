//===- Biases.cpp - what is added to a score ------------------------------===//

#include "compiler/Interpreter/Grids.h"
#include "llvm/ADT/TypeSwitch.h"
#include <algorithm>

using namespace mlir;
using namespace heddle;
using namespace heddle::evaluation;

namespace {
LogicalResult define(Evaluator &e, Operation *op, std::function<double(const Pair &)> add,
                     std::function<LogicalResult(const Grid &)> fits) {
  e.set(op->getResult(0), BiasValue{std::move(add), std::move(fits)});
  return success();
}

LogicalResult needHeads(Operation *op, int64_t have, const Grid &g) {
  if (have != g.heads)
    return op->emitOpError() << "is made for " << have << " heads, the attention has " << g.heads;
  return success();
}

LogicalResult evaluate(Evaluator &e, attn::AlibiOp op) {
  TensorRef slopes = e.ref(op.getSlopes());
  if (slopes->rank() != 1)
    return op.emitOpError() << "slopes must be [heads], found " << showShape(slopes->shape);
  bool symmetric = op.getSymmetric();
  return define(
      e, op,
      [=](const Pair &p) {
        int64_t distance = p.target - p.query;
        return slopes->reals[p.head] * double(symmetric ? -std::abs(distance) : distance);
      },
      [=](const Grid &g) { return needHeads(op, slopes->count(), g); });
}

LogicalResult evaluate(Evaluator &e, attn::BucketBiasOp op) {
  TensorRef table = e.ref(op.getTable());
  int64_t buckets = table->shape[0], heads = table->shape[1], far = op.getMaxDistance();
  bool twoSided = op.getTwoSided();
  return define(
      e, op,
      [=](const Pair &p) {
        return table->reals[attn::bucketOf(p.target - p.query, buckets, far, twoSided) * heads + p.head];
      },
      [=](const Grid &g) { return needHeads(op, heads, g); });
}

/// The product of a row of x, the query's or the key's, with row clip(zero + i - j) of the
/// table, over the features of one head.
LogicalResult evaluate(Evaluator &e, attn::RelativeDotOp op) {
  TensorRef x = e.ref(op.getX()), table = e.ref(op.getTable());
  FailureOr<int64_t> zero = e.size(op, op.getZero());
  if (failed(zero))
    return failure();
  int64_t heads = op.getHeads();
  if (x->rank() != 3 || heads < 1 || x->shape[2] % heads || table->rank() != 2 || table->shape[0] < 1 ||
      (table->shape[1] != x->shape[2] && table->shape[1] != x->shape[2] / heads))
    return op.emitOpError() << "x must be [B, rows, " << heads << " x width] and the table [rows, width or " << heads
                            << " x width], found " << showShape(x->shape) << " and " << showShape(table->shape);
  int64_t features = x->shape[2], width = features / heads;
  int64_t perHead = table->shape[1] == features ? width : 0; // where head h's part of a table row begins: h * perHead
  bool keySide = op.getKeySide();
  SmallVector<int64_t> bucket;
  if (op.getBucket())
    bucket.assign(op.getBucket()->begin(), op.getBucket()->end());
  if (op.getBucket() && (bucket.size() != 2 || bucket[0] < 4 || bucket[1] <= bucket[0] / 2 + 1))
    return op.emitOpError("'bucket' must be [size, far] with size >= 4 and far past its half");
  return define(
      e, op,
      [=, zero = *zero](const Pair &p) {
        int64_t distance = p.query - p.target;
        if (!bucket.empty())
          distance = attn::logBucketOf(distance, bucket[0], bucket[1]);
        int64_t entry = std::clamp<int64_t>(zero + distance, 0, table->shape[0] - 1);
        int64_t batch = x->shape[0] == 1 ? 0 : p.batch, row = keySide ? p.key : p.row;
        const double *a = &x->reals[(batch * x->shape[1] + row) * features + p.head * width];
        const double *b = &table->reals[entry * table->shape[1] + p.head * perHead];
        double sum = 0;
        for (int64_t d = 0; d < width; ++d)
          sum += a[d] * b[d];
        return sum;
      },
      [=](const Grid &g) -> LogicalResult {
        if (x->shape[1] != (keySide ? g.keys : g.rows) || (x->shape[0] != 1 && x->shape[0] != g.batches))
          return op->emitOpError() << "x is " << showShape(x->shape) << ", the attention has " << g.batches
                                   << " batches of " << (keySide ? g.keys : g.rows) << " rows";
        return needHeads(op, heads, g);
      });
}

LogicalResult evaluate(Evaluator &e, attn::DenseBiasOp op) {
  Along t = Along::dense(op, e.ref(op.getTensor()));
  return define(e, op, [t](const Pair &p) { return t.real(p); }, [t](const Grid &g) { return t.fits(g); });
}

LogicalResult evaluate(Evaluator &e, attn::BiasAddOp op) {
  BiasValue a = e.bias(op.getLhs()), b = e.bias(op.getRhs());
  return define(
      e, op, [=](const Pair &p) { return a.add(p) + b.add(p); },
      [=](const Grid &g) { return success(succeeded(a.fits(g)) && succeeded(b.fits(g))); });
}

LogicalResult evaluate(Evaluator &e, attn::BiasScaleOp op) {
  BiasValue a = e.bias(op.getOperand());
  double factor = op.getFactor().convertToDouble();
  return define(e, op, [=](const Pair &p) { return a.add(p) * factor; }, a.fits);
}

LogicalResult evaluate(Evaluator &e, attn::AlibiSlopesOp op) {
  std::vector<double> slopes = attn::alibiSlopes(op.getHeads());
  int64_t heads = slopes.size();
  e.set(op.getResult(), Tensor::ofReals({heads}, std::move(slopes)));
  return success();
}
} // namespace

Outcome evaluation::evaluateBiases(Evaluator &e, Operation *op) {
  return TypeSwitch<Operation *, Outcome>(op)
      .Case<attn::AlibiOp, attn::BucketBiasOp, attn::RelativeDotOp, attn::DenseBiasOp, attn::BiasAddOp,
            attn::BiasScaleOp, attn::AlibiSlopesOp>([&](auto known) { return evaluate(e, known); })
      .Default([](Operation *) { return std::nullopt; });
}
