//===- Attention.cpp - softmax(scale q k -> softcap -> + bias -> mask) v ------===//

#include "compiler/Interpreter/Evaluator.h"
#include "dialects/Model/IR/Arithmetic.h"
#include "dialects/Model/IR/ReservedDims.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace heddle;
using namespace heddle::evaluation;

static constexpr double infinity = std::numeric_limits<double>::infinity();

namespace {
/// One attention: the layout of its heads in memory, and its formula for one
/// row.
struct Attention {
  const Tensor &q, &k, &v;
  Grid grid;
  double scale;
  std::optional<double> softcap;
  attn::MaskedRows blind;
  const MaskValue *mask = nullptr;
  const BiasValue *bias = nullptr;
  const Tensor *sinks = nullptr;
  int64_t group, width, valueWidth; // query heads of a key head; features of a head
  bool counted = false;             // the mask counts; without `+` it only says whether
  std::vector<int64_t> behind;      // for each batch element: how many positions less than `past` are there

  int64_t keysOf(int64_t batch) const { return behind.empty() ? grid.keys : grid.keys - behind[batch]; }
  int64_t pastOf(int64_t batch) const { return behind.empty() ? grid.past : grid.past - behind[batch]; }

  /// The features of one head in one row; a batch axis of 1 is shared by all
  /// batches.
  const double *features(const Tensor &t, int64_t batch, int64_t row, int64_t head, int64_t width) const {
    return t.reals.data() + ((t.shape[0] == 1 ? 0 : batch) * t.shape[1] + row) * t.shape[2] + head * width;
  }
  /// The score after softcap and bias.
  double score(const Pair &p) const {
    const double *x = features(q, p.batch, p.row, p.head, width);
    const double *y = features(k, p.batch, p.key, p.head / group, width);
    double s = 0;
    for (int64_t d = 0; d < width; ++d)
      s += x[d] * y[d];
    s *= scale;
    if (softcap)
      s = std::tanh(s / *softcap) * *softcap;
    return bias ? s + bias->add(p) : s;
  }
  void row(int64_t batch, int64_t head, int64_t row, double *out) const;
  void blindRow(int64_t batch, int64_t head, double *out) const;
};
} // namespace

void Attention::row(int64_t batch, int64_t head, int64_t row, double *out) const {
  struct Seen {
    int64_t key, count;
    double score;
  };
  std::vector<Seen> seen;
  double sink = sinks ? sinks->reals[head] : -infinity, top = sink;
  for (int64_t key = 0; key < keysOf(batch); ++key) {
    Pair p{batch, head, row, key, pastOf(batch) + row, grid.keyStart + key};
    int64_t count = !mask ? 1 : counted ? mask->sees(p) : mask->sees(p) > 0;
    if (count <= 0) // hidden: its score does not matter, be it a NaN
      continue;
    double s = score(p);
    if (s == -infinity)
      continue;
    seen.push_back({key, count, s});
    top = std::max(top, s);
  }
  if (seen.empty())
    return blindRow(batch, head, out);
  double sum = sinks ? std::exp(sink - top) : 0;
  for (const Seen &one : seen)
    sum += double(one.count) * std::exp(one.score - top);
  for (const Seen &one : seen) {
    double weight = double(one.count) * std::exp(one.score - top) / sum;
    const double *value = features(v, batch, one.key, head / group, valueWidth);
    for (int64_t d = 0; d < valueWidth; ++d)
      out[d] += weight * value[d];
  }
}

/// A row that sees no key: zeros, unless `--masked-rows` asks for another
/// convention.
void Attention::blindRow(int64_t batch, int64_t head, double *out) const {
  if (blind == attn::MaskedRows::nan)
    std::fill_n(out, valueWidth, std::numeric_limits<double>::quiet_NaN());
  if (blind == attn::MaskedRows::mean)
    for (int64_t key = 0; key < keysOf(batch); ++key)
      for (int64_t d = 0; d < valueWidth; ++d)
        out[d] += features(v, batch, key, head / group, valueWidth)[d] / double(keysOf(batch));
}

/// One op: rounds its operands as a binary stores them, then computes every row of every head in f64 by the formula.
static LogicalResult evaluate(Evaluator &e, attn::SdpaOp op) {
  FailureOr<int64_t> past = e.size(op, op.getPast()), keyStart = e.size(op, op.getKeyStart());
  if (failed(past) || failed(keyStart))
    return failure();
  model::Arithmetic arithmetic = model::attentionArithmeticOf(op);
  TensorRef queries = rounded(e, op.getQuery(), arithmetic.left()), keys = rounded(e, op.getKey(), arithmetic.stored);
  TensorRef values = rounded(e, op.getValue(), arithmetic.stored);
  const Tensor &q = *queries, &k = *keys, &v = *values;
  int64_t heads = op.getHeads(), keyHeads = op.getKvHeads();
  Grid grid{q.shape[0], heads, q.shape[1], k.shape[1], *past, *keyStart};
  std::optional<double> softcap;
  if (op.getSoftcap())
    softcap = op.getSoftcap()->convertToDouble();
  Attention a{q,
              k,
              v,
              grid,
              op.getScale().convertToDouble(),
              softcap,
              op.getMaskedRows(),
              {},
              {},
              {},
              heads / keyHeads,
              q.shape[2] / heads,
              v.shape[2] / keyHeads,
              false,
              {}};
  if (op.getMask())
    a.mask = &e.mask(op.getMask());
  a.counted = op.getMask() && mask::isCounted(op.getMask());
  if (op.getBias())
    a.bias = &e.bias(op.getBias());
  if (op.getSinks())
    a.sinks = &e.tensor(op.getSinks());
  if (op.getStarts()) {
    FailureOr<int64_t> longest = e.size(op, model::kPastDim);
    if (failed(longest))
      return failure();
    for (int64_t start : e.tensor(op.getStarts()).ints) {
      if (start < 0 || start > *longest)
        return op.emitOpError() << "a text of " << start << " positions is none of 0 to " << *longest
                                << ", the longest";
      a.behind.push_back(*longest - start);
    }
  }
  if ((a.mask && failed(a.mask->fits(grid))) || (a.bias && failed(a.bias->fits(grid))))
    return failure();
  Tensor out = Tensor::zeros(Tensor::Kind::Real, e.shapeOf(op.getResult()));
  for (int64_t batch = 0; batch < grid.batches; ++batch)
    for (int64_t row = 0; row < grid.rows; ++row)
      for (int64_t head = 0; head < heads; ++head)
        a.row(batch, head, row, &out.reals[((batch * grid.rows + row) * heads + head) * a.valueWidth]);
  e.set(op.getResult(), std::move(out));
  return success();
}

Outcome evaluation::evaluateAttention(Evaluator &e, Operation *op) {
  return TypeSwitch<Operation *, Outcome>(op)
      .Case([&](attn::SdpaOp known) { return evaluate(e, known); })
      .Default([](Operation *) { return std::nullopt; });
}
