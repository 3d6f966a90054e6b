//===- StepAnalysis.cpp - kinds and stability of every value --------------===//
//
// A value is stable if its operands are and its op keeps rows apart or takes them in order. A
// value without step axis that depends on rows changes with every token, and what it is joined
// with is not stable.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ModelToEntries/StepAnalysis.h"
#include "dialects/Model/IR/Names.h"
#include "dialects/Model/IR/ReservedDims.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::entries;
using model::ModelTensorType;
using model::Size;

Size entries::pastDim() { return Size::dim(model::kPastDim); }
Size entries::newDim() { return Size::dim(model::kNewDim); }
Size entries::allRows() { return pastDim() + newDim(); }

SmallVector<unsigned, 2> StepAnalysis::stepAxes(Value v) const {
  SmallVector<unsigned, 2> out;
  if (auto t = dyn_cast<ModelTensorType>(v.getType()))
    for (int64_t i = 0; i < t.getRank(); ++i)
      if (t.getSize(i).uses(roles.axis))
        out.push_back(i);
  return out;
}

bool StepAnalysis::isAlong(Operation *op) const {
  auto rows = dyn_cast<model::StepInterface>(op);
  if (rows)
    for (OpOperand &o : op->getOpOperands())
      for (unsigned a : stepAxes(o.get()))
        if (rows.relateStep(o.getOperandNumber(), a).kind == model::StepRelation::Along)
          return true;
  return false;
}

std::optional<int64_t> StepAnalysis::offset(Value v, unsigned axis) const {
  return (cast<ModelTensorType>(v.getType()).getSize(axis) - Size::dim(roles.axis)).constant();
}

bool StepAnalysis::uses(StringRef form) const {
  std::optional<Size> s = Size::parse(form);
  return s && s->uses(roles.axis);
}

Kind StepAnalysis::shapeOf(Value v) const {
  SmallVector<unsigned, 2> axes = stepAxes(v);
  for (unsigned a : axes)
    if (!offset(v, a))
      return Kind::Odd;
  return axes.empty() ? Kind::Fixed : axes.size() == 1 ? Kind::Rows : axes.size() == 2 ? Kind::Grid : Kind::Odd;
}

const Reason *StepAnalysis::reason(Operation &op, std::string why, Value frontier) {
  Location where = model::withName("", op.getLoc()); // of a statement, whatever values it made
  for (Reason &r : reasons)
    if (r.where == where && r.why == why && r.frontier == frontier)
      return &r;
  return &reasons.emplace_back(Reason{where, std::move(why), frontier});
}

std::string entries::describe(Value v, const StepAnalysis &kinds) {
  Operation *op = v.getDefiningOp();
  if (!op)
    return "a carried value";
  if (auto reduce = dyn_cast<model::ReduceOp>(op))
    return model::stringifyReduceKind(reduce.getKind()).str() + " over the step axis";
  if (auto size = dyn_cast<model::SizeOp>(op))
    return "the length " + size.getSize().str();
  if (auto slice = dyn_cast<model::SliceOp>(op))
    return "the slice [" + slice.getFrom().str() + ":" + slice.getTo().str() + "] of the step axis";
  return op->getName().stripDialect().str();
}

void StepAnalysis::classify(const DenseSet<Value> &assumed) {
  steady = assumed;
  facts.clear();
  for (BlockArgument a : run.getArguments()) {
    Facts f;
    f.kind = shapeOf(a);
    f.inputs = true;
    auto name = run.getArgAttrOfType<StringAttr>(a.getArgNumber(), "model.name");
    if (f.kind == Kind::Odd)
      f.unstable = reason(*run, "an input has an axis that is not a row a token");
    else if (f.kind != Kind::Fixed && !roles.grows(name ? name.getValue() : ""))
      f.unstable = reason(*run, "the input '" + (name ? name.getValue().str() : "") +
                                    "' has the step axis, and `generate` gives it no role: nothing says how it grows");
    facts[a] = f;
  }
  for (Operation &op : run.getBody().front())
    classify(op);
}

/// The mask's reach ahead of a query, less the position of the first key row.
std::optional<int64_t> StepAnalysis::ahead(attn::SdpaOp op) const {
  std::optional<Size> start = Size::parse(op.getKeyStart());
  if (!op.getMask() || !start || !start->constant())
    return std::nullopt;
  auto mask = op.getMask().getDefiningOp<mask::MaskOpInterface>();
  std::optional<int64_t> reach = mask ? mask.reach().ahead : std::nullopt;
  if (!reach)
    return std::nullopt;
  return *reach - *start->constant() - offset(op.getKey());
}

/// A mask or a bias has the facts of its operands; a step axis must be where the op reads
/// queries or keys.
void StepAnalysis::classifyMaskOrBias(Operation &op) {
  Facts f;
  for (OpOperand &o : op.getOpOperands()) {
    const Facts &in = of(o.get());
    f.inputs |= in.inputs;
    if (in.kind != Kind::Fixed)
      f.kind = Kind::MaskOrBias;
    if (!f.unstable)
      f.unstable = in.unstable;
    auto sides = dyn_cast<model::SidesInterface>(op);
    if (!sides)
      continue;
    int64_t rank = 0;
    if (auto t = dyn_cast<ModelTensorType>(o.get().getType()))
      rank = t.getRank();
    for (unsigned a : stepAxes(o.get())) {
      bool fits = true;
      switch (sides.stepSide(o.getOperandNumber())) {
      case model::StepSide::Queries:
      case model::StepSide::Keys:
      case model::StepSide::Both: fits = a + 1 == rank; break;
      case model::StepSide::QueriesAndKeys: fits = a + 2 >= rank; break;
      case model::StepSide::RowsOfQueries:
      case model::StepSide::RowsOfKeys: fits = a == 1; break;
      case model::StepSide::Table: fits = a == 0; break;
      case model::StepSide::None: fits = false; break;
      }
      if (!fits && !f.unstable)
        f.unstable = reason(op, op.getName().stripDialect().str() + ": the step axis is neither queries nor keys");
    }
  }
  if (auto dot = dyn_cast<attn::RelativeDotOp>(op))
    if (uses(dot.getZero())) {
      f.kind = Kind::MaskOrBias;
      if (!f.unstable)
        f.unstable = reason(op, "the distance that relative_dot counts from depends on " + roles.axis);
    }
  facts[op.getResult(0)] = f;
}

void StepAnalysis::attention(attn::SdpaOp op, Facts &f) {
  if (of(op.getKey()).kind != Kind::Rows)
    return;
  f.past = true;
  for (Value v : {op.getKey(), op.getValue()})
    for (unsigned a : stepAxes(v))
      if (a != 1)
        f.unstable = reason(*op, "attention: the step axis of the keys is not their rows");
  if (f.unstable)
    return;
  if (uses(op.getKeyStart())) {
    f.unstable = reason(*op, "key_start depends on " + roles.axis);
    return;
  }
  std::optional<int64_t> late = ahead(op);
  if (late && *late <= 0)
    return;
  f.unstable = reason(*op, "attention may see keys of later positions: its mask does not imply causal" +
                               (late ? " (it reaches " + std::to_string(*late) + " ahead)" : std::string()));
}

const Reason *StepAnalysis::along(OpOperand &operand, unsigned axis) {
  Operation &op = *operand.getOwner();
  Size length = cast<ModelTensorType>(operand.get().getType()).getSize(axis);
  if (isa<model::CumsumOp, model::ReduceOp>(op))
    return nullptr;
  if (auto concat = dyn_cast<model::ConcatOp>(op)) {
    for (Value v : concat.getOperands().drop_back())
      if (of(v).kind != Kind::Fixed && of(v).kind != Kind::Frozen)
        return reason(op, "concat puts rows that grow before others: a row's place changes with every token");
    return nullptr;
  }
  if (auto pad = dyn_cast<model::PadOp>(op)) {
    if (pad.getAfter() != "0")
      return reason(op, "pad after the last row: a row's place changes with every token");
    return uses(pad.getBefore()) ? reason(op, "pad before by a length that changes with every token") : nullptr;
  }
  if (auto conv = dyn_cast<model::ConvOp>(op)) {
    unsigned i = axis - 1;
    std::optional<int64_t> taps = conv.getWeight().getType().getSize(2 + i).constant();
    int64_t reach = taps ? conv.getDilation()[i] * (*taps - 1) : -1;
    if (conv.getStride()[i] != 1)
      return reason(op, "conv with stride " + std::to_string(conv.getStride()[i]) + ": not a row a token");
    if (int64_t after = conv.getPadding()[2 * i + 1])
      return reason(op, "conv looks " + std::to_string(after) + (after > 1 ? " rows" : " row") + " ahead (padding " +
                            std::to_string(after) + " after; causal is [" + std::to_string(reach) + ", 0])");
    return nullptr;
  }
  if (auto slice = dyn_cast<model::SliceOp>(op)) {
    Size from = *Size::parse(slice.getFrom()), to = *Size::parse(slice.getTo());
    if (from.constant() && (to.constant() || (length - to).constant()))
      return nullptr;
    return reason(op, describe(op.getResult(0), *this) + " moves with every token");
  }
  if (isa<model::GatherOp>(op))
    return reason(op, "gather takes rows of any position");
  return reason(op, op.getName().stripDialect().str() + " has no rule for the step axis");
}

void StepAnalysis::classify(model::DefaultOp op) {
  for (Operation &inner : op.getBody().front())
    classify(inner);
  const Facts given = of(op.getInput());
  const Facts stands = of(cast<model::YieldOp>(op.getBody().front().getTerminator()).getOperand(0));
  Facts f = given;
  auto arg = dyn_cast<BlockArgument>(op.getInput());
  auto name = arg ? run.getArgAttrOfType<StringAttr>(arg.getArgNumber(), "model.name") : StringAttr();
  bool role = name && roles.grows(name.getValue());
  if (given.kind == Kind::Rows && !role) { // not given while generating: the step uses the default
    f = stands;
    f.kind = Kind::Rows;
  } else if (given.kind == Kind::Fixed && stands.kind != Kind::Fixed) {
    f.kind = Kind::Now;
    f.unstable = reason(*op, "what stands for an input that was not given changes with every token");
  }
  facts[op.getResult()] = f;
}

void StepAnalysis::classify(model::RepeatOp op) {
  Block &body = op.getBody().front();
  facts[body.getArgument(0)] = {};
  for (auto [arg, init] : llvm::zip(op.getCarriedArgs(), op.getCarried()))
    facts[arg] = Facts(of(init));
  Operation *yield = body.getTerminator();
  for (bool changed = true; changed;) {
    changed = false;
    for (Operation &inner : body)
      if (&inner != yield)
        classify(inner);
    for (unsigned i = 0; i < op.getNumCarried(); ++i) {
      Facts &a = facts[body.getArgument(i + 1)];
      const Facts &y = of(yield->getOperand(i));
      Facts joined{std::max(a.kind, y.kind), a.inputs || y.inputs, a.past || y.past,
                   a.unstable ? a.unstable : y.unstable};
      if (joined.kind != a.kind || joined.inputs != a.inputs || joined.past != a.past || joined.unstable != a.unstable)
        changed = true;
      a = joined;
    }
  }
  for (auto [i, r] : llvm::enumerate(op.getResults()))
    facts[r] = Facts(i < op.getNumCarried() ? of(body.getArgument(i + 1)) : of(yield->getOperand(i)));
}

/// One op: join the facts of its operands, apply its relation to the step axis, then set the
/// kind of each result by its shape.
void StepAnalysis::classify(Operation &op) {
  if (auto repeat = dyn_cast<model::RepeatOp>(op))
    return classify(repeat);
  if (auto def = dyn_cast<model::DefaultOp>(op))
    return classify(def);
  if (op.getNumResults() == 0)
    return;
  if (isa<mask::MaskType, attn::BiasType>(op.getResult(0).getType()))
    return classifyMaskOrBias(op);

  Facts f;
  bool reached = false; // some operand is not fixed
  bool early = true;    // and all of those are frozen
  for (OpOperand &o : op.getOpOperands()) {
    const Facts &in = of(o.get());
    f.inputs |= in.inputs;
    f.past |= in.past;
    if (in.kind != Kind::Fixed) {
      reached = true;
      early &= in.kind == Kind::Frozen;
    }
    if (!f.unstable)
      f.unstable = in.unstable;
  }
  if (auto sdpa = dyn_cast<attn::SdpaOp>(op)) {
    if (!f.unstable)
      attention(sdpa, f);
    f.past |= of(sdpa.getKey()).kind == Kind::Rows;
  } else if (auto range = dyn_cast<model::RangeOp>(op)) {
    reached = uses(range.getFrom()) || uses(range.getTo());
    early = false;
    if (uses(range.getFrom()))
      f.unstable = reason(op, "range starts at a bound that moves with every token");
  } else if (auto size = dyn_cast<model::SizeOp>(op)) {
    reached = uses(size.getSize());
    early = false;
  } else if (auto rows = dyn_cast<model::StepInterface>(op)) {
    for (OpOperand &o : op.getOpOperands())
      for (unsigned a : stepAxes(o.get())) {
        model::StepRelation r = rows.relateStep(o.getOperandNumber(), a);
        f.past |= r.kind == model::StepRelation::Along;
        if (f.unstable || r.kind == model::StepRelation::Same)
          continue;
        f.unstable = r.kind == model::StepRelation::Mixed ? reason(op, r.why) : along(o, a);
      }
  } else if (reached && !f.unstable) {
    f.unstable = reason(op, op.getName().stripDialect().str() + " has no rule for the step axis");
  }

  const Reason *below = f.unstable;
  for (Value v : op.getResults()) {
    Facts mine = f;
    mine.unstable = below;
    mine.kind = shapeOf(v);
    if (mine.kind == Kind::Odd && !below) {
      std::string lengths;
      for (unsigned a : stepAxes(v))
        lengths += (lengths.empty() ? "" : ", ") + cast<ModelTensorType>(v.getType()).getSize(a).str();
      mine.unstable = reason(op, "an axis of length " + lengths + " is not a row a token");
    }
    if (mine.kind == Kind::Fixed && reached) {
      auto slice = dyn_cast<model::SliceOp>(op); // the first rows of a stable value do not change
      bool first = slice && !below && of(slice.getOperand()).kind == Kind::Rows && !uses(slice.getFrom()) &&
                   !uses(slice.getTo());
      mine.kind = first || (early && !below) ? Kind::Frozen : Kind::Now;
      if (mine.kind == Kind::Now) {
        // The reason is that of an operand that changes; if there is none, change begins here.
        const Reason *deep = nullptr;
        for (Value o : op.getOperands())
          if (!deep && of(o).kind == Kind::Now)
            deep = of(o).unstable;
        mine.unstable = steady.contains(v) ? nullptr
                        : deep             ? &reasons.emplace_back(Reason{deep->where, deep->why, v})
                                           : reason(op, describe(v, *this) + " changes with every token", v);
      }
    }
    facts[v] = mine;
  }
}
