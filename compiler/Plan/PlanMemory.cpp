//===- PlanMemory.cpp - every result gets its place -----------------------===//
//
// One walk finds the stretch of program in which each result lives; results whose stretches
// do not meet share memory. Before that, results are merged where no copy is needed: a view
// with what it looks at, an elementwise result with an operand that dies there, a value that a
// repeat carries with its first value and with what the body yields, and what the function
// returns with the caller's memory.
//
//===----------------------------------------------------------------------===//

#include "compiler/Plan/CacheLayout.h"
#include "compiler/Plan/Lengths.h"
#include "compiler/Plan/Passes.h"
#include "compiler/Plan/Target.h"
#include "dialects/Model/IR/Plan.h"
#include "dialects/Model/Transforms/Views.h"

namespace heddle::plan {
#define GEN_PASS_DEF_PLANMEMORYPASS
#include "compiler/Plan/Passes.h.inc"
} // namespace heddle::plan

using namespace mlir;
using namespace heddle;
using namespace heddle::model;

namespace {
/// A stretch of memory and the stretch of program that needs it.
struct Storage {
  int64_t begin = 0, end = 0;
  Size bytes;
  Block *block = nullptr;        ///< where it is defined: uses in deeper repeats last to their end
  Operation *producer = nullptr; ///< the first op that writes it
  int64_t bodyLast = -1;         ///< of a carried value: its last use in the body as it came in
  int64_t output = -1;
  PlaceAttr place;
  unsigned merged; ///< itself, or what it was merged into
};

class Planner {
public:
  Planner(func::FuncOp function, const plan::Target &target) : function(function), target(target), bounds(plan::rowBounds(function)) {}
  void run();

private:
  func::FuncOp function;
  const plan::Target &target;
  std::map<std::string, Size> bounds; ///< of dims that the function finds out for itself
  llvm::DenseMap<Operation *, std::pair<int64_t, int64_t>> positions;
  int64_t now = 0;
  std::vector<Storage> storages;
  llvm::DenseMap<Value, SmallVector<unsigned, 1>> roots;
  llvm::DenseSet<Value> exact; ///< values that are all of one storage
  SmallVector<std::pair<Operation *, unsigned>> scratches;

  unsigned find(unsigned i) {
    while (storages[i].merged != i)
      i = storages[i].merged;
    return i;
  }
  /// The storage that `v` is all of.
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
    a.merged = into;
  }

  Size bytesOf(ModelTensorType t);
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

/// Operands that `op` reads only at the element it writes at the same moment.
static SmallVector<Value> elementwiseOperands(Operation *op) {
  if (isa<MapOp, UnaryOp, BinaryOp, CompareOp, SelectOp, CastOp>(op))
    return SmallVector<Value>(op->getOperands());
  if (auto linear = dyn_cast<LinearOp>(op))
    return SmallVector<Value>(linear.getExtras());
  return {};
}

/// Whether `op` may write its result over `operand`, whose memory is `root`: it reads all of it
/// only at the element that it writes at the same moment.
bool Planner::mayOverwrite(Operation *op, Value operand, unsigned root) {
  if (op->getNumResults() != 1 || op->getResult(0).getType() != operand.getType())
    return false;
  SmallVector<Value> elementwise = elementwiseOperands(op);
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
    int64_t begin = now++;
    if (!isa<MapOp, LinearOp>(op))
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          number(inner);
    positions[&op] = {begin, op.getNumRegions() && !isa<MapOp, LinearOp>(op) ? now++ : begin};
  }
}

unsigned Planner::create(Value v, Size bytes, Operation *op) {
  Storage s;
  s.begin = positions[op].first;
  s.end = positions[op].second;
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
    // A value that is carried on as it came in is not used by that.
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
  if (!scratch.is(0))
    scratches.push_back({op, create({}, scratch, op)});

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
  for (Value result : op->getResults()) {
    if (auto type = dyn_cast<ModelTensorType>(result.getType())) {
      create(result, bytesOf(type), op);
      if (isa<DefaultOp>(op))
        exact.erase(result); // the caller's memory stands for it where the input was given
      continue;
    }
    // A mask or a bias keeps alive what it is made of.
    SmallVector<unsigned, 1> all;
    for (Value v : op->getOperands())
      if (auto it = roots.find(v); it != roots.end())
        all.append(it->second.begin(), it->second.end());
    roots[result] = all;
  }
}

void Planner::mergeInPlace(Operation *op) {
  for (Value operand : elementwiseOperands(op)) {
    std::optional<unsigned> from = whole(operand), to = op->getNumResults() == 1 ? whole(op->getResult(0)) : std::nullopt;
    if (!from || !to || *from == *to || storages[*to].producer != op || storages[*from].end != positions[op].first ||
        storages[*from].block != op->getBlock() || !mayOverwrite(op, operand, *from))
      continue;
    return merge(*to, *from);
  }
}

/// Rows move up and down within one place, where nobody needs them as they were.
void Planner::mergeRows(Operation *op) {
  Value operand = op->getOperand(0), result = op->getResult(0);
  std::optional<unsigned> from = whole(operand), to = whole(result);
  if (!from || !to || *from == *to || storages[*to].producer != op || storages[*from].end != positions[op].first ||
      storages[*from].block != op->getBlock() || storages[*from].bytes != storages[*to].bytes)
    return;
  merge(*to, *from);
  setInPlace(op);
}

/// Makes what the body yields in the place of the carried value, where that is free by then.
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

/// Makes the first value in the place of the carried one; notes which copies are left.
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

/// Whether the form is at least 0 whatever the dims are (as far as its text shows it).
static bool surelyNotNegative(const Size &form) { return !StringRef(form.str()).contains('-'); }

void Planner::assign() {
  struct Slot {
    Size bytes;
    int64_t end;
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
    int rank = 0; // 3: as large, 2: larger, 1: smaller and grows
    for (Slot &slot : slots) {
      if (slot.end >= s.begin)
        continue;
      int mine = slot.bytes == s.bytes ? 3 : surelyNotNegative(slot.bytes - s.bytes) ? 2 : surelyNotNegative(s.bytes - slot.bytes) ? 1 : 0;
      if (mine > rank) {
        best = &slot;
        rank = mine;
      }
      if (rank == 3)
        break;
    }
    if (!best) {
      slots.push_back({s.bytes, s.end, {}});
      best = &slots.back();
    }
    if (rank == 1)
      best->bytes = s.bytes;
    best->end = s.end;
    best->users.push_back(i);
  }
  Size offset = 0;
  for (Slot &slot : slots) {
    for (unsigned i : slot.users)
      storages[i].place = PlaceAttr::arena(function.getContext(), offset);
    offset = offset + (slot.bytes.exactDiv(Size(64)) ? slot.bytes : (slot.bytes + Size(63)).floorDiv(Size(64)) * Size(64));
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

/// A repeat that hands an incoming value on in another role gets a copy of it: the carried
/// values are replaced one after the other.
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
  // A yield that fits its carried value as it is comes before any other merge of it.
  function.walk([&](RepeatOp op) { mergeYields(op); });
  function.walk<WalkOrder::PreOrder>([&](Operation *op) { isa<PackRowsOp, UnpackRowsOp>(op) ? mergeRows(op) : mergeInPlace(op); });
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
  /// Working memory depends on the tiles, so they have to be there and be some that the target knows.
  LogicalResult checkSchedules(const plan::Target &target) {
    bool good = true;
    getOperation().walk([&](Operation *op) {
      if (std::string why = target.refusal(op); !why.empty()) {
        op->emitError() << why;
        good = false;
      }
    });
    return success(good);
  }

  void runOnOperation() override {
    const plan::Target *target = plan::targetOf(getOperation());
    if (!target || failed(checkSchedules(*target)))
      return signalPassFailure();
    for (auto f : getOperation().getOps<func::FuncOp>())
      if (!f.isDeclaration())
        Planner(f, *target).run();
  }
};
} // namespace
