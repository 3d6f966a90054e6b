//===- Repeat.cpp - one body for every layer, in a step too ----------------===//
//
// Repeats in an entry. A repeat is rebuilt with the carried values that are asked for, and its
// body like any other code, from what it yields. States of values in the body get an axis of
// iterations, selected by the repeat's index.
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ModelToEntries/Builder.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::entries;
using model::ModelTensorType;
using model::Size;

/// Plans carried value i in `mode`: its initial value and what every iteration yields. A
/// collected result has no initial value.
void entries::Builder::planCarried(model::RepeatOp op, unsigned i, const std::string &mode) {
  Block &body = op.getBody().front();
  if (i < op.getNumCarried()) {
    get(op.getCarried()[i], mode);
    get(body.getArgument(i + 1), mode);
  }
  get(body.getTerminator()->getOperand(i), mode);
}

/// Rebuilds a repeat once. `live` are its results in the modes that were planned; the new body
/// is built in a frame of its own and then given to the new op.
void entries::Builder::buildRepeat(model::RepeatOp op) {
  if (!built.insert(op.getOperation()).second)
    return;
  Block &body = op.getBody().front();
  Operation *yield = body.getTerminator();
  struct Carried {
    unsigned index;
    std::string mode;
  };
  SmallVector<Carried> live;
  SmallVector<Value> inits;
  for (unsigned i = 0; i < op.getNumResults(); ++i)
    for (const char *mode : {"", "n", "na"}) {
      bool arg = i < op.getNumCarried() && wasPlanned(body.getArgument(i + 1), mode);
      if (!arg && !wasPlanned(op.getResult(i), mode))
        continue;
      Value v = op.getResult(i);
      if (const Facts &f = kinds.of(v); f.kind == Kind::Fixed && f.inputs && !once)
        continue; // loaded from its state where it is read
      live.push_back({i, mode});
      if (i < op.getNumCarried())
        inits.push_back(get(op.getCarried()[i], mode));
    }
  if (stop())
    return;
  auto block = std::make_unique<Block>();
  Value index = block->addArgument(b.getIndexType(), op.getLoc());
  memo[{body.getArgument(0).getAsOpaquePointer(), ""}] = index;
  for (const Carried &c : live)
    if (c.index < op.getNumCarried()) {
      Value source = body.getArgument(c.index + 1);
      memo[{source.getAsOpaquePointer(), c.mode}] = block->addArgument(typeIn(source, c.mode), source.getLoc());
    }
  frames.push_back({op, block.get(), OpBuilder(b.getContext())});
  frames.back().b.setInsertionPointToEnd(block.get());
  SmallVector<Value> yields;
  SmallVector<Type> types;
  for (const Carried &c : live) {
    yields.push_back(get(yield->getOperand(c.index), c.mode));
    types.push_back(typeIn(op.getResult(c.index), c.mode));
  }
  storeInside(op);
  if (stop()) {
    frames.pop_back();
    broken = true;
    block->dropAllReferences();
    return;
  }
  model::YieldOp::create(frames.back().b, yield->getLoc(), yields);
  frames.pop_back();
  OpBuilder &where = at(op->getParentRegion());
  auto copy = model::RepeatOp::create(where, op.getLoc(), types, op.getCount(), inits, op.getFirst());
  copy->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  copy.getBody().push_back(block.release());
  for (auto [i, c] : llvm::enumerate(live))
    memo[{Value(op.getResult(c.index)).getAsOpaquePointer(), c.mode}] = copy.getResult(i);
}

static model::RepeatOp repeatOf(Operation *op) { return op->getParentOfType<model::RepeatOp>(); }
static model::RepeatOp repeatOf(Value v) {
  Operation *parent = v.getParentRegion()->getParentOp();
  auto self = dyn_cast<model::RepeatOp>(parent);
  return self ? self : repeatOf(parent);
}

void entries::Builder::planKept() {
  for (const Kept &k : kept)
    get(k.value, "");
}

/// @once: stores the kept values that are in the body of `op` or in repeats within it.
void entries::Builder::storeInside(model::RepeatOp op) {
  if (!once)
    return;
  for (const Kept &k : kept) {
    model::RepeatOp around = repeatOf(k.value);
    if (around == op) {
      Value v = get(k.value, "");
      if (!stop())
        model::StoreOp::create(at(k.value), k.value.getLoc(), v, keptStates[k.state], indices(k.value));
      continue;
    }
    for (; around; around = repeatOf(around.getOperation()))
      if (repeatOf(around.getOperation()) == op)
        buildRepeat(around);
  }
}

void entries::Builder::storeKept() {
  for (const Kept &k : kept) {
    model::RepeatOp around = repeatOf(k.value);
    if (!around) {
      Value v = get(k.value, "");
      if (!stop())
        model::StoreOp::create(b, k.value.getLoc(), v, keptStates[k.state], ValueRange{});
      continue;
    }
    while (model::RepeatOp outer = repeatOf(around.getOperation()))
      around = outer;
    buildRepeat(around);
  }
}
