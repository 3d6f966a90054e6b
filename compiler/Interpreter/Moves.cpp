//===- Moves.cpp - ops that give elements other places --------------------===//

#include "compiler/Interpreter/Evaluator.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::evaluation;

static LogicalResult evaluate(Evaluator &e, model::BroadcastOp op) {
  const Tensor &t = e.tensor(op.getOperand());
  std::vector<int64_t> shape = e.shapeOf(op.getResult());
  if (!stretches(t.shape, shape))
    return op.emitOpError() << "cannot stretch " << showShape(t.shape) << " to " << showShape(shape);
  e.set(op.getResult(), stretched(t, shape));
  return success();
}

static LogicalResult evaluate(Evaluator &e, model::SliceOp op) {
  const Tensor &t = e.tensor(op.getOperand());
  FailureOr<int64_t> from = e.size(op, op.getFrom()), to = e.size(op, op.getTo());
  if (failed(from) || failed(to))
    return failure();
  unsigned axis = op.getAxis();
  if (*from < 0 || *to < *from || *to > t.shape[axis])
    return op.emitOpError() << "takes rows " << *from << " to " << *to << " of " << t.shape[axis];
  std::vector<int64_t> shape(t.shape);
  shape[axis] = *to - *from;
  Tensor out = Tensor::zeros(t.kind, shape);
  for (Walk w(shape, {}); w.more(); w.next()) {
    SmallVector<int64_t> index(w.index());
    index[axis] += *from;
    store(out, w.here(), scalarOf(t, place(t.shape, index)));
  }
  e.set(op.getResult(), std::move(out));
  return success();
}

// The result has the lengths of its type; elements stay in order.
static LogicalResult evaluate(Evaluator &e, model::SqueezeOp op) {
  e.set(op.getResult(), reshaped(e.tensor(op.getOperand()), e.shapeOf(op.getResult())));
  return success();
}
static LogicalResult evaluate(Evaluator &e, model::UnsqueezeOp op) {
  e.set(op.getResult(), reshaped(e.tensor(op.getOperand()), e.shapeOf(op.getResult())));
  return success();
}

/// Splits axes by the left side, permutes the names, merges by the right side.
static LogicalResult evaluate(Evaluator &e, model::RearrangeOp op) {
  const Tensor &t = e.tensor(op.getOperand());
  std::optional<model::AxesPattern> pattern = model::parsePattern(op.getPattern());
  std::string why = "is no pattern";
  auto forms = pattern ? model::patternSizes(*pattern, op.getOperand().getType(), op.getSizes(), why) : std::nullopt;
  if (!forms)
    return op.emitOpError() << "'" << op.getPattern() << "' " << why;
  std::map<std::string, unsigned> axisOf; // a name's axis in the split operand
  std::vector<int64_t> split;
  for (const model::PatternGroup &group : pattern->left)
    for (const std::string &name : group)
      if (name != "1") {
        FailureOr<int64_t> n = e.size(op, forms->at(name).str());
        if (failed(n))
          return failure();
        axisOf[name] = split.size();
        split.push_back(*n);
      }
  if (product(split) != t.count())
    return op.emitOpError() << showShape(t.shape) << " does not split into " << showShape(split);
  SmallVector<unsigned> order; // result axis, before merging -> axis of the split operand
  std::vector<int64_t> permuted;
  for (const model::PatternGroup &group : pattern->right)
    for (const std::string &name : group)
      if (name != "1") {
        order.push_back(axisOf[name]);
        permuted.push_back(split[axisOf[name]]);
      }
  Tensor out = Tensor::zeros(t.kind, e.shapeOf(op.getResult()));
  SmallVector<int64_t> index(split.size());
  for (Walk w(permuted, {}); w.more(); w.next()) {
    for (auto [i, axis] : llvm::enumerate(order))
      index[axis] = w.index()[i];
    store(out, w.here(), scalarOf(t, place(split, index)));
  }
  e.set(op.getResult(), std::move(out));
  return success();
}

static LogicalResult evaluate(Evaluator &e, model::ConcatOp op) {
  std::vector<int64_t> shape = e.shapeOf(op.getResult());
  Tensor out = Tensor::zeros(kindOf(op.getResult().getType()), shape);
  int64_t axis = op.getAxis(), before = 0;
  for (Value operand : op.getOperands()) {
    const Tensor &t = e.tensor(operand);
    int64_t mine = axis - (int64_t(shape.size()) - t.rank());
    std::vector<int64_t> part(shape);
    part[axis] = mine < 0 ? 1 : t.shape[mine];
    if (!stretches(t.shape, part) || before + part[axis] > shape[axis])
      return op.emitOpError() << "cannot put " << showShape(t.shape) << " into " << showShape(shape);
    for (Walk w(part, {ArrayRef(t.shape)}); w.more(); w.next()) {
      SmallVector<int64_t> index(w.index());
      index[axis] += before;
      store(out, place(shape, index), scalarOf(t, w.at(0)));
    }
    before += part[axis];
  }
  e.set(op.getResult(), std::move(out));
  return success();
}

static LogicalResult evaluate(Evaluator &e, model::PadOp op) {
  const Tensor &t = e.tensor(op.getOperand());
  FailureOr<int64_t> before = e.size(op, op.getBefore()), after = e.size(op, op.getAfter());
  if (failed(before) || failed(after))
    return failure();
  if (*before < 0 || *after < 0)
    return op.emitOpError() << "cannot pad by " << *before << " and " << *after << " rows";
  Tensor out = Tensor::zeros(t.kind, e.shapeOf(op.getResult()));
  double value = op.getValue().convertToDouble();
  Scalar filler{value, out.kind == Tensor::Kind::Bool ? value != 0 : int64_t(value)};
  unsigned axis = op.getAxis();
  for (Walk w(out.shape, {}); w.more(); w.next()) {
    SmallVector<int64_t> index(w.index());
    index[axis] -= *before;
    bool inside = index[axis] >= 0 && index[axis] < t.shape[axis];
    store(out, w.here(), inside ? scalarOf(t, place(t.shape, index)) : filler);
  }
  e.set(op.getResult(), std::move(out));
  return success();
}

/// out[b, l..., t*c + i] = x[b, l*stride + t*dilation, i].
static LogicalResult evaluate(Evaluator &e, model::WindowsOp op) {
  const Tensor &x = e.tensor(op.getOperand());
  Tensor out = Tensor::zeros(x.kind, e.shapeOf(op.getResult()));
  std::vector<int64_t> shape(out.shape); // batch, l..., t..., channel
  shape.pop_back();
  shape.insert(shape.end(), op.getSize().begin(), op.getSize().end());
  shape.push_back(x.shape.back());
  unsigned axes = op.getSize().size();
  for (Walk w(shape, {}); w.more(); w.next()) {
    SmallVector<int64_t> index{w.index().front()};
    for (unsigned i = 0; i < axes; ++i)
      index.push_back(w.index()[1 + i] * op.getStride()[i] + w.index()[1 + axes + i] * op.getDilation()[i]);
    index.push_back(w.index().back());
    store(out, w.here(), scalarOf(x, place(x.shape, index)));
  }
  e.set(op.getResult(), std::move(out));
  return success();
}

/// out[b, n, ...] = x[b, at[b, n], ...]; the axis n is missing where `at` is [b].
static LogicalResult evaluate(Evaluator &e, model::GatherOp op) {
  const Tensor &x = e.tensor(op.getOperand()), &at = e.tensor(op.getAt());
  Tensor out = Tensor::zeros(x.kind, e.shapeOf(op.getResult()));
  int64_t rows = x.shape[1], width = product(ArrayRef(x.shape).drop_front(2));
  int64_t perBatch = at.rank() == 2 ? at.shape[1] : 1;
  for (int64_t i = 0, n = at.count(); i < n; ++i) {
    int64_t batch = x.shape[0] == 1 ? 0 : i / perBatch, row = at.ints[i];
    if (row < 0 || row >= rows)
      return op.emitOpError() << "the row " << row << " is outside of " << rows << " rows";
    for (int64_t j = 0; j < width; ++j)
      store(out, i * width + j, scalarOf(x, (batch * rows + row) * width + j));
  }
  e.set(op.getResult(), std::move(out));
  return success();
}

/// The indices of the rows that the mask keeps; their number becomes the dim's
/// value.
static LogicalResult evaluate(Evaluator &e, model::LiveRowsOp op) {
  const Tensor &mask = e.tensor(op.getMask());
  std::vector<int64_t> rows;
  for (int64_t i = 0; i < mask.count(); ++i)
    if (mask.real(i) != 0)
      rows.push_back(i);
  int64_t n = rows.size();
  e.dims[op.getDim().str()] = n;
  e.set(op.getResult(), Tensor::ofInts({n}, std::move(rows)));
  return success();
}

/// Copies row `from` of `x` to row `to` of `out`; the two leading axes count as
/// one.
static LogicalResult moveRow(Operation *op, const Tensor &x, int64_t from, Tensor &out, int64_t to) {
  int64_t width = product(ArrayRef(x.shape).drop_front(2));
  if (from < 0 || to < 0 || from >= x.shape[0] * x.shape[1] || to >= out.shape[0] * out.shape[1])
    return op->emitOpError() << "moves row " << from << " to " << to << ", which is outside";
  for (int64_t j = 0; j < width; ++j)
    store(out, to * width + j, scalarOf(x, from * width + j));
  return success();
}
static LogicalResult evaluate(Evaluator &e, model::PackRowsOp op) {
  const Tensor &x = e.tensor(op.getOperand()), &rows = e.tensor(op.getRows());
  Tensor out = Tensor::zeros(x.kind, e.shapeOf(op.getResult()));
  for (int64_t i = 0; i < rows.count(); ++i)
    if (failed(moveRow(op, x, rows.ints[i], out, i)))
      return failure();
  e.set(op.getResult(), std::move(out));
  return success();
}
static LogicalResult evaluate(Evaluator &e, model::UnpackRowsOp op) {
  const Tensor &x = e.tensor(op.getOperand()), &rows = e.tensor(op.getRows());
  Tensor out = Tensor::zeros(x.kind, e.shapeOf(op.getResult()));
  for (int64_t i = 0; i < rows.count(); ++i)
    if (failed(moveRow(op, x, i, out, rows.ints[i])))
      return failure();
  e.set(op.getResult(), std::move(out));
  return success();
}

Outcome evaluation::evaluateMoves(Evaluator &e, Operation *op) {
  return TypeSwitch<Operation *, Outcome>(op)
      .Case<model::BroadcastOp, model::SliceOp, model::SqueezeOp, model::UnsqueezeOp, model::RearrangeOp,
            model::ConcatOp, model::PadOp, model::WindowsOp, model::GatherOp, model::LiveRowsOp, model::PackRowsOp,
            model::UnpackRowsOp>([&](auto known) { return evaluate(e, known); })
      .Default([](Operation *) { return std::nullopt; });
}
