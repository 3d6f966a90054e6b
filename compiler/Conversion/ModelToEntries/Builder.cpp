//===- Builder.cpp - values by demand --------------------------------------===//
//
// The general case: in which mode each operand is asked for, and the op again on those.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ModelToEntries/Builder.h"
#include "dialects/Model/IR/Names.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::entries;
using model::ModelTensorType;
using model::Size;

Value entries::Builder::refuse(const Reason *reason, Value held) {
  for (Refusal &r : refusals)
    if (r.reason->where == reason->where && r.reason->why == reason->why)
      return {};
  refusals.push_back({reason, held});
  return {};
}

/// The repeat around `region`, outside of regions of defaults.
static model::RepeatOp repeatAround(Region *region) {
  while (region) {
    if (auto repeat = dyn_cast<model::RepeatOp>(region->getParentOp()))
      return repeat;
    region = region->getParentOp()->getParentRegion();
  }
  return {};
}

OpBuilder &entries::Builder::at(Region *region) {
  model::RepeatOp repeat = repeatAround(region);
  for (Frame &f : llvm::reverse(frames))
    if (f.source == repeat)
      return f.b;
  return b;
}

SmallVector<Value> entries::Builder::indices(Value v) {
  SmallVector<Value> out;
  for (model::RepeatOp r = repeatAround(v.getParentRegion()); r; r = repeatAround(r->getParentRegion()))
    for (Frame &f : frames)
      if (f.source == r)
        out.insert(out.begin(), f.block->getArgument(0));
  return out;
}

model::StateType entries::Builder::stateType(Value v, ArrayRef<Size> shape, Type element) {
  SmallVector<Size> sizes(shape);
  for (model::RepeatOp r = repeatAround(v.getParentRegion()); r; r = repeatAround(r->getParentRegion()))
    sizes.insert(sizes.begin(), Size(int64_t(r.getCount())));
  return model::StateType::get(b.getContext(), sizes, element);
}

Value entries::Builder::state(Value v, StringRef what, ArrayRef<Size> shape, Type element) {
  Value arg = into.getBody().front().addArgument(stateType(v, shape, element), model::locationOf(v));
  keptStates[(what + Twine(numStates++)).str()] = arg;
  return arg;
}

ModelTensorType entries::Builder::typeIn(Value v, StringRef mode) {
  auto t = cast<ModelTensorType>(v.getType());
  for (auto [i, axis] : llvm::enumerate(kinds.stepAxes(v))) {
    std::optional<int64_t> c = kinds.offset(v, axis);
    t = t.withSize(axis, mode[i] == 'n' ? newDim() : mode[i] == 'l' ? Size(1) : allRows() + Size(c.value_or(0)));
  }
  return t;
}

/// Rewrites size forms over the step dim in attributes to past and new.
static void renameForms(Operation *op, const StepAnalysis &kinds, Size length) {
  for (NamedAttribute a : llvm::to_vector(op->getAttrs())) {
    auto text = dyn_cast<StringAttr>(a.getValue());
    bool form =
        llvm::is_contained({"from", "to", "size", "before", "after", "zero", "key_start"}, a.getName().getValue());
    if (!text || !form || !kinds.uses(text.getValue()))
      continue;
    Size renamed = Size::parse(text.getValue())->substitute({{kinds.roles.axis, length}});
    op->setAttr(a.getName(), StringAttr::get(op->getContext(), renamed.str()));
  }
}

Operation *entries::Builder::again(OpBuilder &where, Operation *op, ValueRange operands) {
  Operation *copy = op->cloneWithoutRegions();
  copy->setOperands(operands);
  where.insert(copy);
  for (auto [from, to] : llvm::zip(op->getRegions(), copy->getRegions())) {
    IRMapping inside;
    from.cloneInto(&to, inside);
  }
  renameForms(copy, kinds, allRows());
  auto element = [](Value v) { return cast<ModelTensorType>(v.getType()).getElementType(); };
  if (isa<model::CastOp>(op)) {
    copy->getResult(0).setType(cast<ModelTensorType>(operands[0].getType()).withElement(element(op->getResult(0))));
  } else if (auto infer = dyn_cast<InferTypeOpInterface>(copy)) {
    SmallVector<Type> types;
    if (failed(infer.inferReturnTypes(copy->getContext(), copy->getLoc(), copy->getOperands(),
                                      copy->getAttrDictionary(), copy->getPropertiesStorage(), copy->getRegions(),
                                      types)) ||
        types.size() != copy->getNumResults()) {
      broken = true;
      return copy;
    }
    for (auto [r, t] : llvm::zip(copy->getResults(), types))
      r.setType(t);
  }
  return copy;
}

Value entries::sliceRows(OpBuilder &where, Location loc, Value v, unsigned axis, Size from, Size to) {
  if (from.is(0) && to == cast<ModelTensorType>(v.getType()).getSize(axis))
    return v;
  return model::SliceOp::create(where, loc, v, axis, from.str(), to.str());
}

std::optional<std::string> entries::Builder::modeOf(OpOperand &operand, Value result, StringRef mode) {
  std::string out;
  SmallVector<unsigned, 2> axes = kinds.stepAxes(operand.get()), mine = kinds.stepAxes(result);
  auto rows = dyn_cast<model::StepInterface>(operand.getOwner());
  for (unsigned a : axes) {
    if (!rows)
      return std::nullopt;
    model::StepRelation r = rows.relateStep(operand.getOperandNumber(), a);
    if (r.kind == model::StepRelation::Along) {
      out += 'a';
      continue;
    }
    auto it = llvm::find(mine, r.axis);
    if (r.kind != model::StepRelation::Same || it == mine.end())
      return std::nullopt;
    out += mode[it - mine.begin()];
  }
  return out;
}

Value entries::Builder::get(Value v, std::string mode) {
  Key key{v.getAsOpaquePointer(), mode};
  if (auto it = memo.find(key); it != memo.end())
    return it->second;
  memo[key] = {};
  Value made = make(v, mode);
  if (broken)
    return {};
  return memo[key] = made;
}

/// Ops that may be computed for all rows again instead of keeping their rows in a state.
static bool isCheap(Operation *op) {
  return isa<model::UnaryOp, model::BinaryOp, model::CompareOp, model::SelectOp, model::CastOp, model::BroadcastOp,
             model::SliceOp, model::SqueezeOp, model::UnsqueezeOp, model::RearrangeOp, model::RotaryOp, model::RangeOp,
             model::SinusoidalOp, model::DefaultOp, model::ConcatOp, model::PadOp>(op);
}

/// Computes what `get` returns. In order: masks and biases; values that @once stores; all rows
/// (a state, or computed again); the last row as a slice of new rows; arguments; then the rule
/// of the op.
Value entries::Builder::make(Value v, const std::string &mode) {
  if (isa<mask::MaskType, attn::BiasType>(v.getType()))
    return maskOrBias(v, mode);
  if (v.getType().isIndex())
    return {}; // the index of a repeat, defined while its body is built
  const Facts &f = kinds.of(v);
  if (f.kind == Kind::Fixed && f.inputs && !once)
    return load(v);
  SmallVector<unsigned, 2> axes = kinds.stepAxes(v);
  if (f.kind == Kind::Odd)
    return refuse(f.unstable);
  Operation *op = v.getDefiningOp();

  if (!axes.empty() && mode.find_first_not_of('a') == std::string::npos) {
    if (axes.size() == 1 && !f.unstable && !replays(v, kinds))
      return append(v);
    if (!op || !isCheap(op))
      return refuse(
          f.unstable ? f.unstable : kinds.reason(op ? *op : *kinds.run, "a table of rows by rows is not kept"), v);
  }
  if (mode[0] == 'l') {
    std::string rows = mode;
    rows[0] = 'n';
    bool slices = !op || isa<model::RepeatOp>(op) || kinds.isAlong(op) || (!planning && wasPlanned(v, rows));
    if (slices) {
      Value all = get(v, rows);
      return stop() ? Value() : sliceRows(at(v), model::locationOf(v), all, axes[0], newDim() - Size(1), newDim());
    }
  }
  if (auto arg = dyn_cast<BlockArgument>(v))
    return argument(arg, mode);

  auto result = cast<OpResult>(v);
  if (auto range = dyn_cast<model::RangeOp>(op)) {
    if (axes.empty() || mode == "a" || stop()) // of fixed length, though it may begin at T
      return generic(result, mode);
    int64_t c = kinds.offset(v);
    Size from = *Size::parse(range.getFrom()) + pastDim() + Size(c), to = from + newDim();
    if (mode == "l")
      from = to - Size(1);
    return model::RangeOp::create(at(v), v.getLoc(), from.str(), to.str());
  }
  if (auto def = dyn_cast<model::DefaultOp>(op))
    return defaulted(def, mode);
  if (auto repeat = dyn_cast<model::RepeatOp>(op)) {
    if (planning) {
      planCarried(repeat, result.getResultNumber(), mode);
      return {};
    }
    buildRepeat(repeat);
    return memo[{v.getAsOpaquePointer(), mode}];
  }
  if (auto sdpa = dyn_cast<attn::SdpaOp>(op))
    return attention(sdpa, mode);
  if (kinds.isAlong(op))
    return alongRows(result, mode);
  return generic(result, mode);
}

Value entries::Builder::argument(BlockArgument a, const std::string &mode) {
  if (auto repeat = dyn_cast<model::RepeatOp>(a.getOwner()->getParentOp())) {
    if (planning)
      planCarried(repeat, a.getArgNumber() - 1, mode);
    return {};
  }
  // An input of @run: an argument of the entry from beginBuilding on.
  const Facts &f = kinds.of(a);
  return f.kind != Kind::Fixed && f.unstable ? refuse(f.unstable) : Value();
}

Value entries::Builder::generic(OpResult v, const std::string &mode) {
  Operation *op = v.getOwner();
  SmallVector<Value> operands;
  for (OpOperand &o : op->getOpOperands()) {
    std::optional<std::string> m = modeOf(o, v, mode);
    if (!m) {
      auto rows = dyn_cast<model::StepInterface>(op);
      std::string why = op->getName().stripDialect().str() + " has no rule for the step axis";
      for (unsigned a : kinds.stepAxes(o.get()))
        if (rows)
          if (auto r = rows.relateStep(o.getOperandNumber(), a); r.kind == model::StepRelation::Mixed)
            why = r.why;
      return refuse(kinds.reason(*op, why));
    }
    operands.push_back(get(o.get(), *m));
  }
  if (stop())
    return {};
  OpBuilder &where = at(v);
  if (auto broadcast = dyn_cast<model::BroadcastOp>(op))
    return model::BroadcastOp::create(where, v.getLoc(), typeIn(v, mode), operands[0]);
  Operation *source = op;
  Operation *named = nullptr;
  if (auto rearrange = dyn_cast<model::RearrangeOp>(op); rearrange && !mode.empty()) {
    named = op->clone();
    SmallVector<NamedAttribute> sizes;
    for (NamedAttribute a : rearrange.getSizes()) // others follow from the operand
      if (!kinds.uses(cast<StringAttr>(a.getValue()).getValue()))
        sizes.push_back(a);
    cast<model::RearrangeOp>(named).setSizesAttr(DictionaryAttr::get(b.getContext(), sizes));
    source = named;
  }
  Operation *copy = again(where, source, operands);
  if (named)
    named->destroy();
  for (auto [from, to] : llvm::zip(op->getResults(), copy->getResults()))
    memo[{Value(from).getAsOpaquePointer(), mode}] = to;
  return copy->getResult(v.getResultNumber());
}

Value entries::Builder::defaulted(model::DefaultOp op, const std::string &mode) {
  const Facts &given = kinds.of(op.getInput());
  if (given.kind == Kind::Now || (given.kind == Kind::Fixed && kinds.of(op.getResult()).kind != Kind::Fixed))
    return refuse(kinds.of(op.getResult()).unstable);
  if (given.kind == Kind::Rows && !given.unstable)
    return get(op.getInput(), mode); // an input with a role is always given
  auto yield = cast<model::YieldOp>(op.getBody().front().getTerminator());
  Value stands = yield.getOperand(0);
  if (given.kind == Kind::Rows) { // not given while generating
    int64_t shift = cast<ModelTensorType>(op.getType()).getRank() - cast<ModelTensorType>(stands.getType()).getRank();
    SmallVector<unsigned, 2> mine = kinds.stepAxes(op.getResult());
    std::string m;
    for (unsigned a : kinds.stepAxes(stands))
      m += mode[llvm::find(mine, a + shift) - mine.begin()];
    Value v = get(stands, m);
    if (stop())
      return {};
    ModelTensorType want = typeIn(op.getResult(), mode);
    return v.getType() == want ? v : model::BroadcastOp::create(at(op.getResult()), op.getLoc(), want, v).getResult();
  }
  // @once: a copy of the op with its region and everything that it reads from outside.
  Value input = get(op.getInput(), "");
  IRMapping mapping;
  op.getBody().walk([&](Operation *inner) {
    for (Value v : inner->getOperands())
      if (!op.getBody().isAncestor(v.getParentRegion()))
        mapping.map(v, get(v, ""));
  });
  if (stop())
    return {};
  auto copy = model::DefaultOp::create(at(op.getResult()), op.getLoc(), op.getType(), input);
  op.getBody().cloneInto(&copy.getBody(), mapping);
  return copy.getResult();
}

//===-- phases -----------------------------------------------------------------===//

void entries::Builder::beginBuilding() {
  for (auto &entry : memo)
    planned.insert(entry.first);
  memo.clear();
  planning = false;
  Block *block = into.addEntryBlock();
  b.setInsertionPointToEnd(block);
  for (BlockArgument a : kinds.run.getArguments()) {
    std::string mode(kinds.stepAxes(a).size(), 'n');
    auto name = kinds.run.getArgAttrOfType<StringAttr>(a.getArgNumber(), "model.name");
    bool tokens = !once && name && name.getValue() == kinds.roles.tokens;
    if (!tokens && !wasPlanned(a, mode))
      continue;
    Value arg = block->addArgument(typeIn(a, mode), a.getLoc());
    memo[{a.getAsOpaquePointer(), mode}] = arg;
  }
  if (once)
    for (const Kept &k : kept)
      keptStates[k.state] = block->addArgument(k.type, model::locationOf(k.value));
}

void entries::Builder::finish(ArrayRef<Value> results, ArrayRef<std::string> names) {
  Block &block = into.getBody().front();
  func::ReturnOp::create(b, into.getLoc(), results);
  SmallVector<Type> types;
  for (Value v : results)
    types.push_back(v.getType());
  into.setFunctionType(FunctionType::get(b.getContext(), block.getArgumentTypes(), types));
  for (auto [i, name] : llvm::enumerate(names))
    into.setResultAttr(i, "model.name", b.getStringAttr(name));
  for (BlockArgument a : kinds.run.getArguments())
    for (const char *mode : {"", "n"})
      if (auto it = memo.find({a.getAsOpaquePointer(), mode}); it != memo.end() && it->second) {
        unsigned i = cast<BlockArgument>(it->second).getArgNumber();
        into.setArgAttr(i, "model.name", kinds.run.getArgAttr(a.getArgNumber(), "model.name"));
        if (Attribute absent = kinds.run.getArgAttr(a.getArgNumber(), "model.default"); absent && once)
          into.setArgAttr(i, "model.default", absent);
      }
  for (auto &[name, arg] : keptStates)
    into.setArgAttr(cast<BlockArgument>(arg).getArgNumber(), "model.state", b.getStringAttr(name));
}
