//===- TileToNVVM.cpp - launches, and the ops in them one by one ----------===//
//
// A launch is a loop over tiles. Its ops become code in their order: a fragment is the values that a thread holds, a
// variable a place for each of them, which LLVM makes registers of, a piece an address. Control flow of others that
// holds ops of tiles is copied, and all threads of a tile go through it alike.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/GPU/WarpLanes.h"
#include "compiler/Conversion/Lowering/Language/LoopArguments.h"
#include "compiler/Conversion/TileToNVVM/Passes.h"
#include "compiler/Conversion/TileToNVVM/TileLaunch.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

namespace heddle::tile {
#define GEN_PASS_DEF_TILETONVVMPASS
#include "compiler/Conversion/TileToNVVM/Passes.h.inc"
} // namespace heddle::tile

using namespace mlir;
using namespace heddle;
using namespace heddle::tile;

LogicalResult Launch::emit() {
  op.walk([&](MmaOp product) {
    shown |= product.getType().getSpread() == Spread::wgmma && !product->getParentOfType<StreamOp>();
  });
  Value block = NVVM::BlockIdXOp::create(b, b.getI32Type()), blocks = NVVM::GridDimXOp::create(b, b.getI32Type());
  Value first = arith::IndexCastUIOp::create(b, b.getIndexType(), block),
        step = arith::IndexCastUIOp::create(b, b.getIndexType(), blocks);
  if (Value before = op.getBefore())
    first = loops::WarpLanes::turn(c, first, step, before);
  auto loop = scf::ForOp::create(b, first, op.getCount(), step);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(loop.getBody()->getTerminator());
  map.map(op.getBody().getArgument(0), loop.getInductionVar());
  if (!memory.barriers.empty())
    turn = c.div(c.sub(loop.getInductionVar(), first), step);
  return emitOps(op.getBody().front());
}

static bool isOfTiles(Operation *op) { return isa<TileDialect>(op->getDialect()); }
static bool holdsTileOps(Operation *op) {
  return op->walk([](Operation *inner) { return WalkResult(failure(isOfTiles(inner))); }).wasInterrupted();
}

LogicalResult Launch::emitOps(Block &block) {
  for (Operation &inner : block.without_terminator()) {
    b.setLoc(inner.getLoc());
    LogicalResult done = success();
    if (isOfTiles(&inner))
      done = emitTileOp(&inner);
    else if (holdsTileOps(&inner))
      done = control(&inner);
    else
      b.clone(inner, map);
    if (failed(done))
      return failure();
  }
  return success();
}

LogicalResult Launch::emitTileOp(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](StreamOp o) { return o.getBulk() ? bulkStream(o) : stream(o); })
      .Case([&](RoundsOp o) { return rounds(o); })
      .Case([&](CopyOp o) { return copy(o), success(); })
      .Case([&](PieceOp o) { return piece(o), success(); })
      .Case([&](PutOp o) { return put(o), success(); })
      .Case([&](ZeroOp o) {
        fragments[o] = Values(o.getType().heldRows() * o.getType().heldColumns(), c.real(0.0));
        return success();
      })
      .Case([&](MmaOp o) { return product(o), success(); })
      .Case([&](VarOp o) { return variable(o), success(); })
      .Case([&](GetOp o) {
        Values &held = fragments[o];
        held.clear();
        for (Value at : variables.at(o.getVariable()))
          held.push_back(c.load(c.f32(), at));
        return success();
      })
      .Case([&](SetOp o) {
        for (auto [value, at] : llvm::zip_equal(fragments.at(o.getValue()), variables.at(o.getVariable())))
          c.store(value, at);
        return success();
      })
      .Case([&](MapOp o) { return mapElements(o), success(); })
      .Case([&](KeepOp o) { return keep(o), success(); })
      .Case([&](FoldOp o) { return fold(o), success(); })
      .Case([&](AnyOp o) { return any(o), success(); })
      .Case([&](EachOp o) { return each(o), success(); })
      .Default([](Operation *o) { return o->emitOpError("internal error: has no code inside of a launch"); });
}

/// A loop or a condition around ops of tiles.
LogicalResult Launch::control(Operation *op) {
  Operation *copy = b.insert(op->cloneWithoutRegions(map));
  OpBuilder::InsertionGuard guard(b);
  for (auto [from, to] : llvm::zip_equal(op->getRegions(), copy->getRegions())) {
    if (from.empty())
      continue;
    Block &body = from.front();
    if (!from.hasOneBlock() ||
        llvm::any_of(body.getArgumentTypes(), [](Type type) { return isa<TileDialect>(type.getDialect()); }))
      return op->emitOpError("internal error: ops of tiles are in control flow that is not structured");
    SmallVector<Location> places(body.getNumArguments(), op->getLoc());
    Block *made = b.createBlock(&to, {}, body.getArgumentTypes(), places);
    map.map(body.getArguments(), made->getArguments());
    if (failed(emitOps(body)))
      return failure();
    b.clone(*body.getTerminator(), map);
  }
  return success();
}

//===-- what a launch keeps ---------------------------------------------------------------===//

void Launch::piece(PieceOp op) {
  pieces[op] = {c.behind(memory.begin, c.constant(usedWords)), op.getType()};
  usedWords += op.getType().words();
}

void Launch::variable(VarOp op) {
  Values &places = variables[op];
  auto f = this->op->getParentOfType<func::FuncOp>();
  for (Value value : fragments.at(op.getInit())) {
    Value place;
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(&f.getBody().front());
      Value one = LLVM::ConstantOp::create(b, b.getI64Type(), b.getI64IntegerAttr(1));
      place = LLVM::AllocaOp::create(b, c.pointer(), c.f32(), one, 4);
    }
    c.store(value, place);
    places.push_back(place);
  }
}

void Launch::product(MmaOp op) {
  const Piece &right = pieces.at(op.getRight());
  const Values &sums = fragments.at(op.getSum());
  if (auto held = dyn_cast<FragType>(op.getLeft().getType())) {
    fragments[op] = c.multiply(fragments.at(op.getLeft()), held.getColumns(), right, op.getType(), sums);
  } else {
    const Piece &left = pieces.at(op.getLeft());
    fragments[op] = c.multiply(left, right, op.getType(), sums, depth.value_or(left.type.getColumns()));
  }
  if (op.getType().getSpread() == Spread::wgmma && !open)
    fragments[op] = c.settle(fragments[op]);
}

//===-- the pass --------------------------------------------------------------------------===//

/// What needs no asking; more is given at the launch (`shared` in the card).
static constexpr int64_t kSharedForAll = 48 << 10;

/// The shared memory of `f`, with its barriers made.
static SharedMemory sharedMemory(func::FuncOp f, const loops::Lanes &lanes) {
  SharedMemory memory;
  int64_t words = 0, bytes = 0;
  f.walk([&](LaunchOp op) {
    words = std::max(words, op.ownWords() + op.ringWords());
    bytes += op.barrierBytes();
  });
  bytes += 4 * words;
  if (!words)
    return memory;
  ImplicitLocOpBuilder b(f.getLoc(), f);
  bool asked = bytes > kSharedForAll;
  auto type = LLVM::LLVMArrayType::get(b.getI8Type(), asked ? 0 : bytes);
  unsigned space = unsigned(NVVM::NVVMMemorySpace::Shared);
  auto global =
      LLVM::GlobalOp::create(b, type, /*isConstant=*/false, asked ? LLVM::Linkage::External : LLVM::Linkage::Internal,
                             "heddle_shared_" + f.getName().str(), Attribute(), /*alignment=*/128, space);
  b.setInsertionPointToStart(&f.getBody().front());
  memory.begin = LLVM::AddressOfOp::create(b, LLVM::LLVMPointerType::get(b.getContext(), space), global.getSymName());
  SmallVector<StreamOp> streams;
  f.walk([&](Operation *op) {
    if (auto stream = dyn_cast<StreamOp>(op); stream && stream.getBulk())
      streams.push_back(stream);
    auto around = op->getParentOfType<StreamOp>();
    memory.written |= isa<PutOp>(op) || (isa<CopyOp>(op) && !(around && around.getBulk()));
  });
  if (streams.empty())
    return memory;
  TileCode c(b, lanes, 0);
  int64_t at = words;
  for (StreamOp op : streams) {
    memory.barriers[op] = c.behind(memory.begin, c.constant(at));
    at += 2 * op.getStages();
  }
  c.when(c.equal(c.thread, c.constant(0)), [&] {
    for (StreamOp op : streams)
      c.makeBarriers(memory.barriers.at(op), op.getStages(), op.getFill().getNumArguments() - 1);
    NVVM::FenceMbarrierInitOp::create(b);
  });
  NVVM::Barrier0Op::create(b);
  return memory;
}

static void lowerPlaces(func::FuncOp f) {
  f.walk([](PlaceOp op) {
    OpBuilder b(op);
    LLVM::GEPArg offset(op.getOffset());
    op.replaceAllUsesWith(
        LLVM::GEPOp::create(b, op.getLoc(), op.getType(), b.getI8Type(), op.getBase(), offset).getResult());
    op.erase();
  });
}

namespace {
struct TileToNVVM final : tile::impl::TileToNVVMPassBase<TileToNVVM> {
  using TileToNVVMPassBase::TileToNVVMPassBase;
  void runOnOperation() override {
    loops::WarpLanes lanes;
    for (func::FuncOp f : getOperation().getOps<func::FuncOp>()) {
      lowerPlaces(f);
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
    loops::placeArgumentsAtLoops(getOperation());
  }
};
} // namespace
