//===- Cost.cpp - operations of a call, as a form over its dims -----------===//
//
// The operations of a call as a form over its dims: multiplications and additions of products (linear, matmul, conv,
// and attention on the keys that its mask can reach). `bench` compares them with the machine's peak, `--report` with a
// device's. Elementwise ops are not counted.
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/Frame/Cost.h"
#include "compiler/Conversion/Lowering/Facts/LinearShape.h"
#include "compiler/Plan/CacheLayout.h"
#include "compiler/Plan/Lengths.h"
#include "dialects/Attn/IR/AttnPlanAttrs.h"
#include "dialects/Model/IR/Arithmetic.h"
#include "dialects/Model/IR/ModelPlanAttrs.h"
#include "dialects/Model/IR/TensorType.h"
#include "dialects/Model/Transforms/Gates.h"
#include "dialects/Model/Transforms/Views.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::model;
using heddle::loops::Cost;

/// 1 + 2 + .. + side.
static Size triangle(const Size &side) { return (side * (side + Size(1))).floorDiv(Size(2)); }

/// The pairs of a query and a key that the mask's reach allows, where rows and keys end at the same position: all but
/// the triangles of keys too far ahead and too far behind. What else a mask hides is not known here.
static Size visiblePairs(attn::SdpaOp op) {
  Size rows = typeOf(op.getQuery()).getSize(1), keys = typeOf(op.getKey()).getSize(1);
  auto mask = op.getMask() ? op.getMask().getDefiningOp<mask::MaskOpInterface>() : mask::MaskOpInterface();
  Size past = *Size::parse(op.getPast()), pairs = rows * keys;
  if (!mask || keys != rows + past)
    return pairs;
  mask::Reach reach = mask.reach();
  if (reach.ahead) {
    Size first = rows - Size(1 + *reach.ahead); // keys that the first row does not reach
    pairs = pairs - triangle(*reach.ahead == 0 ? first : Size::max(first, 0));
  }
  if (reach.behind) {
    auto hidden = [&](const Size &row) { return Size::max(row - Size(*reach.behind), 0); };
    pairs = pairs - (triangle(hidden(past + rows - Size(1))) - triangle(hidden(past - Size(1))));
  }
  return pairs;
}

namespace {
/// Of the linears of an expert: a row chooses `chosen` of so many.
struct Choice {
  int64_t chosen = 1, experts = 1;
};
} // namespace

static Choice choiceOf(LinearOp op) {
  std::optional<unsigned> gate = heddle::loops::gateOf(op);
  TopKOp chosen = gate ? chosenBy(op.getExtras()[*gate]) : TopKOp();
  std::optional<int64_t> experts = chosen ? typeOf(chosen.getOperand()).getSizes().back().constant() : std::nullopt;
  if (!experts || int64_t(chosen.getK()) >= *experts)
    return {};
  return {int64_t(chosen.getK()), *experts};
}

/// Of the products of one op, without what is in its regions. Of a linear of an expert those of the rows that have
/// chosen it, if all experts are chosen equally often.
static Size productsOf(Operation *op) {
  if (auto linear = dyn_cast<LinearOp>(op)) {
    ModelTensorType x = linear.getInput().getType();
    Size n = x.getSize(x.getRank() - 1), total = 0;
    for (Value result : linear.getResults())
      total = total + typeOf(result).getCount() * n * Size(2);
    Choice choice = choiceOf(linear);
    return (total * Size(choice.chosen)).floorDiv(Size(choice.experts));
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
  return 0;
}

/// Whether codes are multiplied by rows of 8 bits.
static bool ofIntegers(Operation *op) { return isa<LinearOp>(op) && arithmeticOf(op).integers(); }

static Size operationsOf(Operation *op, bool integers) {
  Size total = !integers || ofIntegers(op) ? productsOf(op) : Size(0), times = 1;
  if (auto repeat = dyn_cast<RepeatOp>(op))
    times = Size(int64_t(repeat.getCount()));
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Operation &inner : block)
        total = total + operationsOf(&inner, integers);
  return total * times;
}

Size heddle::loops::operations(func::FuncOp function) {
  // An upper bound: no row is padding.
  return operationsOf(function, /*integers=*/false).substitute(plan::rowBounds(function));
}
Size heddle::loops::integerOperations(func::FuncOp function) {
  return operationsOf(function, /*integers=*/true).substitute(plan::rowBounds(function));
}

//===-- bytes ------------------------------------------------------------------------===//

Size heddle::loops::bytesWhereItLies(Value v) {
  auto type = dyn_cast<ModelTensorType>(v.getType());
  if (!type)
    return 0;
  Operation *op = v.getDefiningOp();
  const plan::Target *target = op ? plan::targetOf(op) : nullptr;
  if (std::optional<Size> bytes = target ? target->bytesOf(cast<OpResult>(v)) : std::nullopt)
    return *bytes;
  auto param = dyn_cast_if_present<ParamOp>(op);
  // Of a stored tensor its part; several ops may take one part each of it.
  if (LayoutAttr layout = param ? param.getLayoutAttr() : LayoutAttr()) {
    SmallVector<int64_t> shape;
    for (const Size &n : type.getSizes())
      shape.push_back(n.constant().value_or(0));
    return Size(int64_t(layout.getLayout().bytes(shape)));
  }
  bool halves = op && plan::standsForCache(op) && attn::cacheOf(op) && attn::cacheOf(op).halves();
  return type.getCount() * Size(halves ? 2 : plan::bytesOf(type.getElementType()));
}

/// A view of a tensor is that tensor as far as bytes go; a mask or a bias stands for the tensors it is made of.
static void collect(Value v, llvm::SmallSetVector<Value, 8> &tensors) {
  Operation *op = v.getDefiningOp();
  if (isa<ModelTensorType>(v.getType())) {
    if (auto windows = dyn_cast_if_present<WindowsOp>(op); windows && viewOffset(op))
      v = windows.getOperand(); // overlapping rows are more elements than are there
    tensors.insert(v);
    return;
  }
  if (op && isa<mask::MaskType, attn::BiasType>(v.getType()))
    for (Value operand : op->getOperands())
      collect(operand, tensors);
}

/// Whether `op` takes single rows of a parameter, those that it is asked for.
static bool looksUp(Operation *op, Value tensor) {
  return isa<EmbeddingOp, GatherOp>(op) && tensor.getDefiningOp<ParamOp>();
}
static Size bytesLookedUp(Operation *op, Value tensor) {
  WeightLayout layout = tensor.getDefiningOp<ParamOp>().getLayout()->getLayout();
  Size count = typeOf(op->getResult(0)).getCount();
  return layout.coding ? (count * Size(layout.coding.bits)).floorDiv(Size(8))
                       : count * Size(int64_t(width(layout.type)));
}

/// What `op` reads of a weight of so many bytes, if rows choose experts equally often: of as many experts as its rows
/// can have chosen.
static Size partChosen(LinearOp op, const Size &bytes) {
  Choice choice = choiceOf(op);
  if (choice.experts == 1)
    return bytes;
  ModelTensorType x = op.getInput().getType();
  Size rows = 1;
  for (int64_t i = 0; i + 1 < x.getRank(); ++i)
    rows = rows * x.getSize(i);
  Size met = Size::min(rows * Size(choice.chosen), Size(choice.experts));
  return (bytes * met).floorDiv(Size(choice.experts));
}

Cost heddle::loops::costOf(Operation *op) {
  Cost cost{op->getName().stripDialect().str(), productsOf(op)};
  if (isa<PackRowsOp, UnpackRowsOp>(op) && isInPlace(op))
    return cost; // no row is padding, so none moves
  cost.dots = isa<LinearOp>(op) && arithmeticOf(op).dots && !arithmeticOf(op).coding;
  cost.integers = ofIntegers(op);
  for (Value result : op->getResults())
    cost.written = cost.written + bytesWhereItLies(result);
  llvm::SmallSetVector<Value, 8> tensors;
  for (Value v : op->getOperands())
    collect(v, tensors);
  for (Value v : tensors) {
    Size bytes = looksUp(op, v) ? bytesLookedUp(op, v) : bytesWhereItLies(v);
    auto linear = dyn_cast<LinearOp>(op);
    cost.read = cost.read + (linear && v.getDefiningOp<ParamOp>() ? partChosen(linear, bytes) : bytes);
  }
  return cost;
}

Cost heddle::loops::costOfWrite(Operation *op, Stored stored) {
  auto append = dyn_cast<AppendOp>(op);
  Size rows = bytesWhereItLies(append ? append.getRows() : cast<StoreOp>(op).getValue());
  return {op->getName().stripDialect().str(), 0, false, rows, stored == Stored::f32 ? rows : rows.floorDiv(Size(2))};
}

/// Rows that a call with this many queries can reach in `tensor`, keys or values of `op` where a cache has them.
static Size bytesOfReach(attn::SdpaOp op, Value tensor) {
  ModelTensorType type = typeOf(tensor);
  Size keys = type.getSize(1), reached = keys;
  auto mask = op.getMask() ? op.getMask().getDefiningOp<mask::MaskOpInterface>() : mask::MaskOpInterface();
  if (mask && mask.reach().behind)
    reached = Size::min(keys, typeOf(op.getQuery()).getSize(1) + Size(*mask.reach().behind));
  Size whole = heddle::loops::bytesWhereItLies(tensor);
  std::optional<Size> row = whole.exactDiv(keys);
  return row ? *row * reached : whole;
}

/// How often what is here is done in a call.
static Size turnsOf(Operation *op) {
  Size turns = 1;
  while ((op = op->getParentOp()))
    if (auto repeat = dyn_cast<RepeatOp>(op))
      turns = turns * Size(int64_t(repeat.getCount()));
  return turns;
}

/// All tensors that a parameter of layers stands for.
static Size bytesOfAll(ParamOp param) {
  Size bytes = heddle::loops::bytesWhereItLies(param.getResult());
  for (Value index : param.getIndices())
    if (auto turn = dyn_cast<BlockArgument>(index))
      bytes = bytes * Size(int64_t(cast<RepeatOp>(turn.getOwner()->getParentOp()).getCount()));
  return bytes;
}

Size heddle::loops::bytesRead(func::FuncOp function) {
  llvm::SmallSetVector<Operation *, 32> whole, rows;
  llvm::SmallMapVector<Operation *, LinearOp, 32> ofExperts; // and a linear that reads it
  Size total = 0;
  function.walk([&](Operation *op) {
    llvm::SmallSetVector<Value, 8> tensors;
    for (Value v : op->getOperands())
      collect(v, tensors);
    for (Value v : tensors) {
      Operation *made = v.getDefiningOp();
      if (looksUp(op, v))
        total = total + bytesLookedUp(op, v) * turnsOf(op);
      else if (auto linear = dyn_cast<LinearOp>(op);
               linear && isa_and_nonnull<ParamOp>(made) && choiceOf(linear).experts > 1)
        ofExperts.insert({made, linear});
      else if (isa_and_nonnull<ParamOp>(made))
        whole.insert(made);
      else if (auto sdpa = dyn_cast<attn::SdpaOp>(op);
               sdpa && isa_and_nonnull<AppendOp, LoadOp>(made) && rows.insert(made))
        total = total + bytesOfReach(sdpa, v) * turnsOf(made);
    }
  });
  for (Operation *param : whole)
    total = total + bytesOfAll(cast<ParamOp>(param));
  for (auto [param, linear] : ofExperts)
    if (!whole.contains(param))
      total = total + partChosen(linear, bytesOfAll(cast<ParamOp>(param)));
  return total.substitute(plan::rowBounds(function));
}

//===-- as an attribute --------------------------------------------------------------===//

tile::CostAttr Cost::attribute(MLIRContext *context) const {
  auto text = [&](const Twine &value) { return StringAttr::get(context, value); };
  return tile::CostAttr::get(context, text(op), text(operations.str()), text(read.str()), text(written.str()), dots,
                             integers, untiled.empty() ? StringAttr() : text(untiled));
}

Cost Cost::of(tile::CostAttr attribute) {
  auto form = [](StringAttr text) { return *Size::parse(text.getValue()); };
  return {attribute.getOp().str(),
          form(attribute.getOperations()),
          attribute.getDots(),
          form(attribute.getRead()),
          form(attribute.getWritten()),
          attribute.getIntegers(),
          attribute.getUntiled() ? attribute.getUntiled().str() : ""};
}
