//===- MaskConnectives.cpp - and, or, +, not, a choice ------------------------===//
//
// Connectives answer from their operands: `and` takes the nearer limit, `or`, `+` and a choice the
// farther one. Then questions about a whole mask, by its structure. The set of connectives is closed;
// only leaves are ever added.
//
//===----------------------------------------------------------------------===//

#include "dialects/Mask/IR/MaskTables.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace heddle::mask;

//===-- reach and axes -----------------------------------------------------------===//

static Reach reachOf(Value mask) {
  auto op = ask(mask);
  return op ? op.reach() : Reach{};
}
static Reach nearer(Reach a, Reach b) {
  auto least = [](std::optional<int64_t> x, std::optional<int64_t> y) {
    return !x ? y : !y ? x : std::optional(std::min(*x, *y));
  };
  return {least(a.ahead, b.ahead), least(a.behind, b.behind)};
}
static Reach farther(Reach a, Reach b) {
  auto most = [](std::optional<int64_t> x, std::optional<int64_t> y) {
    return x && y ? std::optional(std::max(*x, *y)) : std::nullopt;
  };
  return {most(a.ahead, b.ahead), most(a.behind, b.behind)};
}
Reach AndOp::reach() { return nearer(reachOf(getLhs()), reachOf(getRhs())); }
Reach OrOp::reach() { return farther(reachOf(getLhs()), reachOf(getRhs())); }
Reach AddOp::reach() { return farther(reachOf(getLhs()), reachOf(getRhs())); }
LogicalResult SelectOp::verify() { return needsRank(*this, getCondition(), 0, 0, "condition"); } // select_c1
Reach SelectOp::reach() { return farther(reachOf(getYes()), reachOf(getNo())); }

static Axes axesOfMask(Value mask) {
  auto op = ask(mask);
  return op ? op.dependsOn() : Batch | Head | Query | Key;
}
Axes NotOp::dependsOn() { return axesOfMask(getOperand()); }
Axes AndOp::dependsOn() { return axesOfMask(getLhs()) | axesOfMask(getRhs()); }
Axes OrOp::dependsOn() { return axesOfMask(getLhs()) | axesOfMask(getRhs()); }
Axes AddOp::dependsOn() { return axesOfMask(getLhs()) | axesOfMask(getRhs()); }
Axes SelectOp::dependsOn() { return axesOfMask(getYes()) | axesOfMask(getNo()); }

/// A connective reads no positions itself.
Positions NotOp::positions() { return Positions::Order; }
Positions AndOp::positions() { return Positions::Order; }
Positions OrOp::positions() { return Positions::Order; }
Positions AddOp::positions() { return Positions::Order; }
Positions SelectOp::positions() { return Positions::Order; }

//===-- truth and proofs -----------------------------------------------------------===//

Truth heddle::mask::truthOf(Value mask, KeysTruth keys) {
  if (!mask)
    return Truth::Always;
  auto op = ask(mask);
  return op ? op.implies(keys) : Truth::Unknown;
}
Truth heddle::mask::truthOf(Value mask) {
  return truthOf(mask, [](Value) { return Truth::Unknown; });
}

static Truth inverse(Truth t) {
  return t == Truth::Never ? Truth::Always : t == Truth::Always ? Truth::Never : Truth::Unknown;
}
/// Whether two values are the same mask, possibly by two equal ops.
static bool sameMask(Value x, Value y) {
  Operation *a = x.getDefiningOp(), *b = y.getDefiningOp();
  if (x == y)
    return true;
  if (!a || !b || a->getName() != b->getName() || a->getNumOperands() != b->getNumOperands() ||
      a->getPropertiesAsAttribute() != b->getPropertiesAsAttribute() || !isa<MaskType>(x.getType()))
    return false;
  for (auto [p, q] : llvm::zip(a->getOperands(), b->getOperands()))
    if (!sameMask(p, q))
      return false;
  return true;
}
/// Whether one is written as the negation of the other.
static bool areOpposite(Value x, Value y) {
  auto negates = [](Value p, Value q) {
    auto n = p.getDefiningOp<NotOp>();
    return n && sameMask(n.getOperand(), q);
  };
  return negates(x, y) || negates(y, x);
}

Truth AndOp::implies(KeysTruth keys) {
  return areOpposite(getLhs(), getRhs()) ? Truth::Never : std::min(truthOf(getLhs(), keys), truthOf(getRhs(), keys));
}
Truth OrOp::implies(KeysTruth keys) {
  return areOpposite(getLhs(), getRhs()) ? Truth::Always : std::max(truthOf(getLhs(), keys), truthOf(getRhs(), keys));
}
Truth AddOp::implies(KeysTruth keys) {
  return areOpposite(getLhs(), getRhs()) ? Truth::Always : std::max(truthOf(getLhs(), keys), truthOf(getRhs(), keys));
}
Truth NotOp::implies(KeysTruth keys) { return inverse(truthOf(getOperand(), keys)); }
Truth SelectOp::implies(KeysTruth keys) {
  Truth yes = truthOf(getYes(), keys);
  return yes == truthOf(getNo(), keys) ? yes : Truth::Unknown;
}

static bool sees(Value mask, Witness w, const Facts &facts) {
  auto op = ask(mask);
  return op && op.surelySees(w, facts);
}
bool AndOp::surelySees(Witness w, const Facts &f) { return sees(getLhs(), w, f) && sees(getRhs(), w, f); }
bool OrOp::surelySees(Witness w, const Facts &f) { return sees(getLhs(), w, f) || sees(getRhs(), w, f); }
bool AddOp::surelySees(Witness w, const Facts &f) { return sees(getLhs(), w, f) || sees(getRhs(), w, f); }
bool SelectOp::surelySees(Witness w, const Facts &f) { return sees(getYes(), w, f) && sees(getNo(), w, f); }
bool NotOp::surelySees(Witness, const Facts &) { return isa_and_nonnull<NoneOp>(getOperand().getDefiningOp()); }

//===-- the operands of the root -------------------------------------------------===//

/// `need` is an i32; a root with more operands is treated as one operand.
static constexpr size_t kMostResiduals = 31;

static void flatten(Value mask, OperationName connective, llvm::SetVector<Value> &into) {
  Operation *op = mask.getDefiningOp();
  if (op->getName() != connective)
    return (void)into.insert(mask);
  for (Value operand : op->getOperands())
    flatten(operand, connective, into);
}

Residuals heddle::mask::residuals(Value mask) {
  Residuals r{!isa<OrOp>(mask.getDefiningOp()), {}};
  llvm::SetVector<Value> operands;
  if (isa<AndOp, OrOp>(mask.getDefiningOp()))
    flatten(mask, mask.getDefiningOp()->getName(), operands);
  else
    operands.insert(mask);
  for (Value operand : operands) {
    Sides sides = ask(operand).sides();
    // A band is the conjunction of its sides: in a conjunction they are operands by themselves, in a
    // disjunction the band is one operand.
    bool apart = r.conjunction ? sides != Sides::NotABand : sides == Sides::Lower || sides == Sides::Upper;
    if (!apart)
      r.operands.push_back({operand});
    for (Sides side : {Sides::Lower, Sides::Upper})
      if (apart && has(sides, side))
        r.operands.push_back({operand, side});
  }
  if (r.operands.size() > kMostResiduals)
    return {true, {{mask}}};
  return r;
}

//===-- leaves -----------------------------------------------------------------------===//

bool heddle::mask::isCounted(Value mask) {
  Operation *op = mask.getDefiningOp();
  if (isa<AddOp>(op))
    return true;
  return llvm::any_of(op->getOperands(), [](Value v) { return isa<MaskType>(v.getType()) && isCounted(v); });
}

void heddle::mask::collectLeaves(Value mask, SmallVectorImpl<Operation *> &leaves) {
  Operation *op = mask.getDefiningOp();
  bool leaf = true;
  for (Value v : op->getOperands())
    if (isa<MaskType>(v.getType())) {
      collectLeaves(v, leaves);
      leaf = false;
    }
  if ((leaf || isa<SelectOp>(op)) && !llvm::is_contained(leaves, op))
    leaves.push_back(op);
}

SmallVector<Value> heddle::mask::keySetsOf(Value mask) {
  SmallVector<Value> sets;
  Operation *op = mask.getDefiningOp();
  if (auto keys = dyn_cast_or_null<KeysOp>(op))
    sets.push_back(keys.getTensor());
  else if (op)
    for (Value v : op->getOperands())
      if (isa<MaskType>(v.getType()))
        sets.append(keySetsOf(v));
  return sets;
}

SmallVector<Operation *> heddle::mask::leadingKeys(Value mask) {
  Operation *op = mask ? mask.getDefiningOp() : nullptr;
  auto isKeys = [](Operation *o) { return isa_and_nonnull<KeysOp>(o); };
  auto hidden = dyn_cast_or_null<NotOp>(op);
  if (isKeys(op) || (hidden && isKeys(hidden.getOperand().getDefiningOp())))
    return {op};
  bool conjunction = isa_and_nonnull<AndOp>(op);
  if (!conjunction && !isa_and_nonnull<OrOp, AddOp, SelectOp>(op))
    return {};
  unsigned n = op->getNumOperands();
  SmallVector<Operation *> found = leadingKeys(op->getOperand(n - 2)), other = leadingKeys(op->getOperand(n - 1));
  if (!conjunction) // only what both sides require
    llvm::erase_if(found, [&](Operation *o) { return !llvm::is_contained(other, o); });
  for (Operation *o : other)
    if (conjunction && !llvm::is_contained(found, o))
      found.push_back(o);
  return found;
}
