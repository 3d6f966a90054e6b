//===- Linear.cpp - x W + b and what finishes it --------------------------===//
//
// Weights lie in panels of 32 results, [N/32][K][32]. A tile of rows x panels keeps its sums in
// registers while k ascends: one accumulator an element, never split, so that a row's bits are
// the same in a tile of 8 rows, of 1 row, and beside whatever rows. Work items are
// (block of rows, panel); the kernel is one function for each (K, N, epilogue) and is shared
// by all layers and entries.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ToLoops/Element.h"
#include "compiler/Conversion/ToLoops/Lowering.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using namespace heddle::model;
using Lower = heddle::loops::Lowering;

static constexpr int64_t kPanel = 32;     ///< results of a panel
static constexpr int64_t kRows = 8;       ///< rows of a tile
static constexpr int64_t kRowBlock = 256; ///< rows that a panel serves before the next one
static constexpr int64_t kAhead = 64;     ///< k steps of prefetch when few rows stream the weights
static constexpr int64_t kSmall = 1 << 15; ///< weights that need no code of their own for few rows

namespace {
/// How an operand of the epilogue is read at (row, column): along which of the two it changes.
enum class Extra { Scalar, Column, Row, Element, General };

/// The kernel of one (K, N, epilogue), while it is written.
class LinearKernel {
public:
  LinearKernel(LinearOp op, Code &c, Block *block);
  void emit();
  static FunctionType typeOf(LinearOp op, MLIRContext *ctx);
  static Extra kindOf(LinearOp op, Value extra);

private:
  LinearOp op;
  Code &c;
  int64_t k, n, panels;
  Value x, w, bias, y, rows, from, to;
  Values extras;

  int64_t vectors() const { return kPanel / c.lanes; }
  void tile(Value row, Value panel, int64_t mr, int64_t pn, bool stream, Value step);
  void finish(Value sum, Value row, Value column, Value address, Value bias, Value mask);
  Value maskOf(Value column);
  void wide();
  void narrow();
};
} // namespace

static int64_t lastOf(ModelTensorType t) { return *t.getSize(t.getRank() - 1).constant(); }

Extra LinearKernel::kindOf(LinearOp op, Value extra) {
  auto y = cast<ModelTensorType>(op->getResult(0).getType()), t = cast<ModelTensorType>(extra.getType());
  int64_t shift = y.getRank() - t.getRank(), last = y.getRank() - 1;
  bool column = t.getRank() && !t.getSize(t.getRank() - 1).is(1), all = true, none = true;
  for (int64_t i = 0; i < last; ++i) {
    bool has = i >= shift && !t.getSize(i - shift).is(1);
    if (!y.getSize(i).is(1))
      (has ? none : all) = false;
  }
  if (none)
    return column ? Extra::Column : Extra::Scalar;
  if (all)
    return column || y.getSize(last).is(1) ? Extra::Element : Extra::Row;
  return Extra::General;
}

FunctionType LinearKernel::typeOf(LinearOp op, MLIRContext *ctx) {
  Type ptr = LLVM::LLVMPointerType::get(ctx), index = IndexType::get(ctx);
  SmallVector<Type> in{ptr, ptr, ptr, ptr}; // x, w, bias, y
  in.append(op.getExtras().size(), ptr);
  in.append({index, index, index}); // rows, items from, to
  return FunctionType::get(ctx, in, {});
}

LinearKernel::LinearKernel(LinearOp op, Code &c, Block *block) : op(op), c(c) {
  k = lastOf(op.getInput().getType());
  n = lastOf(cast<ModelTensorType>(op->getResult(0).getType()));
  panels = (n + kPanel - 1) / kPanel;
  auto args = block->getArguments();
  x = args[0];
  w = args[1];
  bias = op.getBias() ? args[2] : Value();
  y = args[3];
  extras.assign(args.begin() + 4, args.begin() + 4 + op.getExtras().size());
  rows = args[args.size() - 3];
  from = args[args.size() - 2];
  to = args[args.size() - 1];
}

/// The lanes of the vector at `column` that exist; null when all surely do.
Value LinearKernel::maskOf(Value column) {
  if (n % kPanel == 0)
    return {};
  return vector::CreateMaskOp::create(c.b, c.vec(c.b.getI1Type()), c.sub(c.constant(n), column));
}

void LinearKernel::finish(Value sum, Value row, Value column, Value address, Value bias, Value mask) {
  if (bias)
    sum = c.addf(sum, bias);
  if (!op.getEpilogue().empty()) {
    Values in{sum};
    for (auto [value, base] : llvm::zip_equal(op.getExtras(), extras)) {
      Type element = cast<ModelTensorType>(value.getType()).getElementType();
      auto at = [&](Value index) { return c.at(base, index, element); };
      switch (kindOf(op, value)) {
      case Extra::Scalar:
        in.push_back(c.splat(c.load(element, base)));
        break;
      case Extra::Row:
        in.push_back(c.splat(c.load(element, at(row))));
        break;
      case Extra::Column:
        in.push_back(c.load(c.vec(element), at(column), mask));
        break;
      default:
        in.push_back(c.load(c.vec(element), at(c.add(c.mul(row, n), column)), mask));
      }
    }
    sum = emitRegion(c, op.getEpilogue(), in);
  }
  c.store(sum, address, mask);
}

/// Rows [row, row + mr) x panels [panel, panel + pn). `stream`: few rows, so the weights come
/// from memory a fixed distance ahead; otherwise each tile fetches its part of the next panel,
/// `step` elements a k.
void LinearKernel::tile(Value row, Value panel, int64_t mr, int64_t pn, bool stream, Value step) {
  int64_t nv = vectors() * pn;
  Type f32 = c.f32();
  Value a = c.at(x, c.mul(row, k), f32), b = c.at(w, c.mul(panel, k * kPanel), f32);
  Value next;
  if (!stream) {
    Value part = c.mul(c.mul(c.div(c.rem(row, c.constant(kRowBlock)), c.constant(kRows)), k), step);
    next = c.at(c.at(b, c.constant(k * kPanel), f32), part, f32);
  }
  Value zero = c.real(c.vec(f32), 0.0);
  Values sums = c.loop(c.constant(0), c.constant(k), 1, Values(mr * nv, zero), [&](Value kk, ValueRange carried) {
    Values acc(carried.begin(), carried.end());
    Value bk = c.at(b, c.mul(kk, kPanel), f32), ak = c.at(a, kk, f32);
    if (stream) {
      // Past the end of a panel comes what the group of panels behind it begins with.
      Value ahead = c.add(kk, kAhead);
      Value over = c.less(c.constant(k - 1), ahead);
      Value skip = c.select(over, c.constant((pn - 1) * k * kPanel), c.constant(0));
      Value line = c.at(b, c.add(c.mul(ahead, kPanel), skip), f32);
      for (int64_t p = 0; p < pn; ++p)
        for (int64_t q = 0; q < kPanel; q += 16)
          c.prefetch(c.at(line, c.constant(p * k * kPanel + q), f32));
    } else {
      c.prefetch(c.at(next, c.mul(kk, step), f32));
    }
    Values bv;
    for (int64_t p = 0; p < pn; ++p)
      for (int64_t j = 0; j < vectors(); ++j)
        bv.push_back(c.load(c.vec(f32), c.at(bk, c.constant(p * k * kPanel + j * c.lanes), f32)));
    for (int64_t i = 0; i < mr; ++i) {
      Value ai = c.splat(c.load(f32, c.at(ak, c.constant(i * k), f32)));
      for (int64_t j = 0; j < nv; ++j)
        acc[i * nv + j] = c.fma(ai, bv[j], acc[i * nv + j]);
    }
    return acc;
  });
  // A long epilogue is one loop over the rows instead of a copy for each accumulator: the sums
  // pass through a piece of stack. (The result cannot hold them: an extra may lie there.)
  int64_t ops = op.getEpilogue().empty() ? 0 : int64_t(op.getEpilogue().front().getOperations().size());
  bool functions = false;
  if (ops)
    op.getEpilogue().walk([&](FunctionOp) { functions = true; });
  Value column = c.mul(panel, kPanel);
  Values columns, masks, biases;
  for (int64_t j = 0; j < nv; ++j) {
    columns.push_back(c.add(column, j * c.lanes));
    masks.push_back(maskOf(columns[j]));
    biases.push_back(bias ? c.load(c.vec(f32), c.at(bias, columns[j], f32), masks[j]) : Value());
  }
  if (functions && mr > 1) {
    Value stack;
    {
      OpBuilder::InsertionGuard guard(c.b);
      Block *entry = &c.b.getInsertionBlock()->getParentOp()->getParentOfType<func::FuncOp>().getBody().front();
      c.b.setInsertionPointToStart(entry);
      Value count = LLVM::ConstantOp::create(c.b, c.b.getI64Type(), c.b.getI64IntegerAttr(mr * nv * c.lanes));
      stack = LLVM::AllocaOp::create(c.b, c.pointer(), f32, count, 64);
    }
    for (int64_t i = 0; i < mr * nv; ++i)
      c.store(sums[i], c.at(stack, c.constant(i * c.lanes), f32));
    c.loop(c.constant(0), c.constant(mr), 1, [&](Value i) {
      Value r = c.add(row, i), line = c.at(stack, c.mul(i, nv * c.lanes), f32);
      Value out = c.at(y, c.add(c.mul(r, n), column), f32);
      for (int64_t j = 0; j < nv; ++j)
        finish(c.load(c.vec(f32), c.at(line, c.constant(j * c.lanes), f32)), r, columns[j],
               c.at(out, c.constant(j * c.lanes), f32), biases[j], masks[j]);
    });
    return;
  }
  for (int64_t i = 0; i < mr; ++i) {
    Value r = c.add(row, i), out = c.at(y, c.add(c.mul(r, n), column), f32);
    for (int64_t j = 0; j < nv; ++j)
      finish(sums[i * nv + j], r, columns[j], c.at(out, c.constant(j * c.lanes), f32), biases[j], masks[j]);
  }
}

/// Many rows: items are (block of rows, panel), panels side by side.
void LinearKernel::wide() {
  c.loop(from, to, 1, [&](Value item) {
    Value panel = c.rem(item, c.constant(panels));
    Value begin = c.mul(c.div(item, c.constant(panels)), kRowBlock);
    Value end = c.min(c.add(begin, kRowBlock), rows);
    Value whole = c.add(begin, c.mul(c.div(c.sub(end, begin), c.constant(kRows)), kRows));
    // Elements of the next panel that a tile owes at each k.
    Value tiles = c.max(c.div(c.sub(whole, begin), c.constant(kRows)), c.constant(1));
    Value step = c.max(c.div(c.constant(kPanel), tiles), c.constant(1));
    c.loop(begin, whole, kRows, [&](Value row) { tile(row, panel, kRows, 1, false, step); });
    if (k * n < kSmall) {
      c.loop(whole, end, 1, [&](Value row) { tile(row, panel, 1, 1, false, step); });
      return;
    }
    Value at = whole;
    for (int64_t mr = kRows / 2; mr >= 1; mr /= 2) {
      Value fits = c.less(c.add(at, mr - 1), end);
      c.when(fits, [&] { tile(at, panel, mr, 1, false, step); });
      at = c.select(fits, c.add(at, mr), at);
    }
  });
}

/// Up to 4 rows: memory is the limit, so several panels stream at once. Items are panels.
void LinearKernel::narrow() {
  for (int64_t mr = 1; mr <= 4; ++mr) {
    c.when(c.equal(rows, c.constant(mr)), [&] {
      int64_t pn = mr == 1 ? 4 : mr == 2 ? 2 : 1;
      Value whole = c.add(from, c.mul(c.div(c.sub(to, from), c.constant(pn)), pn));
      c.loop(from, whole, pn, [&](Value panel) { tile(c.constant(0), panel, mr, pn, true, {}); });
      if (pn > 1)
        c.loop(whole, to, 1, [&](Value panel) { tile(c.constant(0), panel, mr, 1, true, {}); });
    });
  }
}

void LinearKernel::emit() {
  if (k * n < kSmall)
    return wide();
  c.when(c.less(c.constant(4), rows), [&] { wide(); }, [&] { narrow(); });
}

/// Equal texts, equal kernels: epilogues are told apart by how they print.
static std::string kernelName(LinearOp op, int64_t k, int64_t n) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << (op.getBias() ? "b" : "");
  for (Value extra : op.getExtras())
    os << int(LinearKernel::kindOf(op, extra)) << cast<ModelTensorType>(extra.getType()).getElementType();
  if (!op.getEpilogue().empty()) {
    llvm::DenseMap<Value, int> numbers;
    Block &block = op.getEpilogue().front();
    for (BlockArgument arg : block.getArguments())
      numbers[arg] = numbers.size();
    for (Operation &o : block) {
      os << ";" << o.getName() << o.getAttrDictionary();
      for (Value v : o.getOperands())
        os << " " << numbers[v];
      for (Value v : o.getResults()) {
        numbers[v] = numbers.size();
        os << v.getType();
      }
    }
  }
  std::string name = "heddle_linear_" + std::to_string(k) + "_" + std::to_string(n);
  return text.empty() ? name : name + "_" + llvm::utohexstr(llvm::xxh3_64bits(text), true);
}

static DictionaryAttr packOf(Value v) {
  auto param = v.getDefiningOp<ParamOp>();
  return param ? param->getAttrOfType<DictionaryAttr>("pack") : DictionaryAttr();
}
bool heddle::loops::isPackedWeight(LinearOp op) {
  DictionaryAttr pack = packOf(op.getWeight());
  return pack && pack.getAs<StringAttr>("layout").getValue() == "panel32";
}
bool heddle::loops::isPackedBias(LinearOp op) {
  auto parts = op.getParts();
  if (!op->hasAttr("part") || !parts || parts->size() < 2)
    return true;
  DictionaryAttr pack = packOf(op.getBias());
  return pack && pack.get("part");
}

/// Feature `i` of a part is feature i/unit * stride + begin + i%unit of the whole.
static Value wholeFeature(Lower &l, LinearOp op, Value i, Value n) {
  auto part = op->getAttrOfType<IntegerAttr>("part");
  if (!part || !op.getParts())
    return i;
  int64_t total = 0, before = 0, own = (*op.getParts())[part.getInt()];
  for (auto [j, p] : llvm::enumerate(*op.getParts())) {
    before += int64_t(j) < part.getInt() ? p : 0;
    total += p;
  }
  Value unit = l.div(n, l.constant(op.getGroups()));
  Value stride = l.div(l.mul(unit, total), l.constant(own)), begin = l.div(l.mul(unit, before), l.constant(own));
  return l.add(l.add(l.mul(l.div(i, unit), stride), begin), l.rem(i, unit));
}

/// A weight that is no packed parameter is packed into scratch first.
static Value packWeight(Lower &l, LinearOp op, Value k, Value n) {
  Value from = l.pointer(op.getWeight()), to = l.scratchPointer(op);
  Value all = l.size(op.getWeight().getType().getSize(op.getInOut() ? 1 : 0));
  Value panels = l.div(l.add(n, kPanel - 1), l.constant(kPanel));
  l.parallelFor(op.getLoc(), l.mul(panels, k), [&](Value item) {
    Value panel = l.div(item, k), kk = l.rem(item, k);
    l.loop(op.getLoc(), l.constant(0), l.constant(kPanel), 1, [&](Value lane) {
      Value i = l.add(l.mul(panel, kPanel), lane), inside = l.less(i, n);
      Value row = wholeFeature(l, op, l.select(inside, i, l.constant(0)), n);
      Value at = op.getInOut() ? l.add(l.mul(kk, all), row) : l.add(l.mul(row, k), kk);
      Value v = l.select(inside, l.loadF32(from, at), l.real(0.0));
      l.store(v, l.at(to, l.add(l.mul(item, kPanel), lane), l.f32()));
    });
  });
  l.barrier(op.getLoc());
  return to;
}

/// The same for the bias of one part, behind the weight.
static Value packBias(Lower &l, LinearOp op, int64_t k, int64_t n) {
  int64_t offset = isPackedWeight(op) ? 0 : (n + kPanel - 1) / kPanel * kPanel * k;
  Value from = l.pointer(op.getBias()), to = l.at(l.scratchPointer(op), l.constant(offset), l.f32());
  l.parallelFor(op.getLoc(), l.constant(n), [&](Value i) {
    l.store(l.loadF32(from, wholeFeature(l, op, i, l.constant(n))), l.at(to, i, l.f32()));
  });
  l.barrier(op.getLoc());
  return to;
}

LogicalResult heddle::loops::lowerLinear(Lower &l, LinearOp op) {
  if (op->getNumResults() != 1)
    return op.emitOpError("internal error: model-split-linear leaves one result");
  ModelTensorType xt = op.getInput().getType(), yt = cast<ModelTensorType>(op->getResult(0).getType());
  Size ks = xt.getSize(xt.getRank() - 1), ns = yt.getSize(yt.getRank() - 1);
  std::optional<int64_t> k = ks.constant(), n = ns.constant();
  if (!k || !n)
    return op.emitOpError("needs constant numbers of features, but reads ") << ks.str() << " and gives " << ns.str();
  for (Value extra : op.getExtras())
    if (LinearKernel::kindOf(op, extra) == Extra::General)
      return op.emitOpError("internal error: an epilogue reads a value along some of the leading axes only");

  Location loc = op.getLoc();
  l.b.setLoc(loc);
  Value w = isPackedWeight(op) ? l.pointer(op.getWeight()) : packWeight(l, op, l.constant(*k), l.constant(*n));
  auto f = l.kernel(loc, kernelName(op, *k, *n), LinearKernel::typeOf(op, op.getContext()), [&](OpBuilder &b, Block *block) {
    Code c(ImplicitLocOpBuilder(loc, b), l.lanes);
    LinearKernel(op, c, block).emit();
  });
  Value rows = l.count(xt, 0, xt.getRank() - 1);
  Value blocks = l.div(l.add(rows, kRowBlock - 1), l.constant(kRowBlock));
  auto [from, to] = l.share(l.mul(blocks, (*n + kPanel - 1) / kPanel));
  Value bias = LLVM::ZeroOp::create(l.b, l.Code::pointer());
  if (op.getBias())
    bias = isPackedBias(op) ? l.pointer(op.getBias()) : packBias(l, op, *k, *n);
  Values operands{l.pointer(op.getInput()), w, bias, l.allocatePointer(op->getResult(0))};
  for (Value extra : op.getExtras())
    operands.push_back(l.pointer(extra));
  operands.append({rows, from, to});
  l.call(f, operands);
  l.barrier(loc);
  return success();
}
