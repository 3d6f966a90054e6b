//===- Linear.cpp - parameters, tables, products and convolution ----------===//

#include "compiler/Interpreter/Codes.h"
#include "compiler/Interpreter/Evaluator.h"
#include "dialects/Model/IR/Arithmetic.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::evaluation;

/// The parameter's name in the file: {0}, {1}, .. of its pattern are the indices of the repeats around it.
static std::string fileName(Evaluator &e, model::ParamOp op) {
  std::string name = op.getName().str();
  for (auto [k, operand] : llvm::enumerate(op.getIndices())) {
    int64_t index = e.index(operand);
    if (auto argument = dyn_cast<BlockArgument>(operand))
      if (auto repeat = dyn_cast<model::RepeatOp>(argument.getOwner()->getParentOp()))
        index += int64_t(repeat.getFirst());
    std::string hole = "{" + std::to_string(k) + "}";
    for (size_t at; (at = name.find(hole)) != std::string::npos;)
      name.replace(at, hole.size(), std::to_string(index));
  }
  return name;
}

static LogicalResult evaluate(Evaluator &e, model::ParamOp op) {
  std::string name = fileName(e, op);
  FailureOr<Tensor> t = e.readParameter(name);
  if (failed(t))
    return op.emitOpError() << "the parameter '" << name << "' cannot be read";
  if (t->kind != kindOf(op.getResult().getType()))
    return op.emitOpError() << "the parameter '" << name << "' has another element type than "
                            << op.getResult().getType();
  if (ArrayRef(t->shape) != ArrayRef(e.shapeOf(op.getResult())))
    return op.emitOpError() << "the parameter '" << name << "' is " << showShape(t->shape) << " in the file, but "
                            << op.getResult().getType() << " here";
  if (op.getCoded() && failed(giveCodes(op, *t)))
    return failure();
  // From `tiled` on a parameter is what the blob holds of it: its layout says to what an element is rounded.
  if (op.getLayout())
    for (double &x : t->reals)
      x = roundedTo(model::storedOf(op.getLayout()->getLayout().type), x);
  e.set(op.getResult(), std::move(*t));
  return success();
}

static LogicalResult evaluate(Evaluator &e, model::EmbeddingOp op) {
  TensorRef stored = rounded(e, op.getTable(), model::arithmeticOf(op).stored);
  const Tensor &ids = e.tensor(op.getIds()), &table = *stored;
  int64_t rows = table.shape[0], width = table.shape[1];
  Tensor out = Tensor::zeros(Tensor::Kind::Real, e.shapeOf(op.getResult()));
  for (int64_t i = 0, n = ids.count(); i < n; ++i) {
    int64_t id = ids.ints[i];
    if (id < 0 || id >= rows)
      return op.emitOpError() << "the id " << id << " is outside of the table of " << rows << " rows";
    std::copy_n(table.reals.begin() + id * width, width, out.reals.begin() + i * width);
  }
  e.set(op.getResult(), std::move(out));
  return success();
}

/// The features of the whole product that are those of result `part`.
static RowGroups featuresOf(model::LinearOp op, unsigned part, int64_t features) {
  WeightLayout layout;
  if (op.getParts()) {
    layout.part = part;
    layout.groups = op.getGroups();
    layout.parts.assign(op.getParts()->begin(), op.getParts()->end());
  }
  return layout.take(features);
}

/// x W^T + b for each row, whose features go to the parts; then the epilogue,
/// one element at a time.
static LogicalResult evaluate(Evaluator &e, model::LinearOp op) {
  model::Arithmetic arithmetic = model::arithmeticOf(op);
  TensorRef left = rounded(e, op.getInput(), arithmetic.left()), right = rounded(e, op.getWeight(), arithmetic.stored);
  const Tensor &x = *left, &w = *right;
  int64_t n = x.shape.back(), rows = n ? x.count() / n : product(ArrayRef(x.shape).drop_back());
  int64_t features = w.shape[op.getInOut() ? 1 : 0];

  // A filter [m, c, k...] has its channels inside of its taps.
  int64_t channels = op.getFilter() ? w.shape[1] : n, taps = op.getFilter() ? n / channels : 1;

  std::optional<IntegerProduct> integers;
  if (arithmetic.integers())
    integers.emplace(*w.codes, n, arithmetic.rows, e.options.declaredTypes);

  // With `part = j` the op is result j alone (made by model-split-linear).
  std::optional<uint64_t> only = op.getPart();

  bool finishes = !op.getEpilogue().empty();
  FailureOr<ScalarBody> epilogue{ScalarBody()};
  if (finishes)
    epilogue = ScalarBody::read(op.getEpilogue().front(), e.options.declaredTypes);
  if (failed(epilogue))
    return failure();

  for (auto [j, result] : llvm::enumerate(op.getResults())) {
    unsigned part = only ? *only : j;
    std::vector<int64_t> shape(x.shape);
    RowGroups mine = featuresOf(op, part, features);
    shape.back() = mine.count();
    Tensor out = Tensor::zeros(finishes ? kindOf(result.getType()) : Tensor::Kind::Real, shape);
    SmallVector<ArrayRef<int64_t>> extraShapes;
    for (Value v : op.getExtras()) {
      extraShapes.push_back(e.tensor(v).shape);
      if (!stretches(extraShapes.back(), shape))
        return op.emitOpError() << "cannot stretch " << showShape(extraShapes.back()) << " to " << showShape(shape);
    }
    Walk walk(shape, extraShapes);
    SmallVector<Scalar> arguments(1 + extraShapes.size());
    for (int64_t r = 0; r < rows; ++r) {
      if (integers)
        integers->round(x.reals.data() + r * n);
      for (int64_t c = 0; c < shape.back(); ++c, walk.next()) {
        int64_t m = mine.row(c);
        double sum = integers ? integers->with(m) : 0;
        for (int64_t k = 0; k < n && !integers; ++k)
          sum += x.reals[r * n + k] *
                 w.reals[op.getInOut() ? k * features + m : m * n + k % channels * taps + k / channels];
        if (op.getBias())
          sum += e.tensor(op.getBias()).reals[m];
        if (integers && e.options.declaredTypes)
          sum = float(sum);
        arguments[0].real = sum;
        for (auto [k, v] : llvm::enumerate(op.getExtras()))
          arguments[1 + k] = scalarOf(e.tensor(v), walk.at(k));
        store(out, walk.here(), finishes ? epilogue->run(arguments) : arguments[0]);
      }
    }
    e.set(result, std::move(out));
  }
  return success();
}

static LogicalResult evaluate(Evaluator &e, model::MatmulOp op) {
  const Tensor &a = e.tensor(op.getLhs()), &b = e.tensor(op.getRhs());
  std::vector<int64_t> shape = e.shapeOf(op.getResult());
  Tensor out = Tensor::zeros(Tensor::Kind::Real, shape);
  ArrayRef<int64_t> lead = ArrayRef(shape).drop_back(2);
  int64_t rows = a.shape[a.rank() - 2], inner = a.shape.back(), columns = b.shape.back();
  // The walk runs over matrices: the leading axes of both operands are
  // broadcast.
  for (Walk w(lead, {ArrayRef(a.shape).drop_back(2), ArrayRef(b.shape).drop_back(2)}); w.more(); w.next())
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) {
        double sum = 0;
        for (int64_t k = 0; k < inner; ++k)
          sum += a.reals[(w.at(0) * rows + i) * inner + k] * b.reals[(w.at(1) * inner + k) * columns + j];
        out.reals[(w.here() * rows + i) * columns + j] = sum;
      }
  e.set(op.getResult(), std::move(out));
  return success();
}

/// y[b, l, m] = bias[m] + sum over taps t and channels c of the group of x[b, l*stride + t*dilation - before, c] * w[m,
/// c, t].
static LogicalResult evaluate(Evaluator &e, model::ConvOp op) {
  const Tensor &x = e.tensor(op.getInput()), &w = e.tensor(op.getWeight());
  Tensor out = Tensor::zeros(Tensor::Kind::Real, e.shapeOf(op.getResult()));
  unsigned axes = w.rank() - 2;
  ArrayRef<int64_t> taps = ArrayRef(w.shape).drop_front(2);
  int64_t inputs = w.shape[1], outputs = w.shape[0] / int64_t(op.getGroups()), channels = x.shape.back();
  for (Walk at(out.shape, {}); at.more(); at.next()) {
    ArrayRef<int64_t> index = at.index(); // batch, l..., m
    int64_t m = index.back(), group = m / outputs;
    double sum = op.getBias() ? e.tensor(op.getBias()).reals[m] : 0;
    for (Walk tap(taps, {}); tap.more(); tap.next()) {
      int64_t row = index[0];
      bool inside = true;
      for (unsigned i = 0; i < axes; ++i) {
        int64_t from = index[1 + i] * op.getStride()[i] + tap.index()[i] * op.getDilation()[i] - op.getPadding()[2 * i];
        inside &= from >= 0 && from < x.shape[1 + i];
        row = row * x.shape[1 + i] + from;
      }
      if (!inside) // padding is zeros
        continue;
      for (int64_t c = 0; c < inputs; ++c)
        sum += x.reals[row * channels + group * inputs + c] * w.reals[(m * inputs + c) * product(taps) + tap.here()];
    }
    out.reals[at.here()] = sum;
  }
  e.set(op.getResult(), std::move(out));
  return success();
}

Outcome evaluation::evaluateLinear(Evaluator &e, Operation *op) {
  return TypeSwitch<Operation *, Outcome>(op)
      .Case<model::ParamOp, model::EmbeddingOp, model::LinearOp, model::MatmulOp, model::ConvOp>(
          [&](auto known) { return evaluate(e, known); })
      .Default([](Operation *) { return std::nullopt; });
}
