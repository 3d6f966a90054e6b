//===- SplitKernels.cpp - SPMD entries fall into kernels at their barriers -===//
//
// A kernel is launched once for all of its threads and ends where all of them have ended, so the end of a kernel is the
// barrier of a device. Nothing is handed from one kernel to the next but memory: lengths and addresses are computed
// again, which costs some integer instructions at the top of each.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/Frame/Lowering.h"
#include "compiler/Conversion/Lowering/GPU/WarpLanes.h"
#include "compiler/Conversion/ToKernels/Items.h"
#include "compiler/Conversion/ToKernels/Launch.h"
#include "compiler/Conversion/ToKernels/Passes.h"
#include "compiler/Conversion/ToKernels/Phases.h"
#include "dialects/Card/IR/Card.h"
#include "dialects/Tile/IR/LaunchAttrs.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/Path.h"

namespace heddle::kernels {
#define GEN_PASS_DEF_SPLITKERNELSPASS
#include "compiler/Conversion/ToKernels/Passes.h.inc"
} // namespace heddle::kernels

using namespace mlir;
using namespace heddle;
using namespace heddle::kernels;

/// Threads of a block where no tile says how many: four warps.
static constexpr int64_t kThreads = 128;

/// Notes what tiles need and a kernel cannot have without asking: pieces and rings in one another's place, and all of
/// their barriers.
static void askForShared(Launch &launch, ArrayRef<Phase> group) {
  constexpr int64_t kForAll = 48 << 10;
  llvm::MapVector<Attribute, std::pair<int64_t, int64_t>> forms; // by the chips that do them
  for (const Phase &phase : group)
    for (Operation *root : phase.ops)
      root->walk([&](tile::LaunchOp op) {
        auto &[words, barriers] = forms[op.getOnAttr()];
        words = std::max(words, op.ownWords() + op.ringWords());
        barriers += op.barrierBytes();
      });
  for (auto [on, needs] : forms) {
    int64_t bytes = 4 * needs.first + needs.second;
    if (bytes <= kForAll)
      continue;
    assert(!launch.shared && "tiles of one kind of chip ask for memory");
    launch.shared = bytes;
    if (on)
      for (StringAttr chip : cast<ArrayAttr>(on).getAsRange<StringAttr>())
        launch.on.push_back(chip.getValue().str());
  }
}

/// Of heddle_entry_NAME.
static StringRef shortName(func::FuncOp entry) {
  StringRef name = entry.getName();
  name.consume_front("heddle_entry_");
  return name;
}
static StringRef calleeOf(Operation *op) {
  auto call = dyn_cast<func::CallOp>(op);
  return call ? call.getCallee() : StringRef();
}
static bool isBarrier(Operation *op) { return calleeOf(op) == "heddle_barrier"; }
static bool holdsBarrier(Operation *op) {
  return op->walk([](Operation *inner) { return isBarrier(inner) ? WalkResult::interrupt() : WalkResult::advance(); })
      .wasInterrupted();
}

namespace {
class Splitter {
public:
  Splitter(func::FuncOp entry, bool alone) : entry(entry), module(entry->getParentOfType<ModuleOp>()), alone(alone) {}
  /// Makes the kernels of the entry, and notes the repeats around their launches.
  LogicalResult run();

private:
  func::FuncOp entry;
  ModuleOp module;
  bool alone; ///< whether each phase is a kernel
  SmallVector<Frame> frames;
  std::vector<Phase> phases;             ///< that are no kernels yet, since the last loop of launches began or ended
  SmallVector<Operation *> phase;        ///< since the last barrier, in the innermost frame
  SmallVector<card::RepeatAttr> repeats; ///< an outer one in front of those inside of it
  int64_t made = 0, times = 1;           ///< kernels; calls of the innermost frame by the repeats around it
  bool good = true;

  void visit(Block &block);
  void visitRepeat(scf::ForOp loop);
  /// Ends a phase at a barrier, or at the end of the entry, which says what the phase took.
  void flush(Operation *end = nullptr);
  /// Makes kernels of the phases at hand.
  void makeKernels();
  void collect(Operation *op, llvm::SetVector<Operation *> &ops);
  bool changesMemory(Operation *op);
  bool computable(Operation *op);
  void makeKernel(ArrayRef<Phase> group);
  void copy(const Phase &phase, OpBuilder &b, IRMapping &map, bool several, Value before);
};
} // namespace

/// Whether an op of an entry, or one inside of it, stores or calls what may.
bool Splitter::changesMemory(Operation *op) {
  return op
      ->walk([&](Operation *inner) {
        if (inner->getNumRegions() || isa<LLVM::LoadOp, LLVM::MaskedLoadOp, LLVM::AllocaOp>(inner))
          return WalkResult::advance();
        return isMemoryEffectFree(inner) ? WalkResult::advance() : WalkResult::interrupt();
      })
      .wasInterrupted();
}

/// Whether `op` gives the same in every kernel: it computes, or loads what no kernel of the entry writes.
bool Splitter::computable(Operation *op) {
  if (auto load = dyn_cast<LLVM::LoadOp>(op)) {
    if (tile::isKept(op))
      return true;
    Value base = load.getAddr();
    while (auto gep = base.getDefiningOp<LLVM::GEPOp>())
      base = gep.getBase();
    return base == entry.getArgument(Dims) || base == entry.getArgument(Tensors);
  }
  if (isa<LLVM::AllocaOp>(op)) // memory of the thread, written in each phase before it is read
    return true;
  if (op->getNumRegions() == 0)
    return isMemoryEffectFree(op); // a division, too: it is under the same conditions again
  return !op->walk([&](Operation *inner) {
              return inner == op || inner->getNumRegions() || computable(inner) ? WalkResult::advance()
                                                                                : WalkResult::interrupt();
            }).wasInterrupted();
}

/// `op` with all that it needs and what is inside of it needs.
void Splitter::collect(Operation *op, llvm::SetVector<Operation *> &ops) {
  if (!ops.insert(op))
    return;
  op->walk([&](Operation *inner) {
    for (Value v : inner->getOperands()) {
      Operation *from = v.getDefiningOp();
      if (!from || op->isAncestor(from))
        continue;
      bool mine = llvm::is_contained(phase, from);
      if (!mine && !computable(from)) {
        from->emitError("internal error: a value lives across a barrier and cannot be computed again");
        good = false;
        continue;
      }
      collect(from, ops);
    }
  });
}

void Splitter::flush(Operation *end) {
  llvm::SetVector<Operation *> ops;
  Operation *first = nullptr;
  for (Operation *op : phase)
    if (changesMemory(op)) {
      first = first ? first : op;
      collect(op, ops);
    }
  if (first)
    for (const Frame &frame : frames)
      if (auto branch = dyn_cast<scf::IfOp>(frame.op))
        if (Operation *condition = branch.getCondition().getDefiningOp())
          collect(condition, ops);
  if (first && good)
    phases.push_back({frames, std::move(ops), end, first->getLoc()});
  phase.clear();
}

void Splitter::makeKernels() {
  std::vector<std::vector<Phase>> groups;
  if (alone)
    for (Phase &one : phases)
      groups.push_back({std::move(one)});
  else
    groups = groupsOf(entry, std::move(phases));
  phases.clear();
  for (const std::vector<Phase> &group : groups)
    if (good)
      makeKernel(group);
}

void Splitter::visitRepeat(scf::ForOp loop) {
  APInt from, to, step;
  int64_t depth = llvm::count_if(frames, [](const Frame &f) { return isa<scf::ForOp>(f.op); });
  if (depth == 2 || loop.getNumResults() || !matchPattern(loop.getLowerBound(), m_ConstantInt(&from)) ||
      !from.isZero() || !matchPattern(loop.getUpperBound(), m_ConstantInt(&to)) ||
      !matchPattern(loop.getStep(), m_ConstantInt(&step)) || !step.isOne()) {
    loop.emitError("internal error: a loop with barriers inside is a repeat of a constant count, at most two deep");
    good = false;
    return;
  }
  makeKernels();
  size_t number = repeats.size();
  repeats.emplace_back();
  frames.push_back({loop, loop.getBody()});
  int64_t outside = times, first = made;
  times *= to.getSExtValue();
  visit(*loop.getBody());
  flush();
  makeKernels();
  times = outside;
  frames.pop_back();
  if (made > first)
    repeats[number] = card::RepeatAttr::get(loop.getContext(), to.getSExtValue(), first, made);
  else
    repeats.resize(number); // nothing is launched
}

void Splitter::visit(Block &block) {
  for (Operation &op : block.without_terminator()) {
    if (isBarrier(&op)) {
      flush(&op);
      continue;
    }
    if (!holdsBarrier(&op)) {
      phase.push_back(&op);
      continue;
    }
    flush();
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      visitRepeat(loop);
      continue;
    }
    auto branch = dyn_cast<scf::IfOp>(op);
    if (!branch || branch.getNumResults()) {
      op.emitError("internal error: a barrier is in an op that is neither a repeat nor a condition");
      good = false;
      continue;
    }
    for (Region &region : branch->getRegions())
      if (!region.empty()) {
        frames.push_back({branch, &region.front()});
        visit(region.front());
        flush();
        frames.pop_back();
      }
  }
}

/// team, teams (i64): this thread's warp among all of the launch, and how many there are.
static std::pair<Value, Value> teamOf(ImplicitLocOpBuilder &b) {
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  auto wide = [&](Value v) -> Value { return arith::ExtUIOp::create(b, i64, v); };
  Value thread = wide(NVVM::ThreadIdXOp::create(b, i32)), threads = wide(NVVM::BlockDimXOp::create(b, i32));
  Value block = wide(NVVM::BlockIdXOp::create(b, i32)), blocks = wide(NVVM::GridDimXOp::create(b, i32));
  Value warp = arith::ConstantOp::create(b, b.getI64IntegerAttr(loops::kWarp));
  Value before = arith::MulIOp::create(b, block, threads), mine = arith::AddIOp::create(b, before, thread);
  Value all = arith::MulIOp::create(b, blocks, threads);
  Value team = arith::DivUIOp::create(b, mine, warp), teams = arith::DivUIOp::create(b, all, warp);
  return {team, teams};
}

/// "file:line:column", which errors of a launch name; nothing where a location has no file. A description is in the
/// model's folder: without it the same model gives the same program wherever it is.
static std::string placeOf(Location loc) {
  auto place = loc->findInstanceOf<FileLineColLoc>();
  if (!place)
    return "";
  StringRef file = place.getFilename();
  if (!file.starts_with("families/")) // the compiler's own
    file = llvm::sys::path::filename(file);
  return file.str() + ":" + std::to_string(place.getLine()) + ":" + std::to_string(place.getColumn());
}

/// What a phase deals out: tiles to blocks, or items to warps; null where that is not known outside of its loops and
/// conditions. It decides no result, only which threads have work.
static Value dealtBy(const Phase &phase, loops::Code &c, const IRMapping &map, bool tiles) {
  Value most;
  auto note = [&](Value n, int64_t lanes) {
    Value mine = map.lookupOrNull(n);
    if (!mine || mine.getParentBlock() != c.b.getInsertionBlock())
      return;
    Value count = lanes == 1 ? mine : c.div(c.add(mine, lanes - 1), c.constant(lanes));
    most = most ? c.max(most, count) : count;
  };
  for (Operation *root : phase.ops)
    root->walk([&](Operation *op) {
      tile::ItemsAttr items = tile::itemsOf(op);
      if (auto launch = dyn_cast<tile::LaunchOp>(op))
        note(launch.getCount(), 1);
      else if (auto loop = dyn_cast<scf::ForOp>(op); loop && items && !tiles)
        note(loop.getUpperBound(), items.getEach() == 1 ? loops::kWarp : 1);
    });
  return most;
}

void Splitter::makeKernel(ArrayRef<Phase> group) {
  ImplicitLocOpBuilder b(group.front().loc, module.getContext());
  b.setInsertionPointToEnd(module.getBody());
  Type pointer = LLVM::LLVMPointerType::get(b.getContext()), i64 = b.getI64Type();
  std::string name = shortName(entry).str() + "_" + std::to_string(made);
  auto kernel = func::FuncOp::create(
      b, name, b.getFunctionType({pointer, pointer, pointer, pointer, pointer, i64, i64, pointer}, {}));
  tile::setKernel(kernel);
  tile::setDims(kernel, *tile::dimsOf(entry));
  Block *body = kernel.addEntryBlock();
  b.setInsertionPointToEnd(body);
  auto end = func::ReturnOp::create(b);
  b.setInsertionPoint(end);
  std::optional<int64_t> tiled = threadsOf(group.front());
  auto [team, teams] = teamOf(b);
  loops::WarpLanes lanes;
  loops::Code c(b, lanes);
  Value before; // what the phases of the group deal out before the one at hand
  for (const Phase &phase : group) {
    b.setInsertionPoint(end);
    b.setLoc(phase.loc);
    IRMapping map;
    Value mine = team;
    if (before && !tiled)
      mine = c.toI64(loops::WarpLanes::turn(c, c.toIndex(team), c.toIndex(teams), before));
    map.map(entry.getArgument(Context), body->getArgument(Fail));
    map.map(entry.getArgument(Team), mine);
    map.map(entry.getArgument(Teams), teams);
    for (auto [from, to] :
         {std::pair(Dims, KernelDims), {Tensors, KernelTensors}, {Arena, KernelArena}, {Weights, KernelWeights}})
      map.map(entry.getArgument(from), body->getArgument(to));
    copy(phase, b, map, group.size() > 1, tiled ? before : Value());
    b.setInsertionPoint(end);
    if (group.size() == 1)
      break;
    if (Value dealt = dealtBy(phase, c, map, tiled.has_value()))
      before = before ? c.add(before, dealt) : dealt;
  }
  tile::forgetItems(kernel);
  if (tiled) // what ptxas shares registers out for
    kernel->setAttr(NVVM::NVVMDialect::getMaxntidAttrName(), b.getDenseI32ArrayAttr(int32_t(*tiled)));
  Items items = itemsOf(group);
  Launch launch{name,  shortName(entry).str(),    items.count, items.lanes, tiled.value_or(kThreads),
                times, placeOf(group.front().loc)};
  launch.number = made++;
  launch.optional = items.optional;
  for (const Phase &phase : group)
    if (phase.end)
      for (tile::CostAttr cost : tile::costsOf(phase.end))
        launch.costs.push_back(loops::Cost::of(cost));
  askForShared(launch, group);
  Launch::write(kernel, launch);
}

/// Copies a phase to `b`, with the conditions around it; its tiles are dealt after `before` others. What `several`
/// phases compute alike stays in registers from the first to the last, unless blocks must share a multiprocessor.
void Splitter::copy(const Phase &phase, OpBuilder &b, IRMapping &map, bool several, Value before) {
  constexpr uint64_t kTall = 256, kTogether = 2;
  auto clone = [&](Operation &op) {
    Operation *made = b.clone(op, map);
    made->walk([&](tile::LaunchOp launch) {
      if (before)
        launch.getBeforeMutable().assign(before);
      if (several && !launch.getTogether() && launch.getThreads() >= kTall)
        launch.setTogether(kTogether);
    });
  };
  Block &kernel = *b.getInsertionBlock();
  unsigned depth = 0;
  Block *at = &entry.getBody().front();
  for (size_t i = 0;; ++i) {
    for (Operation &op : *at)
      if (phase.ops.contains(&op))
        clone(op);
    if (i == phase.frames.size())
      break;
    auto [op, inner] = phase.frames[i];
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      Value index =
          arith::IndexCastOp::create(b, op->getLoc(), b.getIndexType(), kernel.getArgument(FirstIndex + depth++));
      map.map(loop.getInductionVar(), index);
    } else {
      auto branch = cast<scf::IfOp>(op);
      bool then = inner == branch.thenBlock();
      Value condition = map.lookup(branch.getCondition());
      auto mine = scf::IfOp::create(b, op->getLoc(), condition, /*withElseRegion=*/!then);
      b.setInsertionPoint((then ? mine.thenBlock() : mine.elseBlock())->getTerminator());
    }
    at = inner;
  }
}

LogicalResult Splitter::run() {
  visit(entry.getBody().front());
  flush(entry);
  makeKernels();
  for (card::EntryAttr noted : card::entriesOf(module))
    if (noted.getName() == shortName(entry) && !repeats.empty())
      card::replaceEntry(module, noted.withRepeats(repeats));
  return success(good);
}

//===-- what is left of the entries ----------------------------------------------------===//

/// The first failure of a call goes into the record after the pointer: { state, code, a, b }, i64 each.
static void defineFail(ModuleOp module) {
  auto fail = module.lookupSymbol<func::FuncOp>("heddle_fail");
  if (!fail || !fail.isExternal())
    return;
  ImplicitLocOpBuilder b(module.getLoc(), module.getContext());
  fail->setAttr("llvm.linkage", LLVM::LinkageAttr::get(b.getContext(), LLVM::Linkage::Internal));
  Block *block = fail.addEntryBlock();
  b.setInsertionPointToEnd(block);
  auto end = func::ReturnOp::create(b);
  b.setInsertionPoint(end);
  auto number = [&](int64_t n) -> Value { return arith::ConstantOp::create(b, b.getI64IntegerAttr(n)); };
  Value record = block->getArgument(0), none = number(0), taken = number(1);
  auto swap = LLVM::AtomicCmpXchgOp::create(b, record, none, taken, LLVM::AtomicOrdering::monotonic,
                                            LLVM::AtomicOrdering::monotonic);
  Value first = LLVM::ExtractValueOp::create(b, swap, ArrayRef<int64_t>{1});
  auto mine = scf::IfOp::create(b, first, /*withElseRegion=*/false);
  b.setInsertionPoint(mine.thenBlock()->getTerminator());
  for (int32_t i = 1; i <= 3; ++i) {
    Value at = LLVM::GEPOp::create(b, record.getType(), b.getI64Type(), record, ArrayRef<LLVM::GEPArg>{i});
    LLVM::StoreOp::create(b, block->getArgument(i), at);
  }
}

namespace {
struct SplitKernels final : kernels::impl::SplitKernelsPassBase<SplitKernels> {
  using SplitKernelsPassBase::SplitKernelsPassBase;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<func::FuncOp> entries;
    for (func::FuncOp f : module.getOps<func::FuncOp>())
      if (tile::dimsOf(f))
        entries.push_back(f);
    for (func::FuncOp entry : entries)
      if (failed(Splitter(entry, alone).run()))
        return signalPassFailure();
    for (func::FuncOp entry : entries)
      entry.erase();
    defineFail(module);
  }
};
} // namespace
