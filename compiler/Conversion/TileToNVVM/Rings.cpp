//===- Rings.cpp - pieces that arrive while others are used ---------------===//
//
// A stream or rounds have a ring of slots. A round of copies is one group, an empty one after the end, so that waiting
// for the oldest is always waiting for all but stages - 2. Behind that wait no thread reads the slot of the round
// before, so it is filled again: one barrier a round.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/GPU/WarpLanes.h"
#include "compiler/Conversion/TileToNVVM/TileLaunch.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::tile;

/// Pieces are those of a slot of the ring, which is after the launch's own pieces.
void Launch::bind(Block::BlockArgListType arguments, Value slot) {
  int64_t before = 0, all = 0;
  for (BlockArgument argument : arguments)
    all += cast<SharedType>(argument.getType()).words();
  Value first = c.behind(memory.begin, c.add(c.mul(slot, all), ownWords));
  for (BlockArgument argument : arguments) {
    auto type = cast<SharedType>(argument.getType());
    pieces[argument] = {c.behind(first, c.constant(before)), type};
    before += type.words();
  }
}

void Launch::copy(CopyOp op) {
  Window window{valueOf(op.getFrom()), valueOf(op.getRow()),     valueOf(op.getColumn()),
                valueOf(op.getRows()), valueOf(op.getColumns()), int64_t(op.getPanels().value_or(0)),
                op.getGroups(),        op.getAnywhere()};
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
  LogicalResult good = emitOps(body);
  depth.reset();
  if (failed(good))
    return failure();
  return fragments.at(cast<YieldOp>(body.getTerminator()).getValue());
}

/// Not `nvvm.barrier`, which is the same: of one without operands MLIR's parser takes a location for an attribute.
void Launch::barrier() { NVVM::Barrier0Op::create(b); }

void Launch::publish() {
  if (shown)
    c.showUnits();
  barrier();
}

/// All but the last `pending` groups of copies of every thread are there for all threads, and what was read before has
/// been read.
void Launch::waitFor(int64_t pending) {
  NVVM::CpAsyncWaitGroupOp::create(b, b.getI32IntegerAttr(int32_t(pending)));
  publish();
}

namespace {
/// What a stream and rounds have in common: copies of round r are asked for by fill(r), a group a round.
struct Ring {
  TileCode &c;
  int64_t stages;
  Value rounds;
  llvm::function_ref<LogicalResult(Value round)> fill;
  LogicalResult good = success();

  /// Round `r`, or an empty group after the end.
  void ask(Value r) {
    auto filled = [&] { good = failed(good) ? good : fill(r); };
    std::optional<int64_t> number = TileCode::known(r), all = TileCode::known(rounds);
    if (!number || !all)
      c.when(c.less(r, rounds), filled);
    else if (*number < *all)
      filled();
    NVVM::CpAsyncCommitGroupOp::create(c.b);
  }
  void begin() {
    NVVM::Barrier0Op::create(c.b); // the memory was that of the ring before
    for (int64_t round = 0; round < stages - 1; ++round)
      ask(c.constant(round));
  }
};
} // namespace

/// A round is long enough: several of them one after the other would only be more code to fetch.
static void stayALoop(const Values &made) {
  auto loop = made[0].getDefiningOp<scf::ForOp>();
  if (!loop)
    return;
  MLIRContext *context = loop.getContext();
  auto unroll = LLVM::LoopUnrollAttr::get(context, BoolAttr::get(context, true), {}, {}, {}, {}, {}, {});
  loop->setAttr("llvm.loop_annotation",
                LLVM::LoopAnnotationAttr::get(context, {}, {}, {}, unroll, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}));
}

LogicalResult Launch::stream(StreamOp op) {
  int64_t step = op.getStep(), stages = op.getStages(), whole = op.getLength() / step, rest = op.getLength() % step;
  auto slot = [&](Value round) { return c.rem(round, c.constant(stages)); };
  auto ask = [&](Value round) { return fill(op, round, slot(round)); };
  Ring ring{c, stages, c.constant(whole + (rest > 0)), ask};
  ring.begin();
  Values now = fragments.at(op.getInit());
  now = c.loop(c.constant(0), c.constant(whole), 1, now, [&](Value round, ValueRange carried) -> Values {
    waitFor(stages - 2);
    ring.ask(c.add(round, stages - 1));
    FailureOr<Values> next = use(op, slot(round), carried, step);
    ring.good = failed(next) ? failure() : ring.good;
    return failed(next) ? Values(carried) : *next;
  });
  stayALoop(now);
  if (failed(ring.good))
    return failure();
  if (rest) {
    waitFor(stages - 2);
    FailureOr<Values> next = use(op, slot(c.constant(whole)), now, rest);
    if (failed(next))
      return failure();
    now = *next;
  }
  fragments[op.getResult()] = now;
  return success();
}

LogicalResult Launch::rounds(RoundsOp op) {
  int64_t step = op.getStep(), stages = op.getStages();
  Value from = valueOf(op.getFrom()), length = c.max({c.sub(valueOf(op.getTo()), from), c.constant(0)});
  auto body = [&](Block &block, Value round) {
    bind(block.getArguments().drop_front(), c.rem(round, c.constant(stages)));
    map.map(block.getArgument(0), c.add(from, c.mul(round, step)));
    return emitOps(block);
  };
  auto fill = [&](Value round) { return body(op.getFill().front(), round); };
  Ring ring{c, stages, c.div(c.add(length, step - 1), c.constant(step)), fill};
  ring.begin();
  c.loop(c.constant(0), ring.rounds, 1, [&](Value round) {
    waitFor(stages - 2);
    ring.ask(c.add(round, stages - 1));
    LogicalResult used = body(op.getUse().front(), round);
    ring.good = failed(used) ? used : ring.good;
  });
  return ring.good;
}

//===-- in bulk ---------------------------------------------------------------------------===//

/// Whether the body is one product on the stream's value: then it can be under way while the next round begins.
static bool isChain(StreamOp op) {
  Block &body = op.getUse().front();
  auto product = dyn_cast<MmaOp>(body.front());
  return product && product.getType().getSpread() == Spread::wgmma && product.getSum() == body.getArguments().back() &&
         product.getResult() == cast<YieldOp>(body.getTerminator()).getValue() &&
         llvm::hasSingleElement(body.without_terminator());
}

/// Rounds are counted through all tiles of the block, so that a slot's barrier goes from phase to phase. What the round
/// before multiplied is settled when the round's own product has begun; after a barrier no thread reads that slot any
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
  if (memory.written)
    c.showUnits(); // copies in bulk come after what threads wrote there
  barrier();       // the memory was that of the stream before
  for (int64_t round = 0; round < std::min(stages - 1, rounds); ++round)
    if (failed(ask(c.constant(round))))
      return failure();
  Values now = fragments.at(op.getInit());
  LogicalResult good = success();
  now = c.loop(c.constant(0), c.constant(whole), 1, now, [&](Value round, ValueRange carried) -> Values {
    FailureOr<Values> next = turnOf(round, carried, step);
    if (open)
      NVVM::WgmmaWaitGroupSyncOp::create(b, 1);
    barrier();
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
