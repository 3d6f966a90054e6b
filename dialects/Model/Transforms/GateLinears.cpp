//===- GateLinears.cpp - the pass model-gate-linears ----------------------===//
//
// Of a mixture of experts a row is given to a few; what the others make of it is multiplied by a gate of 0. The linears
// of an expert get its gate as an extra, and `gate != 0 ? sum : 0` in front of their epilogue: what a row has not
// chosen is 0 there, even where it would be no number, and a kernel need not compute the sums of rows whose gate is 0
// (Lowering/CPU/Linear/Linear.cpp).
//
//===----------------------------------------------------------------------===//

#include "dialects/Model/IR/TensorType.h"
#include "dialects/Model/Transforms/Gates.h"
#include "dialects/Model/Transforms/Passes.h"
#include "dialects/Remarks/Remark.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace heddle::model {
#define GEN_PASS_DEF_GATELINEARSPASS
#include "dialects/Model/Transforms/Passes.h.inc"
} // namespace heddle::model

using namespace mlir;
using namespace heddle;
using namespace heddle::model;

TopKOp heddle::model::chosenBy(Value v) {
  constexpr int kFarthest = 16;
  SmallVector<Value> open{v};
  for (int i = 0; i < kFarthest && !open.empty(); ++i) {
    Operation *op = open.pop_back_val().getDefiningOp();
    if (auto chosen = dyn_cast_if_present<TopKOp>(op))
      return chosen;
    if (isa_and_nonnull<MapOp, SoftmaxOp, ReduceOp, SliceOp>(op))
      llvm::append_range(open, op->getOperands());
  }
  return {};
}

/// The one linear that makes `v`, of one result, which nothing else reads; null if there is none in `block`.
static LinearOp onlyLinear(Value v, Block *block) {
  auto linear = v.getDefiningOp<LinearOp>();
  return linear && linear->getNumResults() == 1 && v.hasOneUse() && linear->getBlock() == block ? linear : LinearOp();
}

namespace {
/// Gates the linears in front of one product with a gate, a column [.., 1] of chosen numbers.
class Gate {
public:
  explicit Gate(SliceOp slice) : slice(slice), block(slice->getBlock()) {}

  /// `last` makes what is multiplied by the gate; of its extras others may be read by the same epilogue.
  void close(LinearOp last) {
    Value input = last.getInput();
    if (add(last))
      closeBehind(input);
  }

private:
  SliceOp slice;
  Block *block;

  /// What is read by gated linears alone.
  void closeBehind(Value v) {
    if (LinearOp linear = onlyLinear(v, block)) {
      SmallVector<Value> read(linear.getExtras());
      read.push_back(linear.getInput());
      if (add(linear))
        for (Value r : read)
          closeBehind(r);
    } else if (auto map = v.getDefiningOp<MapOp>(); map && v.hasOneUse() && map->getBlock() == block) {
      for (Value r : map.getOperands())
        closeBehind(r);
    }
  }

  bool add(LinearOp linear);
};
} // namespace

/// Makes the gate an extra of the linear, and its sum 0 where that is 0.
bool Gate::add(LinearOp linear) {
  ModelTensorType type = typeOf(linear->getResult(0));
  if (typeOf(slice.getResult()) != type.withSize(type.getRank() - 1, Size(1))) {
    remarks::missed(linear, remarks::GateRows, "its gate is no column of its rows")
        .note(slice.getLoc(), "the gate is made here");
    return false;
  }
  if (linear->isBeforeInBlock(slice)) { // the gates are there before: nothing that they are made of reads an expert
    Operation *made = slice.getOperand().getDefiningOp();
    bool here = made && made->getBlock() == block;
    if (here && !made->isBeforeInBlock(linear)) {
      remarks::missed(linear, remarks::GateRows, "its gate is made after it")
          .note(made->getLoc(), "the gate is made of this");
      return false;
    }
    here ? slice->moveAfter(made) : slice->moveBefore(&block->front());
  }
  OpBuilder b(linear);
  SmallVector<Value> extras(linear.getExtras());
  extras.push_back(slice.getResult());
  auto gated = LinearOp::create(b, linear.getLoc(), linear->getResultTypes(), linear.getInput(), linear.getWeight(),
                                linear.getBias(), extras, linear.getInOutAttr(), linear.getPartsAttr(),
                                linear.getGroupsAttr(), linear.getPartAttr(), linear.getFilterAttr());
  gated->setDiscardableAttrs(linear->getDiscardableAttrDictionary());
  Region &epilogue = gated.getEpilogue();
  Location loc = linear.getLoc();
  if (linear.getEpilogue().empty()) {
    Block *body = b.createBlock(&epilogue);
    YieldOp::create(b, loc, ValueRange{body->addArgument(b.getF32Type(), loc)});
  } else {
    epilogue.takeBody(linear.getEpilogue());
  }
  Block &body = epilogue.front();
  Value sum = body.getArgument(0), gate = body.addArgument(b.getF32Type(), slice.getLoc());
  b.setInsertionPointToStart(&body);
  Value zero = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(0));
  Value open = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNE, gate, zero);
  auto kept = arith::SelectOp::create(b, loc, open, sum, zero);
  sum.replaceAllUsesExcept(kept, kept);
  linear->getResult(0).replaceAllUsesWith(gated.getResult(0));
  linear.erase();
  remarks::passed(gated, remarks::GateRows) << "rows that have not chosen this expert are left out";
  return true;
}

/// The linears whose results are multiplied by `gate` as it is read by `user`, and by nothing else.
static SmallVector<LinearOp> multiplied(OpOperand &gate) {
  Operation *user = gate.getOwner();
  auto linear = dyn_cast<LinearOp>(user);
  if (!isa<MapOp>(user) && (!linear || linear.getEpilogue().empty()))
    return {};
  // Arguments of the body stand for the sum and the extras, or for a map's operands.
  unsigned before = linear ? user->getNumOperands() - linear.getExtras().size() : 0;
  if (gate.getOperandNumber() < before)
    return {};
  unsigned shift = linear ? 1 : 0;
  Block &body = user->getRegion(0).front();
  SmallVector<LinearOp> found;
  for (Operation *product : body.getArgument(gate.getOperandNumber() - before + shift).getUsers()) {
    if (!isa<arith::MulFOp>(product))
      continue;
    for (Value factor : product->getOperands()) {
      auto argument = dyn_cast<BlockArgument>(factor);
      if (!argument || argument.getOwner() != &body || !argument.hasOneUse())
        continue;
      if (linear && argument.getArgNumber() == 0)
        found.push_back(linear);
      else if (LinearOp other =
                   onlyLinear(user->getOperand(argument.getArgNumber() - shift + before), user->getBlock()))
        found.push_back(other);
    }
  }
  return found;
}

namespace {
struct GateLinears final : heddle::model::impl::GateLinearsPassBase<GateLinears> {
  void runOnOperation() override {
    SmallVector<SliceOp> gates;
    getOperation().walk([&](SliceOp slice) {
      ModelTensorType from = typeOf(slice.getOperand()), to = slice.getType();
      int64_t last = from.getRank() - 1;
      if (from.getElementType().isF32() && int64_t(slice.getAxis()) == last && to.getSize(last).is(1) &&
          chosenBy(slice.getOperand()))
        gates.push_back(slice);
    });
    for (SliceOp gate : gates) {
      if (!gate->hasOneUse()) {
        remarks::missed(gate, remarks::GateRows, "several ops read this gate, and one product may");
        continue;
      }
      SmallVector<LinearOp> experts = multiplied(*gate->use_begin());
      if (experts.empty())
        remarks::missed(gate, remarks::GateRows, "this gate multiplies no result of a linear that nothing else reads");
      for (LinearOp linear : experts)
        if (linear->getNumResults() == 1 && linear->getBlock() == gate->getBlock())
          Gate(gate).close(linear);
    }
  }
};
} // namespace
