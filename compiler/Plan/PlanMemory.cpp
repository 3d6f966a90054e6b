//===- PlanMemory.cpp - every result gets its place -----------------------===//
//
// Arena allocation by live ranges. One walk finds the live range of each result in the numbers of
// ops; results whose ranges do not overlap share memory. Before that, storages are merged where
// this saves a copy: a view with its source, an elementwise result with an operand whose
// last use it is, a value that a repeat carries with its first value and with what the body
// yields, and what the function returns with the caller's memory.
//
//===----------------------------------------------------------------------===//

#include "compiler/Plan/ArenaLayout.h"
#include "compiler/Plan/CacheLayout.h"
#include "compiler/Plan/InPlace.h"
#include "compiler/Plan/Lengths.h"
#include "compiler/Plan/MemoryRemarks.h"
#include "compiler/Plan/Passes.h"
#include "compiler/Plan/PlanCheck.h"
#include "compiler/Plan/Positions.h"
#include "compiler/Plan/Target.h"
#include "dialects/Model/IR/LifeAttrs.h"
#include "dialects/Model/IR/ModelPlanAttrs.h"
#include "dialects/Model/Transforms/Views.h"
#include "dialects/Remarks/Remark.h"
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

/// Plans one function: finds the life of each storage, merges storages that may be one, assigns
/// places.
class Planner {
public:
  Planner(func::FuncOp function, const plan::Target &target)
      : function(function), target(target), bounds(plan::rowBounds(function)), positions(function) {}
  void run();

private:
  func::FuncOp function;
  const plan::Target &target;
  std::map<std::string, Size> bounds; ///< of dims that are computed inside the function
  const plan::Positions positions;
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

unsigned Planner::create(Value v, Size bytes, Operation *op) {
  Storage s;
  s.begin = positions.of(op).begin;
  s.end = positions.of(op).end;
  s.first = positions.levelsOf(op).begin;
  s.last = positions.levelsOf(op).end;
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
    plan::Span numbers = positions.of(here), levels = positions.levelsOf(here);
    s.end = std::max(s.end, first ? numbers.begin : numbers.end);
    s.last = std::max(s.last, first ? levels.begin : levels.end);
    if (auto repeat = dyn_cast<RepeatOp>(s.producer); repeat && repeat->isProperAncestor(user)) {
      Operation *inside = repeat.getBody().front().findAncestorOpInBlock(*user);
      s.bodyLast = std::max(s.bodyLast, positions.of(inside).end);
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
    storages[shared].end = std::max(storages[shared].end, positions.of(op).end);
    storages[shared].last = std::max(storages[shared].last, positions.levelsOf(op).end);
    scratches[op] = shared;
  } else if (!scratch.is(0)) {
    scratches[op] = create({}, scratch, op);
    if (target.scratchLasts(op))
      storages.back().end = storages.back().last = kToTheEnd;
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
    if (!from || !to || *from == *to || storages[*to].producer != op || storages[*from].end != positions.of(op).begin ||
        storages[*from].block != op->getBlock() || !mayOverwrite(op, operand, *from))
      continue;
    return merge(*to, *from);
  }
}

/// Packs or unpacks rows in place, where this is the last use of the operand.
void Planner::mergeRows(Operation *op) {
  Value operand = op->getOperand(0), result = op->getResult(0);
  std::optional<unsigned> from = whole(operand), to = whole(result);
  if (!from || !to || *from == *to || storages[*to].producer != op || storages[*from].end != positions.of(op).begin ||
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
    bool takes = x && *x != slot && storages[*x].block == op->getBlock() &&
                 storages[*x].end == positions.of(op).begin && llvm::count(op.getCarried(), first) == 1;
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

void Planner::assign() {
  SmallVector<unsigned> inArena;
  std::vector<plan::Tenant> tenants;
  for (unsigned i = 0; i < storages.size(); ++i) {
    Storage &s = storages[i];
    if (s.merged != i)
      continue;
    if (s.output >= 0) {
      s.place = PlaceAttr::output(function.getContext(), s.output);
      continue;
    }
    inArena.push_back(i);
    tenants.push_back({s.bytes, {s.begin, s.end}, {s.first, s.last}});
  }
  plan::ArenaLayout layout =
      target.worksByLevels() ? plan::slotArena(tenants) : plan::stackArena(tenants, plan::lengthsToTry(function));
  for (auto [i, offset] : llvm::zip_equal(inArena, layout.offsets))
    storages[i].place = PlaceAttr::arena(function.getContext(), offset);
  setArena(function, layout.bytes + Size(64));
}

void Planner::record() {
  PlaceAttr none = PlaceAttr::none(function.getContext());
  llvm::DenseMap<unsigned, int64_t> numbers; // of storages, in the order of the text
  auto lifeOf = [&](unsigned id) {
    const Storage &s = storages[id];
    return Life{s.begin, s.end, numbers.try_emplace(id, numbers.size()).first->second, s.bytes};
  };
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto it = scratches.find(op); it != scratches.end()) {
      setScratch(op, storages[find(it->second)].place);
      setScratchLife(op, lifeOf(find(it->second)));
    }
    if (op == function || viewOffset(op))
      return;
    SmallVector<PlaceAttr> places;
    SmallVector<std::optional<Life>> lives;
    bool any = false;
    for (Value result : op->getResults()) {
      auto it = roots.find(result);
      bool tensor = isa<ModelTensorType>(result.getType()) && it != roots.end() && it->second.size() == 1;
      places.push_back(tensor ? storages[find(it->second[0])].place : none);
      lives.push_back(tensor ? std::optional(lifeOf(find(it->second[0]))) : std::nullopt);
      any |= tensor;
    }
    if (any) {
      setPlaces(op, places);
      setLives(op, lives);
    }
  });
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
  Block &block = function.getBody().front();
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
      if (!f.isDeclaration()) {
        f.walk(copyCrossed);
        Planner(f, *target).run();
      }
    if (remarks::wanted(getOperation()))
      for (auto f : getOperation().getOps<func::FuncOp>())
        if (!f.isDeclaration())
          plan::remarkOnMemory(f, *target);
  }
};
} // namespace
