//===- ConvToLinear.cpp - a convolution is a linear over windows ----------===//
//
// y[l] = Σ w[t, c] x[l*stride + t*dilation - before, c] is a linear over rows of taps x channels: so it gets panels of
// weights, tiles of many rows, 16 bits and an epilogue as every linear does. Padding is a `model.pad`, rows are a
// `model.windows`, which along one axis copies nothing. Groups of many channels are one linear each; small ones
// (depthwise) stay convolutions.
//
//===----------------------------------------------------------------------===//

#include "dialects/Model/IR/Names.h"
#include "dialects/Model/Transforms/Passes.h"
#include "dialects/Remarks/Remark.h"

namespace heddle::model {
#define GEN_PASS_DEF_CONVTOLINEARPASS
#include "dialects/Model/Transforms/Passes.h.inc"
} // namespace heddle::model

using namespace mlir;
using namespace heddle;
using namespace heddle::model;

/// Groups of fewer results leave most of a tile unused; more groups than this make long code.
static constexpr int64_t kFewestResults = 16, kMostGroups = 64;

/// Why a convolution stays one; "" if it becomes a linear.
static StringRef whyNoLinear(ConvOp op) {
  ModelTensorType w = op.getWeight().getType();
  std::optional<int64_t> results = w.getSize(0).constant();
  int64_t groups = op.getGroups();
  if (!results || !w.getCount().constant())
    return "the lengths of its filter are known only when the program runs";
  if (groups > 1 && groups > kMostGroups)
    return "it has more than 64 groups, and a linear for each is long code";
  return groups > 1 && *results / groups < kFewestResults
             ? "a group has fewer than 16 results, which leave most of a tile unused"
             : "";
}

/// `x` with zeros before and after each axis of the convolution.
static Value padded(OpBuilder &b, ConvOp op, Value x) {
  ArrayRef<int64_t> padding = op.getPadding();
  auto text = [&](int64_t n) { return b.getStringAttr(std::to_string(n)); };
  for (int64_t i = 0; 2 * i < int64_t(padding.size()); ++i)
    if (padding[2 * i] || padding[2 * i + 1])
      x = PadOp::create(b, op.getLoc(), x, 1 + i, text(padding[2 * i]), text(padding[2 * i + 1]), APFloat(0.0));
  return x;
}

/// A weight that is no parameter as the matrix [m, taps * c]. (A parameter is packed as one, see `filter`.)
static Value matrixOf(OpBuilder &b, ConvOp op) {
  std::string taps;
  for (int64_t i = 2; i < op.getWeight().getType().getRank(); ++i)
    taps += "k" + std::to_string(i) + " ";
  return RearrangeOp::create(b, op.getLoc(), op.getWeight(), b.getStringAttr("m c " + taps + "-> m (" + taps + "c)"),
                             b.getDictionaryAttr({}));
}

static void convert(ConvOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  ModelTensorType shape = op.getWeight().getType();
  remarks::passed(op, remarks::ConvLinear)
      << "a linear over windows: taps "
      << remarks::number("taps",
                         *shape.getCount().constant() / *shape.getSize(0).constant() / *shape.getSize(1).constant())
      << ", groups " << remarks::number("groups", op.getGroups()) << ", results "
      << remarks::number("results", *shape.getSize(0).constant());
  bool filter = op.getWeight().getDefiningOp<ParamOp>() != nullptr;
  int64_t groups = op.getGroups(), last = op.getInput().getType().getRank() - 1;
  ModelTensorType weight = op.getWeight().getType();
  int64_t channels = *weight.getSize(1).constant();
  Value matrix = filter ? Value(op.getWeight()) : matrixOf(b, op), input = padded(b, op, op.getInput());
  SmallVector<int64_t> taps, parts(groups, 1);
  for (const Size &n : ArrayRef(weight.getSizes()).drop_front(2))
    taps.push_back(*n.constant());
  bool split = groups > 1;
  ModelTensorType own = op.getType().withSize(last, Size(*weight.getSize(0).constant() / groups));
  auto product = [&](Value x, int64_t group) -> Value {
    Value rows = WindowsOp::create(b, loc, x, taps, op.getStride(), op.getDilation());
    auto linear = LinearOp::create(
        b, locationOf(op.getResult()), TypeRange{own}, rows, matrix, op.getBias(), ValueRange{}, UnitAttr(),
        split ? b.getDenseI64ArrayAttr(parts) : DenseI64ArrayAttr(), b.getI64IntegerAttr(1),
        split ? b.getI64IntegerAttr(group) : IntegerAttr(), filter ? b.getUnitAttr() : UnitAttr());
    return linear.getResult(0);
  };
  SmallVector<Value> results;
  for (int64_t g = 0; g < groups; ++g) {
    Value x = input;
    if (split)
      x = SliceOp::create(b, loc, x, last, std::to_string(g * channels), std::to_string((g + 1) * channels));
    results.push_back(product(x, g));
  }
  Value all = split ? Value(ConcatOp::create(b, locationOf(op.getResult()), results, last)) : results[0];
  op.getResult().replaceAllUsesWith(all);
  op.erase();
}

namespace {
struct ConvToLinear final : heddle::model::impl::ConvToLinearPassBase<ConvToLinear> {
  void runOnOperation() override {
    SmallVector<ConvOp> all;
    getOperation().walk([&](ConvOp op) {
      if (StringRef why = whyNoLinear(op); why.empty())
        all.push_back(op);
      else
        remarks::missed(op, remarks::ConvLinear, why);
    });
    for (ConvOp op : all)
      convert(op);
  }
};
} // namespace
