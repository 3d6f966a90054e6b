//===- ForgetPadding.cpp - what a mask of ones makes of a step ------------===//
//
// Families count positions from the mask of the tokens, so that padding on the left moves no text: OPT and StarCoder
// look them up in a table, BLOOM and Falcon keep them for every key and add them to the scores. In @batch no row is
// padded, and the mask is 1: a running sum of it is the place of the row, from 1, and the place of key j is j + 1 in
// every text. Said so, nothing needs to be kept.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ModelToEntries/ForgetPadding.h"
#include "dialects/Attn/IR/Attn.h"
#include "dialects/Mask/IR/Mask.h"
#include "dialects/Model/IR/Model.h"
#include "dialects/Model/IR/ReservedDims.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace heddle;
using model::ModelTensorType;
using model::Size;

namespace {

/// The state out of which `v` is loaded where the text has a past (0 elsewhere), as StepRules.cpp writes it; null: it
/// is not.
BlockArgument stateBefore(Value v) {
  auto either = v ? v.getDefiningOp<model::SelectOp>() : model::SelectOp();
  auto held = either ? either.getNo().getDefiningOp<model::LoadOp>() : model::LoadOp();
  return held ? dyn_cast<BlockArgument>(held.getState()) : BlockArgument();
}

/// Whether each element of the result is made of the elements of the operands at the same place, or of one number.
bool isElementwise(Operation *op) {
  return isa<model::UnaryOp, model::BinaryOp, model::CompareOp, model::SelectOp, model::CastOp, model::UnsqueezeOp,
             model::BroadcastOp>(op);
}

class Unpadded {
public:
  Unpadded(BlockArgument mask, Value start) : mask(mask), start(start) {}

  void rewrite() {
    for (Operation *user : llvm::make_early_inc_range(mask.getUsers()))
      if (auto sum = dyn_cast<model::CumsumOp>(user))
        count(sum);
    SmallVector<model::AppendOp> appends;
    mask.getOwner()->walk([&](model::AppendOp op) { appends.push_back(op); });
    for (model::AppendOp op : appends)
      remake(op);
    if (!mask.use_empty()) {
      OpBuilder b = OpBuilder::atBlockBegin(mask.getOwner());
      mask.replaceAllUsesWith(ones(b, mask.getLoc(), cast<ModelTensorType>(mask.getType())));
    }
    mask.getOwner()->walk([&](Operation *op) {
      auto alike = [&](Value v) { return v.getDefiningOp() && everywhere.contains(v.getDefiningOp()); };
      if (isa<model::ConstantOp, model::ParamOp, attn::AlibiSlopesOp>(op) ||
          (isElementwise(op) && llvm::all_of(op->getOperands(), alike)))
        everywhere.insert(op);
    });
  }

  /// The arguments that nothing reads any more.
  llvm::BitVector gone() const {
    llvm::BitVector all(mask.getOwner()->getNumArguments());
    all.set(mask.getArgNumber());
    for (BlockArgument state : kept)
      if (state.use_empty())
        all.set(state.getArgNumber());
    return all;
  }

  /// What is the same for every text: numbers, places of keys, and what is made of these alone.
  llvm::DenseSet<Operation *> everywhere;

private:
  BlockArgument mask;
  Value start;
  llvm::DenseSet<Value> counts;         ///< running sums of the mask, said by the places of rows
  llvm::DenseMap<Value, bool> ofPlaces; ///< what isOfPlaces has said
  llvm::DenseMap<Value, Value> ofKeys;  ///< what forAllKeys has made for an append
  SmallVector<BlockArgument> kept;

  static Value ones(OpBuilder &b, Location loc, ModelTensorType type) {
    Type element = type.getElementType();
    Value one = element.isF32()         ? model::ConstantOp::create(b, loc, 1.0).getResult()
                : element.isInteger(64) ? model::ConstantOp::create(b, loc, int64_t(1)).getResult()
                                        : model::ConstantOp::create(b, loc, true).getResult();
    return model::BroadcastOp::create(b, loc, type, one);
  }
  static Value range(OpBuilder &b, Location loc, Size from, Size to) {
    auto type = ModelTensorType::get(b.getContext(), {to - from}, b.getI64Type());
    return model::RangeOp::create(b, loc, type, from.str(), to.str());
  }

  /// A running sum over all rows of the texts becomes start + 1 + r.
  void count(model::CumsumOp sum) {
    BlockArgument state = stateBefore(sum.getInit());
    if (!state || sum.getAxis() != 1 || !cast<ModelTensorType>(sum.getType()).getElementType().isInteger(64))
      return;
    OpBuilder b(sum);
    Value before = model::UnsqueezeOp::create(b, sum.getLoc(), start, 1),
          rows = range(b, sum.getLoc(), Size(1), Size::dim(model::kNewDim) + Size(1));
    Value places = model::BinaryOp::create(b, sum.getLoc(), model::BinaryKind::add, before, rows);
    counts.insert(places);
    kept.push_back(state);
    // What loads the sum of before and stores that of now is read by nothing else.
    Value loaded = sum.getInit();
    sum.getResult().replaceAllUsesWith(places);
    sum.erase();
    for (Operation *user : llvm::make_early_inc_range(state.getUsers()))
      if (auto store = dyn_cast<model::StoreOp>(user))
        eraseWithSources(store);
    eraseWithSources(loaded.getDefiningOp());
  }

  /// Erases an op that nothing reads, and what it alone read.
  void eraseWithSources(Operation *op) {
    llvm::SetVector<Operation *> unread;
    unread.insert(op);
    while (!unread.empty()) {
      Operation *last = unread.pop_back_val();
      if (!last->use_empty())
        continue;
      for (Value v : last->getOperands())
        if (Operation *def = v.getDefiningOp(); def && !counts.contains(v))
          unread.insert(def);
      last->erase();
    }
  }

  /// Whether the value is made of nothing but the mask, its running sums and numbers.
  bool isOfPlaces(Value v) {
    if (v == mask || counts.contains(v))
      return true;
    if (auto known = ofPlaces.find(v); known != ofPlaces.end())
      return known->second;
    Operation *op = v.getDefiningOp();
    bool is = op && (isa<model::ConstantOp>(op) ||
                     (isElementwise(op) && llvm::all_of(op->getOperands(), [&](Value o) { return isOfPlaces(o); })));
    return ofPlaces[v] = is;
  }

  /// Rows kept that are made of places alone are those of all keys.
  void remake(model::AppendOp op) {
    auto state = dyn_cast<BlockArgument>(op.getState());
    if (!state || !isOfPlaces(op.getRows()))
      return;
    OpBuilder b(op);
    if (op.getRows() == mask)
      for (Operation *keys : llvm::make_early_inc_range(op->getUsers()))
        if (isa<mask::KeysOp>(keys)) {
          keys->getResult(0).replaceAllUsesWith(mask::AllOp::create(b, keys->getLoc()));
          keys->erase();
        }
    if (!op->use_empty())
      op.getResult().replaceAllUsesWith(forAllKeys(b, op.getRows()));
    ofKeys.clear(); // the next append may be where these are not seen
    kept.push_back(state);
    op.erase();
  }

  /// The value for the rows of all keys in place of the new ones.
  Value forAllKeys(OpBuilder &b, Value v) {
    if (Value made = ofKeys.lookup(v))
      return made;
    auto now = cast<ModelTensorType>(v.getType());
    Size keys = Size::dim(model::kPastDim) + Size::dim(model::kNewDim);
    SmallVector<Size> sizes;
    for (const Size &n : now.getSizes())
      sizes.push_back(n.substitute({{model::kNewDim.str(), keys}}));
    ModelTensorType type = now.withSizes(sizes);
    Value made;
    if (v == mask) {
      made = ones(b, v.getLoc(), type);
    } else if (counts.contains(v)) {
      made = model::BroadcastOp::create(b, v.getLoc(), type, range(b, v.getLoc(), Size(1), keys + Size(1)));
      everywhere.insert(cast<model::BroadcastOp>(made.getDefiningOp()).getOperand().getDefiningOp());
    } else if (Operation *op = v.getDefiningOp(); isa<model::ConstantOp>(op)) {
      return v;
    } else {
      IRMapping operands;
      for (Value o : op->getOperands())
        operands.map(o, forAllKeys(b, o));
      made = b.clone(*op, operands)->getResult(0);
      made.setType(type);
    }
    everywhere.insert(made.getDefiningOp());
    return ofKeys[v] = made;
  }
};

} // namespace

FailureOr<llvm::DenseSet<Operation *>> entries::forgetPadding(func::FuncOp batch, BlockArgument mask, Value start) {
  Unpadded unpadded(mask, start);
  unpadded.rewrite();
  if (failed(batch.eraseArguments(unpadded.gone())))
    return failure();
  return unpadded.everywhere;
}
