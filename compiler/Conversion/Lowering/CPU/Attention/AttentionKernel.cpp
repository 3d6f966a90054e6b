//===- AttentionKernel.cpp - items, and the walk over their tiles ---------===//

#include "compiler/Conversion/Lowering/CPU/Attention/AttentionKernel.h"
#include "compiler/Conversion/Lowering/CPU/Linear/MatrixTiles.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;

/// Steps 1 to 4 for keys [begin, end) of the tile at `at`; `full` (i1): every row of the item sees all of them.
static void emitTile(ItemCode &c, const Tile &tile, Value need, Value full, Value guarded) {
  const KernelShape &plan = c.plan;
  Value wholeBegin = c.equal(tile.begin, tile.at), wholeEnd = c.equal(tile.end, c.add(tile.at, plan.keyTile));
  Value whole = arith::AndIOp::create(c.b, Value(arith::AndIOp::create(c.b, wholeBegin, wholeEnd)), full);
  emitScores(c, tile);
  TileBias bias(c, tile);
  if (plan.counted) {
    emitMaxima(c, tile, bias, Open::All);
    emitWeights(c, tile, false);
  } else {
    c.when(
        whole,
        [&] {
          emitMaxima(c, tile, bias, Open::Nothing);
          emitWeights(c, tile, true);
        },
        [&] {
          if (int64_t others = openBeyondBounds(plan)) {
            Value open = arith::AndIOp::create(c.b, need, arith::ConstantIntOp::create(c.b, others, 32));
            Value none = c.equal(open, arith::ConstantIntOp::create(c.b, 0, 32));
            c.when(
                none, [&] { emitMaxima(c, tile, bias, Open::Bounds); }, [&] { emitMaxima(c, tile, bias, Open::All); });
          } else {
            emitMaxima(c, tile, bias, Open::Bounds);
          }
          emitWeights(c, tile, false);
        });
  }
  emitOutput(c, tile, guarded);
}

/// What positions of a ring turn by, tile by tile; a run of tiles is shorter than the ring, so there is one division a
/// run.
class RingOffset {
public:
  RingOffset(ItemCode &c, Role ring, Value first) : c(c) {
    if (c.plan.rings) {
      this->ring = c.length(ring);
      start = c.sub(first, c.rem(first, this->ring));
    }
  }
  Value of(Value at) const {
    if (!ring)
      return Value();
    Value inside = c.less(c.sub(at, start), ring), next = c.add(start, ring);
    return c.select(inside, start, next);
  }

private:
  ItemCode &c;
  Value ring, start;
};

/// Visits all tiles that some row of the item sees.
static void emitTiles(ItemCode &c, Value guarded) {
  c.ask([&](mask::Emitter &e) {
    e.first = c.positionOf(c.item.firstRow);
    e.last = c.positionOf(c.sub(c.add(c.item.firstRow, c.item.count), c.constant(1)));
    e.head = c.headOf(c.item.firstRow);
    emitBounds(c, e);
    auto visit = [&](OpBuilder &, Value lo, Value hi, Value need) {
      Value full = c.equal(need, arith::ConstantIntOp::create(c.b, 0, 32));
      Value first = c.add(c.item.anchor, c.tripFloor(c.sub(lo, c.item.anchor), c.plan.keyTile));
      RingOffset keys(c, Role::KeyRing, first), values(c, Role::ValueRing, first);
      c.loop(first, hi, c.plan.keyTile, [&](Value at) {
        Value limit = c.add(at, c.plan.keyTile), begin = c.max(lo, at), end = c.min(hi, limit);
        emitTile(c, {at, begin, end, keys.of(at), values.of(at)}, need, full, guarded);
      });
    };
    mask::emitWalk(c.b, e, c.plan.mask, c.item.anchor, c.plan.keyTile, visit);
  });
}

/// Computes an item with at least one row. If an output is not finite, the cause may be a hidden value with weight 0 (0
/// * inf): then the item is computed again with a guard that leaves out weights of 0.
static void emitItem(ItemCode c) {
  OpBuilder &b = c.b;
  TileBias::emitTables(c);
  Value no = arith::ConstantOp::create(c.b, b.getBoolAttr(false));
  auto again = scf::WhileOp::create(c.b, TypeRange{b.getI1Type()}, ValueRange{no});
  OpBuilder::InsertionGuard guard(b);
  Block *before = b.createBlock(&again.getBefore(), {}, {b.getI1Type()}, {c.b.getLoc()});
  Value guarded = before->getArgument(0);
  emitRowsIn(c);
  emitTiles(c, guarded);
  Value bad = emitRowsOut(c);
  Value yes = arith::ConstantOp::create(c.b, b.getBoolAttr(true));
  Value once = arith::XOrIOp::create(c.b, guarded, yes);
  scf::ConditionOp::create(c.b, arith::AndIOp::create(c.b, bad, once), before->getArguments());
  b.createBlock(&again.getAfter(), {}, {b.getI1Type()}, {c.b.getLoc()});
  scf::YieldOp::create(c.b, ValueRange{arith::ConstantOp::create(c.b, b.getBoolAttr(true))});
}

void heddle::loops::emitAttention(AttentionCode c) {
  ThreadArea area(c);
  if (c.plan.matrix) {
    Value bytes = LLVM::ConstantOp::create(c.b, c.b.getI64Type(), c.b.getI64IntegerAttr(MatrixTiles::bytes));
    Value configuration = LLVM::AllocaOp::create(c.b, c.pointer(), c.b.getI8Type(), bytes, 64);
    MatrixTiles::configure(c, configuration, c.constant(MatrixTiles::rows));
  }
  c.loop(c.args.from, c.args.to, 1, [&](Value number) {
    Item item = itemOf(c, number);
    if (c.plan.classes == 1)
      return emitItem(ItemCode(c, area, item));
    c.when(c.less(c.constant(0), item.count), [&] { emitItem(ItemCode(c, area, item)); });
  });
  if (c.plan.matrix)
    MatrixTiles::release(c);
}
