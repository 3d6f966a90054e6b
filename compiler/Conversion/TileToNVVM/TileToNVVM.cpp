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
/// Emits one launch.
class Launch {
public:
  Launch(LaunchOp op, ImplicitLocOpBuilder &b, const loops::Lanes &lanes, Value memory)
      : op(op), b(b), c(b, lanes, op.getThreads()), memory(memory) {}
  LogicalResult emit();
  /// Words of shared memory that a round of a stream needs.
  static int64_t wordsOf(StreamOp op);

private:
  LaunchOp op;
  ImplicitLocOpBuilder &b;
  TileCode c;
  Value memory;  ///< all of the kernel's shared memory; null without
  IRMapping map; ///< of what is no value of the dialect
  llvm::DenseMap<Value, Values> fragments;
  llvm::DenseMap<Value, Piece> pieces;
  int64_t depth = 0; ///< columns that products take now

  LogicalResult emitOps(Block &block);
  void zero(ZeroOp op);
  LogicalResult stream(StreamOp op);
  void copy(CopyOp op);
  void each(EachOp op);
  void bind(Block::BlockArgListType arguments, Value slot);
  LogicalResult fill(StreamOp op, Value round);
  FailureOr<Values> use(StreamOp op, Value round, ValueRange value, int64_t columns);
  void waitFor(int64_t pending);
};
} // namespace

int64_t Launch::wordsOf(StreamOp op) {
  int64_t words = 0;
  for (BlockArgument piece : op.getFill().getArguments().drop_front())
    words += cast<SharedType>(piece.getType()).words();
  return words;
}

LogicalResult Launch::emit() {
  Value block = NVVM::BlockIdXOp::create(b, b.getI32Type()), blocks = NVVM::GridDimXOp::create(b, b.getI32Type());
  Value first = arith::IndexCastUIOp::create(b, b.getIndexType(), block),
        step = arith::IndexCastUIOp::create(b, b.getIndexType(), blocks);
  auto loop = scf::ForOp::create(b, first, op.getCount(), step);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(loop.getBody()->getTerminator());
  map.map(op.getBody().getArgument(0), loop.getInductionVar());
  return emitOps(op.getBody().front());
}

LogicalResult Launch::emitOps(Block &block) {
  for (Operation &inner : block.without_terminator()) {
    b.setLoc(inner.getLoc());
    LogicalResult done =
        llvm::TypeSwitch<Operation *, LogicalResult>(&inner)
            .Case([&](ZeroOp o) { return zero(o), success(); })
            .Case([&](StreamOp o) { return stream(o); })
            .Case([&](CopyOp o) { return copy(o), success(); })
            .Case([&](EachOp o) { return each(o), success(); })
            .Case([&](MmaOp o) {
              fragments[o] = c.multiply(pieces.at(o.getLeft()), pieces.at(o.getRight()), o.getType(),
                                        fragments.at(o.getSum()), depth);
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
  Value first = c.behind(memory, c.mul(slot, all));
  for (BlockArgument argument : arguments) {
    auto type = cast<SharedType>(argument.getType());
    pieces[argument] = {c.behind(first, c.constant(before)), type};
    before += type.words();
  }
}

void Launch::copy(CopyOp op) {
  auto value = [&](Value v) { return map.lookupOrDefault(v); };
  Window window{value(op.getFrom()), value(op.getRow()),     value(op.getColumn()),
                value(op.getRows()), value(op.getColumns()), int64_t(op.getPanels().value_or(0))};
  c.copy(window, pieces.at(op.getTo()));
}

/// Asks for the pieces of a round.
LogicalResult Launch::fill(StreamOp op, Value round) {
  Block &body = op.getFill().front();
  Value slot = c.rem(round, c.constant(op.getStages()));
  bind(body.getArguments().drop_front(), slot);
  map.map(body.getArgument(0), c.mul(round, op.getStep()));
  return emitOps(body);
}

FailureOr<Values> Launch::use(StreamOp op, Value round, ValueRange value, int64_t columns) {
  Block &body = op.getUse().front();
  bind(body.getArguments().drop_back(), c.rem(round, c.constant(op.getStages())));
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
  NVVM::BarrierOp::create(b); // the memory was that of the stream before
  for (int64_t round = 0; round < stages - 1; ++round) {
    if (round < rounds && failed(fill(op, c.constant(round))))
      return failure();
    NVVM::CpAsyncCommitGroupOp::create(b);
  }
  Values now = fragments.at(op.getInit());
  LogicalResult good = success();
  now = c.loop(c.constant(0), c.constant(whole), 1, now, [&](Value round, ValueRange carried) -> Values {
    waitFor(stages - 2);
    Value later = c.add(round, stages - 1);
    c.when(c.less(later, c.constant(rounds)), [&] { good = failed(good) ? good : fill(op, later); });
    NVVM::CpAsyncCommitGroupOp::create(b);
    FailureOr<Values> next = use(op, round, carried, step);
    good = failed(next) ? failure() : good;
    return failed(next) ? Values(carried) : *next;
  });
  if (failed(good))
    return failure();
  if (rest) {
    waitFor(stages - 2);
    FailureOr<Values> next = use(op, c.constant(whole), now, rest);
    if (failed(next))
      return failure();
    now = *next;
  }
  fragments[op.getResult()] = now;
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

/// The shared memory of `f`, as large as its largest ring; null if it needs none.
static Value sharedMemory(func::FuncOp f) {
  int64_t words = 0;
  f.walk([&](StreamOp op) { words = std::max<int64_t>(words, Launch::wordsOf(op) * op.getStages()); });
  if (!words)
    return {};
  ImplicitLocOpBuilder b(f.getLoc(), f);
  auto bytes = LLVM::LLVMArrayType::get(b.getI8Type(), 4 * words);
  unsigned space = unsigned(NVVM::NVVMMemorySpace::Shared);
  auto global = LLVM::GlobalOp::create(b, bytes, /*isConstant=*/false, LLVM::Linkage::Internal,
                                       "heddle_shared_" + f.getName().str(), Attribute(), /*alignment=*/128, space);
  b.setInsertionPointToStart(&f.getBody().front());
  return LLVM::AddressOfOp::create(b, LLVM::LLVMPointerType::get(b.getContext(), space), global.getSymName());
}

namespace {
struct TileToNVVM final : tile::impl::TileToNVVMPassBase<TileToNVVM> {
  using TileToNVVMPassBase::TileToNVVMPassBase;
  void runOnOperation() override {
    loops::WarpLanes lanes;
    for (func::FuncOp f : getOperation().getOps<func::FuncOp>()) {
      SmallVector<LaunchOp> launches;
      f.walk([&](LaunchOp op) { launches.push_back(op); });
      Value memory = launches.empty() ? Value() : sharedMemory(f);
      for (LaunchOp op : launches) {
        ImplicitLocOpBuilder b(op.getLoc(), op);
        if (failed(Launch(op, b, lanes, memory).emit()))
          return signalPassFailure();
        op.erase();
      }
    }
  }
};
} // namespace
