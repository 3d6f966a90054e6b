//===- Masks.cpp - how often a query sees a key ---------------------------===//
//
// A mask is a function of a Pair, exactly the formula of its op. Positions are absolute
// (query row r is at past + r, key row k at key_start + k); tensors are read by row.
//
//===----------------------------------------------------------------------===//

#include "compiler/Interpreter/Grids.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::evaluation;

namespace {
LogicalResult anyGrid(const Grid &) { return success(); }

int64_t floorDiv(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

LogicalResult define(Evaluator &e, Operation *op, std::function<int64_t(const Pair &)> sees,
                     std::function<LogicalResult(const Grid &)> fits = anyGrid) {
  e.set(op->getResult(0), MaskValue{std::move(sees), std::move(fits)});
  return success();
}

LogicalResult evaluate(Evaluator &e, mask::AllOp op) {
  return define(e, op, [](const Pair &) { return 1; });
}

LogicalResult evaluate(Evaluator &e, mask::NoneOp op) {
  return define(e, op, [](const Pair &) { return 0; });
}

/// An affine expression at position `query`; `symbol(n)` is the n-th value of the batch
/// element.
int64_t valueOf(AffineExpr e, int64_t query, llvm::function_ref<int64_t(unsigned)> symbol) {
  if (auto c = dyn_cast<AffineConstantExpr>(e))
    return c.getValue();
  if (auto s = dyn_cast<AffineSymbolExpr>(e))
    return symbol(s.getPosition());
  auto binary = dyn_cast<AffineBinaryOpExpr>(e);
  if (!binary)
    return query;
  int64_t x = valueOf(binary.getLHS(), query, symbol), y = valueOf(binary.getRHS(), query, symbol);
  return e.getKind() == AffineExprKind::Add ? x + y : e.getKind() == AffineExprKind::Mul ? x * y : floorDiv(x, y);
}

/// Keys from the greatest of the lower bounds to the least of the upper bounds.
LogicalResult evaluate(Evaluator &e, mask::BandOp op) {
  std::vector<TensorRef> values;
  for (mlir::Value v : op.getBounds())
    values.push_back(e.ref(v));
  auto bound = [values](ArrayAttr maps, const Pair &p, bool upper) {
    int64_t outer = upper ? INT64_MAX : INT64_MIN;
    for (Attribute attr : maps) {
      int64_t inner = upper ? INT64_MIN : INT64_MAX;
      for (AffineExpr term : cast<AffineMapAttr>(attr).getValue().getResults()) {
        int64_t v = valueOf(term, p.query, [&](unsigned n) {
          const Tensor &t = *values[n];
          return t.ints[t.count() == 1 ? 0 : p.batch];
        });
        inner = upper ? std::max(inner, v) : std::min(inner, v);
      }
      outer = upper ? std::min(outer, inner) : std::max(outer, inner);
    }
    return outer;
  };
  ArrayAttr from = op.getFromAttr(), below = op.getBelowAttr();
  return define(e, op, [=](const Pair &p) {
    return (!from || p.target >= bound(from, p, false)) && (!below || p.target < bound(below, p, true));
  });
}

LogicalResult evaluate(Evaluator &e, mask::CausalOp op) {
  return define(e, op, [](const Pair &p) { return p.target <= p.query; });
}

LogicalResult evaluate(Evaluator &e, mask::ChunkOp op) {
  return define(e, op,
                [n = int64_t(op.getSize())](const Pair &p) { return floorDiv(p.query, n) == floorDiv(p.target, n); });
}

/// The row and the column of position `at` in a picture of `width` columns.
std::pair<int64_t, int64_t> placeIn(int64_t width, int64_t at) {
  int64_t row = floorDiv(at, width);
  return {row, at - row * width};
}
LogicalResult evaluate(Evaluator &e, mask::GridOp op) {
  int64_t width = op.getWidth(), rows = op.getRows(), columns = op.getColumns();
  return define(e, op, [=](const Pair &p) {
    auto [r, c] = placeIn(width, p.query);
    auto [row, column] = placeIn(width, p.target);
    return std::abs(r - row) <= rows && std::abs(c - column) <= columns;
  });
}
LogicalResult evaluate(Evaluator &e, mask::GridWindowOp op) {
  int64_t width = op.getWidth(), rows = op.getRows(), columns = op.getColumns(), shift = op.getShift();
  return define(e, op, [=](const Pair &p) {
    auto [r, c] = placeIn(width, p.query);
    auto [row, column] = placeIn(width, p.target);
    return floorDiv(r - shift, rows) == floorDiv(row - shift, rows) &&
           floorDiv(c - shift, columns) == floorDiv(column - shift, columns);
  });
}

LogicalResult evaluate(Evaluator &e, mask::WindowOp op) {
  std::optional<int64_t> left, right;
  if (op.getLeft())
    left = *op.getLeft();
  if (op.getRight())
    right = *op.getRight();
  auto inside = [left, right](__int128 distance) { // of labels that may be anything
    return (!left || distance >= -*left) && (!right || distance <= *right);
  };
  if (!op.getLabels())
    return define(e, op, [=](const Pair &p) { return inside(p.target - p.query); });
  TensorRef labels = e.ref(op.getLabels()), keyLabels = op.getKeyLabels() ? e.ref(op.getKeyLabels()) : labels;
  Along query = Along::rows(op, labels, "bq"), key = Along::rows(op, keyLabels, "bk");
  return define(
      e, op, [=](const Pair &p) { return inside(__int128(key.integer(p)) - query.integer(p)); },
      [=](const Grid &g) { return success(succeeded(query.fits(g)) && succeeded(key.fits(g))); });
}

LogicalResult evaluate(Evaluator &e, mask::DilatedOp op) {
  return define(e, op, [step = int64_t(op.getStep())](const Pair &p) { return (p.target - p.query) % step == 0; });
}

/// A mask that sees a pair if the tensor is not 0 there.
LogicalResult defineTruth(Evaluator &e, Operation *op, const Along &t) {
  return define(e, op, [t](const Pair &p) { return t.real(p) != 0; }, [t](const Grid &g) { return t.fits(g); });
}
LogicalResult evaluate(Evaluator &e, mask::KeysOp op) {
  return defineTruth(e, op, Along::rows(op, e.ref(op.getTensor()), "bk"));
}
LogicalResult evaluate(Evaluator &e, mask::QueriesOp op) {
  return defineTruth(e, op, Along::rows(op, e.ref(op.getTensor()), "bq"));
}
LogicalResult evaluate(Evaluator &e, mask::DenseOp op) {
  return defineTruth(e, op, Along::dense(op, e.ref(op.getTensor())));
}

LogicalResult evaluate(Evaluator &e, mask::PrefixOp op) {
  TensorRef length = e.ref(op.getLength());
  int64_t n = length->count();
  return define(
      e, op, [=](const Pair &p) { return p.target < length->ints[n == 1 ? 0 : p.batch]; },
      [=](const Grid &g) -> LogicalResult {
        if (n != 1 && n != g.batches)
          return op->emitOpError() << "holds " << n << " lengths for " << g.batches << " batches";
        return success();
      });
}

LogicalResult evaluate(Evaluator &e, mask::DocumentOp op) {
  Along query = Along::rows(op, e.ref(op.getQueryIds()), "bq"), key = Along::rows(op, e.ref(op.getKeyIds()), "bk");
  return define(
      e, op, [=](const Pair &p) { return query.real(p) == key.real(p); },
      [=](const Grid &g) { return success(succeeded(query.fits(g)) && succeeded(key.fits(g))); });
}

/// How often the list of the query's block contains the key's block; blocks count key rows,
/// not positions. More than once matters only below a `+` (mask::isCounted).
LogicalResult evaluate(Evaluator &e, mask::BlocksOp op) {
  TensorRef lists = e.ref(op.getLists());
  int64_t size = op.getSize(), entries = lists->shape.back(), blocks = lists->shape[lists->rank() - 2];
  int64_t heads = lists->rank() == 3 ? lists->shape[0] : 1;
  return define(
      e, op,
      [=](const Pair &p) {
        int64_t block = floorDiv(p.query, size);
        if (block < 0 || block >= blocks) // beyond the lists: sees nothing
          return int64_t(0);
        int64_t list = (heads == 1 ? 0 : p.head) * blocks + block;
        int64_t times = 0;
        for (int64_t i = 0; i < entries; ++i)
          times += lists->ints[list * entries + i] == p.key / size;
        return times;
      },
      [=](const Grid &g) -> LogicalResult {
        if (heads != 1 && heads != g.heads)
          return op->emitOpError() << "has lists for " << heads << " heads, the attention has " << g.heads;
        return success();
      });
}

template <typename Op, typename Combine> LogicalResult connect(Evaluator &e, Op op, Combine combine) {
  MaskValue a = e.mask(op.getLhs()), b = e.mask(op.getRhs());
  return define(
      e, op, [=](const Pair &p) { return combine(a.sees(p), b.sees(p)); },
      [=](const Grid &g) { return success(succeeded(a.fits(g)) && succeeded(b.fits(g))); });
}
LogicalResult evaluate(Evaluator &e, mask::AndOp op) {
  return connect(e, op, [](int64_t a, int64_t b) { return a * b; });
}
LogicalResult evaluate(Evaluator &e, mask::OrOp op) {
  return connect(e, op, [](int64_t a, int64_t b) { return std::max(a, b); });
}
LogicalResult evaluate(Evaluator &e, mask::AddOp op) {
  return connect(e, op, [](int64_t a, int64_t b) { return a + b; });
}
LogicalResult evaluate(Evaluator &e, mask::NotOp op) {
  MaskValue a = e.mask(op.getOperand());
  return define(e, op, [=](const Pair &p) { return a.sees(p) == 0; }, a.fits);
}
LogicalResult evaluate(Evaluator &e, mask::SelectOp op) {
  const Tensor &condition = e.tensor(op.getCondition());
  if (condition.count() != 1)
    return op.emitOpError() << "needs one condition, found " << showShape(condition.shape);
  e.alias(op.getResult(), condition.ints[0] ? op.getYes() : op.getNo());
  return success();
}
} // namespace

Outcome evaluation::evaluateMasks(Evaluator &e, Operation *op) {
  return TypeSwitch<Operation *, Outcome>(op)
      .Case<mask::AllOp, mask::NoneOp, mask::BandOp, mask::CausalOp, mask::ChunkOp, mask::WindowOp, mask::DilatedOp,
            mask::GridOp, mask::GridWindowOp, mask::KeysOp, mask::QueriesOp, mask::PrefixOp, mask::DocumentOp,
            mask::BlocksOp, mask::DenseOp, mask::AndOp, mask::OrOp, mask::AddOp, mask::NotOp, mask::SelectOp>(
          [&](auto known) { return evaluate(e, known); })
      .Default([](Operation *) { return std::nullopt; });
}
