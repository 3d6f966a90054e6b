//===- TileToNVVM.cpp - launches, streams and bodies ----------------------===//
//
// The ops of a launch one after the other. Control flow that they imply is made here: the loop over tiles, the ring of
// a stream, the walk over the elements that a thread holds.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/TileToNVVM/Passes.h"
#include "compiler/Conversion/TileToNVVM/TileCode.h"
#include "compiler/Conversion/ToLoops/Gpu/WarpLanes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/TypeSwitch.h"

namespace heddle::tile {
#define GEN_PASS_DEF_TILETONVVMPASS
#include "compiler/Conversion/TileToNVVM/Passes.h.inc"
} // namespace heddle::tile

using namespace mlir;
using namespace heddle;
using namespace heddle::tile;

namespace {
/// Of a kernel: a ring that its streams take in turn, and behind it the barriers of each stream that has some.
struct SharedMemory {
  Value ring; ///< null without streams
  llvm::DenseMap<Operation *, Value> barriers;
};

/// Emits one launch.
class Launch {
public:
  Launch(LaunchOp op, ImplicitLocOpBuilder &b, const loops::Lanes &lanes, const SharedMemory &memory)
      : op(op), b(b), c(b, lanes, op.getThreads()), memory(memory) {}
  LogicalResult emit();

private:
  LaunchOp op;
  ImplicitLocOpBuilder &b;
  TileCode c;
  const SharedMemory &memory;
  IRMapping map; ///< of what is no value of the dialect
  Value turn;    ///< tiles that this block has done
  llvm::DenseMap<Value, Values> fragments;
  llvm::DenseMap<Value, Piece> pieces;
  int64_t depth = 0; ///< columns that products take now
  Value arrival;     ///< the barrier that copies tell; null where there is none
  bool open = false; ///< whether products may stay under way behind the body of a stream

  LogicalResult emitOps(Block &block);
  void zero(ZeroOp op);
  LogicalResult stream(StreamOp op);
  LogicalResult bulkStream(StreamOp op);
  void copy(CopyOp op);
  void each(EachOp op);
  void bind(Block::BlockArgListType arguments, Value slot);
  LogicalResult fill(StreamOp op, Value round, Value slot);
  FailureOr<Values> use(StreamOp op, Value slot, ValueRange value, int64_t columns);
  void waitFor(int64_t pending);
};
} // namespace

LogicalResult Launch::emit() {
  Value block = NVVM::BlockIdXOp::create(b, b.getI32Type()), blocks = NVVM::GridDimXOp::create(b, b.getI32Type());
  Value first = arith::IndexCastUIOp::create(b, b.getIndexType(), block),
        step = arith::IndexCastUIOp::create(b, b.getIndexType(), blocks);
  auto loop = scf::ForOp::create(b, first, op.getCount(), step);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(loop.getBody()->getTerminator());
  map.map(op.getBody().getArgument(0), loop.getInductionVar());
  if (!memory.barriers.empty())
    turn = c.div(c.sub(loop.getInductionVar(), first), step);
  return emitOps(op.getBody().front());
}

LogicalResult Launch::emitOps(Block &block) {
  for (Operation &inner : block.without_terminator()) {
    b.setLoc(inner.getLoc());
    LogicalResult done =
        llvm::TypeSwitch<Operation *, LogicalResult>(&inner)
            .Case([&](ZeroOp o) { return zero(o), success(); })
            .Case([&](StreamOp o) { return o.getBulk() ? bulkStream(o) : stream(o); })
            .Case([&](CopyOp o) { return copy(o), success(); })
            .Case([&](EachOp o) { return each(o), success(); })
            .Case([&](MmaOp o) {
              fragments[o] = c.multiply(pieces.at(o.getLeft()), pieces.at(o.getRight()), o.getType(),
                                        fragments.at(o.getSum()), depth);
              if (o.getType().getSpread() == Spread::wgmma && !open)
                fragments[o] = c.settle(fragments[o]);
              return success();
            })
            .Default([&](Operation *o) -> LogicalResult {
              if (o->walk([](Operation *i) {
                     return WalkResult(failure(isa<TileDialect>(i->getDialect())));
                   }).wasInterrupted())
                return o->emitOpError("internal error: an op of tiles stands under a condition or in a loop");
              b.clone(*o, map);
              return success();
            });
    if (failed(done))
      return failure();
  }
  return success();
}

void Launch::zero(ZeroOp op) {
  FragType type = op.getType();
  fragments[op] = Values(type.heldRows() * type.heldColumns(), c.real(0.0));
}

//===-- streams ---------------------------------------------------------------------------===//

/// Pieces are those of a slot of the ring.
void Launch::bind(Block::BlockArgListType arguments, Value slot) {
  int64_t before = 0, all = 0;
  for (BlockArgument argument : arguments)
    all += cast<SharedType>(argument.getType()).words();
  Value first = c.behind(memory.ring, c.mul(slot, all));
  for (BlockArgument argument : arguments) {
    auto type = cast<SharedType>(argument.getType());
    pieces[argument] = {c.behind(first, c.constant(before)), type};
    before += type.words();
  }
}

void Launch::copy(CopyOp op) {
  auto value = [&](Value v) { return map.lookupOrDefault(v); };
  Window window{value(op.getFrom()), value(op.getRow()),     value(op.getColumn()),
                value(op.getRows()), value(op.getColumns()), int64_t(op.getPanels().value_or(0)),
                op.getGroups()};
  if (arrival)
    c.copyBulk(window, pieces.at(op.getTo()), arrival);
  else
    c.copy(window, pieces.at(op.getTo()));
}

/// Asks for the pieces of a round.
LogicalResult Launch::fill(StreamOp op, Value round, Value slot) {
  Block &body = op.getFill().front();
  bind(body.getArguments().drop_front(), slot);
  map.map(body.getArgument(0), c.mul(round, op.getStep()));
  return emitOps(body);
}

FailureOr<Values> Launch::use(StreamOp op, Value slot, ValueRange value, int64_t columns) {
  Block &body = op.getUse().front();
  bind(body.getArguments().drop_back(), slot);
  fragments[body.getArguments().back()] = Values(value.begin(), value.end());
  depth = columns;
  if (failed(emitOps(body)))
    return failure();
  return fragments.at(cast<YieldOp>(body.getTerminator()).getValue());
}

/// All but the last `pending` groups of copies of every thread are there for all threads, and what was read before has
/// been read.
void Launch::waitFor(int64_t pending) {
  NVVM::CpAsyncWaitGroupOp::create(b, b.getI32IntegerAttr(int32_t(pending)));
  NVVM::BarrierOp::create(b);
}

/// A round is one group of copies, an empty one behind the end, so that waiting for the oldest is always waiting for
/// all but stages - 2. Behind that wait no thread reads the slot of the round before, so it is filled again.
LogicalResult Launch::stream(StreamOp op) {
  int64_t step = op.getStep(), stages = op.getStages(), whole = op.getLength() / step, rest = op.getLength() % step;
  int64_t rounds = whole + (rest > 0);
  auto slot = [&](Value round) { return c.rem(round, c.constant(stages)); };
  NVVM::BarrierOp::create(b); // the memory was that of the stream before
  for (int64_t round = 0; round < stages - 1; ++round) {
    if (round < rounds && failed(fill(op, c.constant(round), c.constant(round))))
      return failure();
    NVVM::CpAsyncCommitGroupOp::create(b);
  }
  Values now = fragments.at(op.getInit());
  LogicalResult good = success();
  now = c.loop(c.constant(0), c.constant(whole), 1, now, [&](Value round, ValueRange carried) -> Values {
    waitFor(stages - 2);
    Value later = c.add(round, stages - 1);
    c.when(c.less(later, c.constant(rounds)), [&] { good = failed(good) ? good : fill(op, later, slot(later)); });
    NVVM::CpAsyncCommitGroupOp::create(b);
    FailureOr<Values> next = use(op, slot(round), carried, step);
    good = failed(next) ? failure() : good;
    return failed(next) ? Values(carried) : *next;
  });
  if (failed(good))
    return failure();
  if (rest) {
    waitFor(stages - 2);
    FailureOr<Values> next = use(op, c.constant(whole % stages), now, rest);
    if (failed(next))
      return failure();
    now = *next;
  }
  fragments[op.getResult()] = now;
  return success();
}

/// Whether the body is one product on the stream's value: then it can be under way while the next round begins.
static bool isChain(StreamOp op) {
  Block &body = op.getUse().front();
  auto product = dyn_cast<MmaOp>(body.front());
  return product && product.getType().getSpread() == Spread::wgmma && product.getSum() == body.getArguments().back() &&
         product.getResult() == cast<YieldOp>(body.getTerminator()).getValue() &&
         llvm::hasSingleElement(body.without_terminator());
}

/// Rounds are counted through all tiles of the block, so that a slot's barrier goes from phase to phase. What the round
/// before multiplied is settled when the round's own product has begun; behind a barrier nobody reads that slot any
/// more.
LogicalResult Launch::bulkStream(StreamOp op) {
  int64_t step = op.getStep(), stages = op.getStages(), whole = op.getLength() / step, rest = op.getLength() % step;
  int64_t rounds = whole + (rest > 0);
  Value before = c.mul(turn, rounds), barriers = memory.barriers.at(op);
  auto slot = [&](Value round) { return c.rem(c.add(before, round), c.constant(stages)); };
  auto ask = [&](Value round) {
    LogicalResult done = success();
    c.when(c.less(c.thread, c.constant(loops::kWarp)), [&] {
      Value mine = slot(round);
      arrival = c.barrierAt(barriers, mine);
      done = fill(op, round, mine);
      arrival = {};
    });
    return done;
  };
  open = isChain(op);
  auto turnOf = [&](Value round, ValueRange now, int64_t columns) -> FailureOr<Values> {
    Value mine = slot(round), phase = c.div(c.add(before, round), c.constant(stages));
    c.waitForPhase(c.barrierAt(barriers, mine), c.rem(phase, c.constant(2)));
    return use(op, mine, now, columns);
  };
  NVVM::BarrierOp::create(b); // the memory was that of the stream before
  for (int64_t round = 0; round < std::min(stages - 1, rounds); ++round)
    if (failed(ask(c.constant(round))))
      return failure();
  Values now = fragments.at(op.getInit());
  LogicalResult good = success();
  now = c.loop(c.constant(0), c.constant(whole), 1, now, [&](Value round, ValueRange carried) -> Values {
    FailureOr<Values> next = turnOf(round, carried, step);
    if (open)
      NVVM::WgmmaWaitGroupSyncOp::create(b, 1);
    NVVM::BarrierOp::create(b);
    Value later = c.add(round, stages - 1);
    c.when(c.less(later, c.constant(rounds)), [&] { good = failed(good) ? good : ask(later); });
    good = failed(next) ? failure() : good;
    return failed(next) ? Values(carried) : *next;
  });
  if (failed(good))
    return failure();
  if (rest) {
    FailureOr<Values> next = turnOf(c.constant(whole), now, rest);
    if (failed(next))
      return failure();
    now = *next;
  }
  fragments[op.getResult()] = open ? c.settle(now) : now;
  open = false;
  return success();
}

//===-- elements --------------------------------------------------------------------------===//

/// The rows of a thread take turns in the loop's variables, so that the body stands once for each column that it holds.
void Launch::each(EachOp op) {
  FragType type = op.getFragment().getType();
  int64_t columns = type.heldColumns(), run = op.getRun();
  auto value = [&](Value v) { return map.lookupOrDefault(v); };
  Value row = value(op.getRow()), column = value(op.getColumn()), rows = value(op.getRows()),
        all = value(op.getColumns());
  Block &body = op.getBody().front();
  (void)c.loop(c.constant(0), c.constant(type.heldRows()), 1, fragments.at(op.getFragment()),
               [&](Value i, ValueRange held) {
                 Value r = c.add(row, c.rowOf(type, i));
                 c.when(c.less(r, rows), [&] {
                   for (int64_t j = 0; j < columns; j += run) {
                     Value first = c.add(column, c.columnOf(type, j));
                     c.when(c.less(first, all), [&] {
                       for (int64_t k = 0; k < run; ++k) {
                         map.map(body.getArguments(), ValueRange{r, c.add(first, k), held[j + k]});
                         for (Operation &inner : body.without_terminator())
                           b.clone(inner, map);
                       }
                     });
                   }
                 });
                 Values next(held.begin() + columns, held.end());
                 next.append(held.begin(), held.begin() + columns);
                 return next;
               });
}

//===-- the pass --------------------------------------------------------------------------===//

/// What needs no asking; more is given at the launch (`shared` in the card).
static constexpr int64_t kSharedForAll = 48 << 10;

/// The shared memory of `f`, with its barriers made.
static SharedMemory sharedMemory(func::FuncOp f, const loops::Lanes &lanes) {
  SharedMemory memory;
  int64_t ring = 0, bytes = 0;
  f.walk([&](StreamOp op) { ring = std::max<int64_t>(ring, 4 * op.slotWords() * op.getStages()); });
  f.walk([&](LaunchOp op) { bytes = std::max(bytes, op.sharedBytes()); });
  if (!ring)
    return memory;
  ImplicitLocOpBuilder b(f.getLoc(), f);
  bool asked = bytes > kSharedForAll;
  auto type = LLVM::LLVMArrayType::get(b.getI8Type(), asked ? 0 : bytes);
  unsigned space = unsigned(NVVM::NVVMMemorySpace::Shared);
  auto global =
      LLVM::GlobalOp::create(b, type, /*isConstant=*/false, asked ? LLVM::Linkage::External : LLVM::Linkage::Internal,
                             "heddle_shared_" + f.getName().str(), Attribute(), /*alignment=*/128, space);
  b.setInsertionPointToStart(&f.getBody().front());
  memory.ring = LLVM::AddressOfOp::create(b, LLVM::LLVMPointerType::get(b.getContext(), space), global.getSymName());
  SmallVector<StreamOp> streams;
  f.walk([&](StreamOp op) {
    if (op.getBulk())
      streams.push_back(op);
  });
  if (streams.empty())
    return memory;
  TileCode c(b, lanes, 0);
  int64_t at = ring / 4;
  for (StreamOp op : streams) {
    memory.barriers[op] = c.behind(memory.ring, c.constant(at));
    at += 2 * op.getStages();
  }
  c.when(c.equal(c.thread, c.constant(0)), [&] {
    for (StreamOp op : streams)
      c.makeBarriers(memory.barriers.at(op), op.getStages(), op.getFill().getNumArguments() - 1);
    NVVM::FenceMbarrierInitOp::create(b);
  });
  NVVM::BarrierOp::create(b);
  return memory;
}

namespace {
struct TileToNVVM final : tile::impl::TileToNVVMPassBase<TileToNVVM> {
  using TileToNVVMPassBase::TileToNVVMPassBase;
  void runOnOperation() override {
    loops::WarpLanes lanes;
    for (func::FuncOp f : getOperation().getOps<func::FuncOp>()) {
      SmallVector<LaunchOp> launches;
      f.walk([&](LaunchOp op) { launches.push_back(op); });
      SharedMemory memory = sharedMemory(f, lanes);
      for (LaunchOp op : launches) {
        if (std::optional<uint64_t> together = op.getTogether())
          f->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                     IntegerAttr::get(IntegerType::get(&getContext(), 32), *together));
        ImplicitLocOpBuilder b(op.getLoc(), op);
        if (failed(Launch(op, b, lanes, memory).emit()))
          return signalPassFailure();
        op.erase();
      }
    }
  }
};
} // namespace
