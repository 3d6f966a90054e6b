//===- PlanMemory.cpp - every result gets its place -----------------------===//
//
// Arena allocation by live ranges. One walk numbers the ops and finds the live range of each
// result; results whose ranges do not overlap share memory. Before that, storages are merged
// where this saves a copy: a view with its source, an elementwise result with an operand whose
// last use it is, a value that a repeat carries with its first value and with what the body
// yields, and what the function returns with the caller's memory.
//
//===----------------------------------------------------------------------===//

#include "compiler/Plan/CacheLayout.h"
#include "compiler/Plan/InPlace.h"
#include "compiler/Plan/Lengths.h"
#include "compiler/Plan/Passes.h"
#include "compiler/Plan/PlanCheck.h"
#include "compiler/Plan/Target.h"
#include "dialects/Model/IR/ModelPlanAttrs.h"
#include "dialects/Model/Transforms/Views.h"
#include "llvm/ADT/MapVector.h"

namespace heddle::plan {
#define GEN_PASS_DEF_PLANMEMORYPASS
#include "compiler/Plan/Passes.h.inc"
} // namespace heddle::plan

using namespace mlir;
using namespace heddle;
using namespace heddle::model;

namespace {
/// One allocation: its size, and its live range in numbers of ops.
struct Storage {
  int64_t begin = 0, end = 0;
  int64_t first = 0, last = 0; ///< the same in levels, where these count
  Size bytes;
  Block *block = nullptr;        ///< where it is defined: uses in deeper repeats last to their end
  Operation *producer = nullptr; ///< the first op that writes it
  int64_t bodyLast = -1;         ///< of a carried value: the last use in the body of the incoming value
  int64_t output = -1;
  PlaceAttr place;
  unsigned merged; ///< union-find: its own index, or the storage that it was merged into
};

/// Plans one function: numbers its ops, finds the life of each storage, merges storages that may be one, assigns
/// places.
class Planner {
public:
  Planner(func::FuncOp function, const plan::Target &target)
      : function(function), target(target), bounds(plan::rowBounds(function)) {}
  void run();

private:
  func::FuncOp function;
  const plan::Target &target;
  std::map<std::string, Size> bounds; ///< of dims that are computed inside the function
  llvm::DenseMap<Operation *, std::pair<int64_t, int64_t>> positions;
  int64_t now = 0;
  /// Of ops: after how many others that each need one another; a repeat and what is in it is after all before it.
  llvm::DenseMap<Operation *, std::pair<int64_t, int64_t>> levels;
  int64_t base = 0, top = 0; ///< where the ops of the block at hand begin, the deepest so far
  std::vector<Storage> storages;
  llvm::DenseMap<Value, SmallVector<unsigned, 1>> roots;
  llvm::DenseSet<Value> exact;                      ///< values that fill their one storage; others are views into it
  llvm::MapVector<Operation *, unsigned> scratches; ///< working memory of ops; several may have one

  unsigned find(unsigned i) {
    while (storages[i].merged != i)
      i = storages[i].merged;
    return i;
  }
  /// The storage that `v` fills; none for views and for what is made of several tensors.
  std::optional<unsigned> whole(Value v) {
    auto it = roots.find(v);
    if (!exact.contains(v) || it == roots.end() || it->second.size() != 1)
      return std::nullopt;
    return find(it->second[0]);
  }
  void merge(unsigned from, unsigned into) {
    Storage &a = storages[from], &c = storages[into];
    if (a.begin < c.begin)
      c.producer = a.producer;
    c.begin = std::min(c.begin, a.begin);
    c.end = std::max(c.end, a.end);
    c.first = std::min(c.first, a.first);
    c.last = std::max(c.last, a.last);
    a.merged = into;
  }

  Size bytesOf(ModelTensorType t);
  Size bytesOf(OpResult result);
  void number(Block &block);
  unsigned create(Value v, Size bytes, Operation *op);
  void touch(Value v, Operation *user);
  void visit(Block &block);
  void visit(Operation *op);
  void visitRepeat(RepeatOp op);
  bool mayOverwrite(Operation *op, Value operand, unsigned root);
  void mergeInPlace(Operation *op);
  void mergeRows(Operation *op);
  void mergeYields(RepeatOp op);
  void mergeRepeat(RepeatOp op);
  void mergeReturn(func::ReturnOp op);
  void assign();
  void record();
};
} // namespace

Size Planner::bytesOf(ModelTensorType t) {
  return t.getCount().substitute(bounds) * Size(plan::bytesOf(t.getElementType()));
}

Size Planner::bytesOf(OpResult result) {
  std::optional<Size> own = target.bytesOf(result);
  return own ? own->substitute(bounds) : bytesOf(cast<ModelTensorType>(result.getType()));
}

/// Whether `op` may work in place, writing its result over `operand` in the storage `root`: every read of that storage
/// must be of just the element that is written.
bool Planner::mayOverwrite(Operation *op, Value operand, unsigned root) {
  if (op->getNumResults() != 1 || op->getResult(0).getType() != operand.getType() || target.bytesOf(op->getResult(0)))
    return false;
  SmallVector<Value> elementwise = plan::elementwiseOperands(op);
  if (!llvm::is_contained(elementwise, operand))
    return false;
  unsigned inner = isa<LinearOp>(op) ? op->getNumOperands() - elementwise.size() : 0; // read as a whole
  for (auto [i, other] : llvm::enumerate(op->getOperands()))
    if (auto it = roots.find(other); it != roots.end())
      for (unsigned mine : it->second)
        if (find(mine) == root && (i < inner || other.getType() != operand.getType() || !exact.contains(other)))
          return false;
  return true;
}

void Planner::number(Block &block) {
  for (Operation &op : block) {
    int64_t begin = now++, level = base;
    bool around = op.getNumRegions() && !isa<MapOp, LinearOp>(op);
    for (Value v : op.getOperands())
      if (auto it = levels.find(v.getDefiningOp()); it != levels.end())
        level = std::max(level, it->second.second + 1);
    if (around) {
      level = top + 1;
      base = top = level + 1;
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          number(inner);
      base = top + 1;
    }
    top = std::max(top, around ? base : level);
    positions[&op] = {begin, around ? now++ : begin};
    levels[&op] = {level, around ? base : level};
  }
}

unsigned Planner::create(Value v, Size bytes, Operation *op) {
  Storage s;
  s.begin = positions[op].first;
  s.end = positions[op].second;
  s.first = levels[op].first;
  s.last = levels[op].second;
  s.bytes = bytes;
  s.block = op->getBlock();
  s.producer = op;
  s.merged = storages.size();
  storages.push_back(s);
  if (v) {
    roots[v] = {s.merged};
    exact.insert(v);
  }
  return s.merged;
}

void Planner::touch(Value v, Operation *user) {
  auto it = roots.find(v);
  if (it == roots.end())
    return;
  for (unsigned root : it->second) {
    Storage &s = storages[root];
    Operation *here = s.block->findAncestorOpInBlock(*user);
    // The first value of a repeat is read when the repeat begins, and not again.
    bool first = here == user && isa<RepeatOp>(user);
    s.end = std::max(s.end, first ? positions[here].first : positions[here].second);
    s.last = std::max(s.last, first ? levels[here].first : levels[here].second);
    if (auto repeat = dyn_cast<RepeatOp>(s.producer); repeat && repeat->isProperAncestor(user)) {
      Operation *inside = repeat.getBody().front().findAncestorOpInBlock(*user);
      s.bodyLast = std::max(s.bodyLast, positions[inside].second);
    }
  }
}

void Planner::visit(Block &block) {
  for (Operation &op : block)
    visit(&op);
}

void Planner::visitRepeat(RepeatOp op) {
  for (auto [i, result] : llvm::enumerate(op->getResults())) {
    auto type = cast<ModelTensorType>(result.getType());
    unsigned id = create(result, bytesOf(type), op);
    if (i < op.getNumCarried()) {
      Value arg = op.getCarriedArgs()[i];
      roots[arg] = {id};
      exact.insert(arg);
    }
  }
  visit(op.getBody().front());
}

void Planner::visit(Operation *op) {
  bool body = isa<MapOp, LinearOp>(op);
  YieldOp yield = dyn_cast<YieldOp>(op);
  auto repeat = yield ? dyn_cast<RepeatOp>(op->getParentOp()) : RepeatOp();
  for (auto [i, v] : llvm::enumerate(op->getOperands())) {
    // Yielding a carried value unchanged is no use: it stays where it is.
    if (repeat && i < repeat.getNumCarried() && v == repeat.getCarriedArgs()[i])
      continue;
    touch(v, op);
  }
  if (auto r = dyn_cast<RepeatOp>(op))
    return visitRepeat(r);
  if (!body)
    for (Region &region : op->getRegions())
      for (Block &inner : region)
        visit(inner);

  Size scratch = target.scratchBytes(op).substitute(bounds);
  if (Operation *before = scratch.is(0) ? nullptr : target.leavesScratchFor(op)) {
    unsigned shared = scratches.lookup(before);
    storages[shared].end = std::max(storages[shared].end, positions[op].second);
    storages[shared].last = std::max(storages[shared].last, levels[op].second);
    scratches[op] = shared;
  } else if (!scratch.is(0)) {
    scratches[op] = create({}, scratch, op);
    if (target.scratchLasts(op))
      storages.back().end = storages.back().last = std::numeric_limits<int64_t>::max();
  }

  if (std::optional<Size> offset = viewOffset(op)) {
    Value from = op->getOperand(0), to = op->getResult(0);
    if (auto it = roots.find(from); it != roots.end()) {
      SmallVector<unsigned, 1> same = it->second;
      roots[to] = same;
      if (exact.contains(from) && offset->is(0) &&
          bytesOf(cast<ModelTensorType>(from.getType())) == bytesOf(cast<ModelTensorType>(to.getType())))
        exact.insert(to);
    }
    return;
  }
  if (isa<ParamOp, ConstantOp, attn::AlibiSlopesOp>(op) || plan::standsForCache(op))
    return;
  for (OpResult result : op->getResults()) {
    if (isa<ModelTensorType>(result.getType())) {
      create(result, bytesOf(result), op);
      if (isa<DefaultOp>(op))
        exact.erase(result); // if the input was given, its pointer is the caller's: nothing may be merged with it
      continue;
    }
    // A mask or a bias has no memory, but its users read the tensors it is made of: it extends their live ranges.
    SmallVector<unsigned, 1> all;
    for (Value v : op->getOperands())
      if (auto it = roots.find(v); it != roots.end())
        all.append(it->second.begin(), it->second.end());
    roots[result] = all;
  }
}

void Planner::mergeInPlace(Operation *op) {
  for (Value operand : plan::elementwiseOperands(op)) {
    std::optional<unsigned> from = whole(operand),
                            to = op->getNumResults() == 1 ? whole(op->getResult(0)) : std::nullopt;
    if (!from || !to || *from == *to || storages[*to].producer != op || storages[*from].end != positions[op].first ||
        storages[*from].block != op->getBlock() || !mayOverwrite(op, operand, *from))
      continue;
    return merge(*to, *from);
  }
}

/// Packs or unpacks rows in place, where this is the last use of the operand.
void Planner::mergeRows(Operation *op) {
  Value operand = op->getOperand(0), result = op->getResult(0);
  std::optional<unsigned> from = whole(operand), to = whole(result);
  if (!from || !to || *from == *to || storages[*to].producer != op || storages[*from].end != positions[op].first ||
      storages[*from].block != op->getBlock() || storages[*from].bytes != storages[*to].bytes)
    return;
  merge(*to, *from);
  setInPlace(op);
}

/// Lets the body write what it yields straight into the storage of the carried value, where the incoming value is dead
/// by then or is read element by element by the op that writes.
void Planner::mergeYields(RepeatOp op) {
  for (unsigned i = 0; i < op.getNumCarried(); ++i) {
    unsigned slot = *whole(op->getResult(i));
    Value arg = op.getCarriedArgs()[i], next = op.getYield().getOperand(i);
    std::optional<unsigned> y = whole(next);
    if (!y || *y == slot || storages[*y].block != &op.getBody().front() || next.getType() != arg.getType())
      continue;
    int64_t begins = storages[*y].begin, last = storages[slot].bodyLast;
    if (last > begins || (last == begins && !mayOverwrite(storages[*y].producer, arg, slot)))
      continue;
    Storage kept = storages[slot];
    merge(*y, slot);
    storages[slot] = kept;
  }
}

/// Lets the first value of a repeat be written straight into the storage of the carried one, where the repeat is its
/// only and last user; records the copies that are left.
void Planner::mergeRepeat(RepeatOp op) {
  SmallVector<bool> copyIn, copyOut;
  for (unsigned i = 0; i < op.getNumCarried(); ++i) {
    unsigned slot = *whole(op->getResult(i));
    Value first = op.getCarried()[i];
    copyOut.push_back(whole(op.getYield().getOperand(i)) != slot);
    std::optional<unsigned> x = whole(first);
    bool takes = x && *x != slot && storages[*x].block == op->getBlock() && storages[*x].end == positions[op].first &&
                 llvm::count(op.getCarried(), first) == 1;
    if (takes)
      merge(slot, *x);
    copyIn.push_back(!takes);
  }
  setCopies(op, copyIn, copyOut);
}

void Planner::mergeReturn(func::ReturnOp op) {
  SmallVector<bool> copies;
  for (auto [i, v] : llvm::enumerate(op.getOperands())) {
    std::optional<unsigned> s = whole(v);
    bool direct = s && storages[*s].output < 0 && storages[*s].block == op->getBlock();
    if (direct)
      storages[*s].output = i;
    copies.push_back(!direct);
  }
  setCopiesOut(op, copies);
}

/// Whether a size form is at least 0 for all dims. Conservative: true where no term is subtracted.
static bool surelyNotNegative(const Size &form) { return !StringRef(form.str()).contains('-'); }

/// Gives every storage an offset in the arena: in the order in which they come to life each takes the slot that fits
/// best among those whose last user is gone, or a new one. Slots then are one after the other. Sizes are forms over
/// dims, so "fits" means: for all values of the dims.
void Planner::assign() {
  struct Slot {
    Size bytes;
    int64_t end, last;
    SmallVector<unsigned> users;
  };
  SmallVector<Slot> slots;
  SmallVector<unsigned> order;
  for (unsigned i = 0; i < storages.size(); ++i)
    if (storages[i].merged == i && storages[i].output < 0)
      order.push_back(i);
    else if (storages[i].merged == i)
      storages[i].place = PlaceAttr::output(function.getContext(), storages[i].output);
  llvm::stable_sort(order, [&](unsigned a, unsigned c) { return storages[a].begin < storages[c].begin; });
  for (unsigned i : order) {
    Storage &s = storages[i];
    Slot *best = nullptr;
    int rank = 0; // best fit among free slots. 3: as large, 2: larger, 1: smaller, so the slot grows
    for (Slot &slot : slots) {
      if (slot.end >= s.begin || (target.worksByLevels() && slot.last >= s.first))
        continue;
      int mine = slot.bytes == s.bytes                     ? 3
                 : surelyNotNegative(slot.bytes - s.bytes) ? 2
                 : surelyNotNegative(s.bytes - slot.bytes) ? 1
                                                           : 0;
      if (mine > rank) {
        best = &slot;
        rank = mine;
      }
      if (rank == 3)
        break;
    }
    if (!best) {
      slots.push_back({s.bytes, s.end, s.last, {}});
      best = &slots.back();
    }
    if (rank == 1)
      best->bytes = s.bytes;
    best->end = s.end;
    best->last = std::max(best->last, s.last);
    best->users.push_back(i);
  }
  Size offset = 0;
  for (Slot &slot : slots) {
    for (unsigned i : slot.users)
      storages[i].place = PlaceAttr::arena(function.getContext(), offset);
    offset =
        offset + (slot.bytes.exactDiv(Size(64)) ? slot.bytes : (slot.bytes + Size(63)).floorDiv(Size(64)) * Size(64));
  }
  setArena(function, offset + Size(64));
}

void Planner::record() {
  PlaceAttr none = PlaceAttr::none(function.getContext());
  function.walk([&](Operation *op) {
    if (op == function || viewOffset(op))
      return;
    SmallVector<PlaceAttr> places;
    bool any = false;
    for (Value result : op->getResults()) {
      auto it = roots.find(result);
      bool tensor = isa<ModelTensorType>(result.getType()) && it != roots.end() && it->second.size() == 1;
      places.push_back(tensor ? storages[find(it->second[0])].place : none);
      any |= tensor;
    }
    if (any)
      setPlaces(op, places);
  });
  for (auto [op, id] : scratches)
    setScratch(op, storages[find(id)].place);
}

/// Inserts a copy where a body yields an incoming carried value in another position (a swap, say): carried values are
/// replaced one after the other, so the value would be overwritten before it is read.
static void copyCrossed(RepeatOp op) {
  YieldOp yield = op.getYield();
  OpBuilder b(yield);
  for (unsigned i = 0; i < op.getNumCarried(); ++i) {
    Value v = yield.getOperand(i);
    Value root = v;
    while (Operation *def = root.getDefiningOp()) {
      if (!viewOffset(def))
        break;
      root = def->getOperand(0);
    }
    auto arg = dyn_cast<BlockArgument>(root);
    if (!arg || arg.getOwner() != yield->getBlock() || v == op.getCarriedArgs()[i])
      continue;
    auto map = MapOp::create(b, op.getLoc(), v.getType(), ValueRange{v});
    Block *body = b.createBlock(&map.getBody());
    Value element = body->addArgument(cast<ModelTensorType>(v.getType()).getElementType(), op.getLoc());
    YieldOp::create(b, op.getLoc(), ValueRange{element});
    b.setInsertionPoint(yield);
    yield->setOperand(i, map.getResult());
  }
}

void Planner::run() {
  function.walk(copyCrossed);
  Block &block = function.getBody().front();
  number(block);
  visit(block);
  // Yields first: merging a yielded value with something else beforehand could cost the copy-free iteration.
  function.walk([&](RepeatOp op) { mergeYields(op); });
  function.walk<WalkOrder::PreOrder>(
      [&](Operation *op) { isa<PackRowsOp, UnpackRowsOp>(op) ? mergeRows(op) : mergeInPlace(op); });
  function.walk([&](RepeatOp op) {
    mergeYields(op);
    mergeRepeat(op);
  });
  mergeReturn(cast<func::ReturnOp>(block.getTerminator()));
  assign();
  record();
}

namespace {
struct PlanMemory final : heddle::plan::impl::PlanMemoryPassBase<PlanMemory> {
  void runOnOperation() override {
    const plan::Target *target = plan::targetOf(getOperation());
    if (!target)
      return signalPassFailure();
    // Working memory depends on the tiles, so they have to be there and be some that the target knows.
    bool good = true;
    plan::checkTiles(getOperation(), *target, [&](Operation *op, const Twine &what) {
      op->emitError() << what;
      good = false;
    });
    if (!good)
      return signalPassFailure();
    for (auto f : getOperation().getOps<func::FuncOp>())
      if (!f.isDeclaration())
        Planner(f, *target).run();
  }
};
} // namespace
