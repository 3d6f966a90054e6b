//===- Simplify.cpp - mask-simplify ---------------------------------------===//
//
// Each mask used by an op is read into a form (SimplifyForm.h), simplified under the facts that hold
// for all its users, and written back if it changed. Below a `+`, where counts matter, the structure is
// kept, and each part that is 0 or 1 is rewritten by itself.
//
//===----------------------------------------------------------------------===//

#include "dialects/Mask/Transforms/Passes.h"
#include "dialects/Mask/Transforms/SimplifyForm.h"
#include "dialects/Remarks/Remark.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"

namespace heddle::mask {
#define GEN_PASS_DEF_SIMPLIFYPASS
#include "dialects/Mask/Transforms/Passes.h.inc"
} // namespace heddle::mask

using namespace mlir;
using namespace heddle;
using namespace heddle::mask;

namespace {
class Rewriter {
public:
  Rewriter(OpBuilder &b, const Facts &facts) : b(b), facts(facts) {}

  /// An equivalent mask where only 0 or not 0 matters.
  Value simplified(Value mask) {
    bool outer = std::exchange(rewritten, false);
    FormRef form = read(mask), less = simplify(form, facts);
    bool keep = !std::exchange(rewritten, outer) && same(form, less);
    return keep ? mask : write(less, mask.getLoc());
  }
  /// An equivalent mask where counts matter.
  Value counted(Value mask);

private:
  OpBuilder &b;
  const Facts &facts;
  bool rewritten = false; ///< the form differs from the ops it was read from

  FormRef read(Value mask);
  Value write(const FormRef &form, Location loc);
  Value select(SelectOp op, bool counts);
};
} // namespace

/// The condition of a choice if it is constant.
static std::optional<bool> chosen(SelectOp op) {
  auto constant = op.getCondition().getDefiningOp<heddle::model::ConstantOp>();
  auto value = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
  if (!value || !value.isSplat() || !value.getElementType().isInteger(1))
    return std::nullopt;
  return value.getSplatValue<bool>();
}

Value Rewriter::select(SelectOp op, bool counts) {
  auto branch = [&](Value v) { return counts ? counted(v) : simplified(v); };
  if (std::optional<bool> yes = chosen(op))
    return branch(*yes ? op.getYes() : op.getNo());
  Value yes = branch(op.getYes()), no = branch(op.getNo());
  if (yes == no)
    return yes;
  if (yes == op.getYes() && no == op.getNo())
    return op.getResult();
  return SelectOp::create(b, op.getLoc(), op.getCondition(), yes, no);
}

/// The form of a mask: connectives become nodes, bands half-lines, all else atoms.
FormRef Rewriter::read(Value mask) {
  auto joined = [&](Form::Kind kind, Operation *op) {
    return joinForms(kind, {read(op->getOperand(0)), read(op->getOperand(1))});
  };
  Operation *op = mask.getDefiningOp();
  if (!op)
    return atomForm(mask);
  return llvm::TypeSwitch<Operation *, FormRef>(op)
      .Case([&](AllOp) { return constantForm(true); })
      .Case([&](NoneOp) { return constantForm(false); })
      .Case([&](AndOp) { return joined(Form::And, op); })
      .Case([&](OrOp) { return joined(Form::Or, op); })
      .Case([&](AddOp) { // where only 0 or not 0 matters it is an `or`
        rewritten = true;
        return joined(Form::Or, op);
      })
      .Case([&](NotOp n) {
        FormRef operand = read(n.getOperand());
        rewritten |= operand->kind != Form::Atom || operand->flag;
        return negate(operand);
      })
      .Case([&](SelectOp s) {
        Value choice = select(s, /*counts=*/false);
        rewritten |= choice != mask;
        return choice.getDefiningOp<SelectOp>() ? atomForm(choice) : read(choice);
      })
      .Default([&](Operation *) -> FormRef {
        auto leaf = cast<MaskOpInterface>(op);
        std::vector<FormRef> sides;
        for (auto [side, kind] : {std::pair(Sides::Lower, Form::From), std::pair(Sides::Upper, Form::Below)})
          if (has(leaf.sides(), side)) {
            Bound bound = leaf.bound(side);
            if (!isSmall(bound))
              return atomForm(mask);
            sides.push_back(halfLineForm(kind, bound));
          }
        if (sides.empty())
          return atomForm(mask);
        return sides.size() == 1 ? sides.front() : joinForms(Form::And, sides);
      });
}

Value Rewriter::write(const FormRef &form, Location loc) {
  Type type = MaskType::get(b.getContext());
  switch (form->kind) {
  case Form::Constant:
    return form->flag ? AllOp::create(b, loc, type).getResult() : NoneOp::create(b, loc, type).getResult();
  case Form::Below: return createBand(b, loc, {}, form->bound);
  case Form::From: return createBand(b, loc, form->bound, {});
  case Form::Atom: return form->flag ? NotOp::create(b, form->atom.getLoc(), type, form->atom).getResult() : form->atom;
  default: break;
  }
  bool conjunction = form->kind == Form::And;
  SmallVector<Value> operands;
  const Form *from = nullptr, *below = nullptr;
  for (const FormRef &o : form->operands) {
    // A lower and an upper side of a conjunction become one band.
    const Form *&side = o->kind == Form::From ? from : below;
    bool isSide = conjunction && (o->kind == Form::From || o->kind == Form::Below) && !side;
    if (isSide)
      side = o.get();
    else
      operands.push_back(write(o, loc));
  }
  if (from || below)
    operands.insert(operands.begin(),
                    createBand(b, loc, from ? from->bound : Bound(), below ? below->bound : Bound()).getResult());
  Value result = operands.front();
  for (Value next : ArrayRef<Value>(operands).drop_front())
    result = conjunction ? AndOp::create(b, loc, type, result, next).getResult()
                         : OrOp::create(b, loc, type, result, next).getResult();
  return result;
}

/// Whether `mask` can count more than 1 below a `+`.
static bool canCount(Value mask) {
  Operation *op = mask.getDefiningOp();
  if (!op || isa<AddOp, BlocksOp>(op))
    return true;
  return !isa<NotOp>(op) &&
         llvm::any_of(op->getOperands(), [](Value v) { return isa<MaskType>(v.getType()) && canCount(v); });
}

Value Rewriter::counted(Value mask) {
  if (!canCount(mask)) { // `not not blocks` is 0 or 1 where `blocks` may be 2
    Value less = simplified(mask);
    return canCount(less) ? mask : less;
  }
  Operation *op = mask.getDefiningOp();
  if (!op || isa<BlocksOp>(op))
    return mask;
  if (auto choice = dyn_cast<SelectOp>(op))
    return select(choice, /*counts=*/true);
  Value x = counted(op->getOperand(0)), y = counted(op->getOperand(1));
  auto is = [](Value v, auto kind) { return isa_and_nonnull<decltype(kind)>(v.getDefiningOp()); };
  if (isa<AndOp>(op)) { // a product
    if (is(x, NoneOp()) || is(y, AllOp()))
      return x;
    if (is(y, NoneOp()) || is(x, AllOp()))
      return y;
  } else { // a sum or a maximum
    if (is(x, NoneOp()))
      return y;
    if (is(y, NoneOp()))
      return x;
  }
  if (x == op->getOperand(0) && y == op->getOperand(1))
    return mask;
  OperationState state(op->getLoc(), op->getName(), {x, y}, {mask.getType()}, op->getAttrs());
  return b.create(state)->getResult(0);
}

/// Leaves of a mask: what is no connective.
static int64_t leavesOf(Value mask) {
  llvm::SetVector<Value> open;
  open.insert(mask);
  int64_t leaves = 0;
  for (size_t i = 0; i < open.size(); ++i) {
    bool connective = false;
    if (Operation *op = open[i].getDefiningOp())
      for (Value v : op->getOperands())
        if (isa<MaskType>(v.getType())) {
          connective = true;
          open.insert(v);
        }
    leaves += !connective;
  }
  return leaves;
}

/// What became of the mask of `user`, which had `before` leaves.
static void remarkOn(Operation *user, int64_t before, bool changed, Value mask, bool everyRowSees) {
  int64_t after = leavesOf(mask);
  remarks::InFlight remark =
      changed ? remarks::passed(user, remarks::MaskSimplified) : remarks::analysis(user, remarks::MaskSimplified);
  remark.add("before", before) << "the mask has " << remarks::number("after", after)
                               << (after == 1 ? " leaf" : " leaves");
  if (changed)
    remark << ", " << before << " before";
  remark << (everyRowSees ? "; every row sees a key" : "; a row may see no key, and the kernel looks for such rows");
}

namespace {
struct Simplify final : heddle::mask::impl::SimplifyPassBase<Simplify> {
  void runOnOperation() override {
    auto bounds = getOperation()->getAttrOfType<DictionaryAttr>("model.dims");
    llvm::MapVector<Value, Facts> roots;
    SmallVector<MaskUserInterface> users;
    auto maskOf = [](Operation *user) -> Value {
      auto *at = llvm::find_if(user->getOpOperands(), [](OpOperand &o) { return isa<MaskType>(o.get().getType()); });
      return at == user->getOpOperands().end() ? Value() : at->get();
    };
    getOperation().walk([&](MaskUserInterface user) {
      users.push_back(user);
      Facts facts = factsOf(user.maskGrid(), bounds);
      if (Value mask = maskOf(user); mask && mask.getDefiningOp())
        if (auto [it, fresh] = roots.try_emplace(mask, facts); !fresh)
          it->second = meet(it->second, facts);
    });
    llvm::DenseMap<Operation *, std::pair<int64_t, Value>> before; // of users: leaves of their masks, and these
    if (remarks::wanted(getOperation()))
      for (MaskUserInterface user : users)
        if (Value mask = maskOf(user))
          before[user] = {leavesOf(mask), mask};
    for (auto &[mask, facts] : roots) {
      OpBuilder b(mask.getDefiningOp());
      b.setInsertionPointAfter(mask.getDefiningOp());
      Rewriter rewriter(b, facts);
      Value less = isCounted(mask) ? rewriter.counted(mask) : rewriter.simplified(mask);
      mask.replaceUsesWithIf(less, [](OpOperand &use) { return isa<MaskUserInterface>(use.getOwner()); });
    }
    for (MaskUserInterface user : users) {
      bool sees = !rowMayBeEmpty(maskOf(user), factsOf(user.maskGrid(), bounds));
      if (sees)
        user->setAttr("every_row_sees", UnitAttr::get(&getContext()));
      if (auto was = before.find(user); was != before.end())
        remarkOn(user, was->second.first, was->second.second != maskOf(user), maskOf(user), sees);
    }
  }
};
} // namespace
