//===- Cost.cpp - operations of a call, as a form over its dims -----------===//
//
// The operations of a call as a form over its dims: multiplications and additions of products (linear, matmul, conv,
// and attention on the keys that its mask can reach). `bench` compares them with the machine's peak. Elementwise ops
// are not counted.
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ToLoops/Lowering.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::model;

static ModelTensorType typeOf(Value v) { return cast<ModelTensorType>(v.getType()); }

/// The pairs of a query and a key that the mask's reach allows: a triangle if it is causal and rows and keys end at the
/// same position, otherwise all.
static Size visiblePairs(attn::SdpaOp op) {
  Size rows = typeOf(op.getQuery()).getSize(1), keys = typeOf(op.getKey()).getSize(1);
  auto mask = op.getMask() ? op.getMask().getDefiningOp<mask::MaskOpInterface>() : mask::MaskOpInterface();
  Size past = *Size::parse(op.getPast());
  if (mask && mask.reach().ahead == 0 && keys == rows + past)
    return rows * keys - (rows * (rows - Size(1))).floorDiv(Size(2));
  return rows * keys;
}

static Size operationsOf(Operation *op) {
  if (auto linear = dyn_cast<LinearOp>(op)) {
    ModelTensorType x = linear.getInput().getType();
    Size n = x.getSize(x.getRank() - 1), total = 0;
    for (Value result : linear.getResults())
      total = total + typeOf(result).getCount() * n * Size(2);
    return total;
  }
  if (auto product = dyn_cast<MatmulOp>(op)) {
    auto a = product.getLhs().getType();
    return typeOf(product.getResult()).getCount() * a.getSize(a.getRank() - 1) * Size(2);
  }
  if (auto conv = dyn_cast<ConvOp>(op)) {
    auto w = conv.getWeight().getType();
    Size taps = 2;
    for (int64_t i = 1; i < w.getRank(); ++i)
      taps = taps * w.getSize(i);
    return typeOf(conv.getResult()).getCount() * taps;
  }
  if (auto sdpa = dyn_cast<attn::SdpaOp>(op)) {
    // Scores and output for all heads: the widths of heads add up to the features.
    Size width = typeOf(sdpa.getQuery()).getSize(2) + typeOf(sdpa.getResult()).getSize(2);
    return typeOf(sdpa.getQuery()).getSize(0) * visiblePairs(sdpa) * width * Size(2);
  }
  Size total = 0, times = 1;
  if (auto repeat = dyn_cast<RepeatOp>(op))
    times = Size(int64_t(repeat.getCount()));
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Operation &inner : block)
        total = total + operationsOf(&inner);
  return total * times;
}

Size heddle::loops::operations(func::FuncOp function) {
  return operationsOf(function).substitute(plan::rowBounds(function)); // an upper bound: no row is padding
}
