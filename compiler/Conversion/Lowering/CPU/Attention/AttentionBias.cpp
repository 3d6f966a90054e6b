//===- AttentionBias.cpp - what is added to a score, inside the tile ------===//

#include "compiler/Conversion/Lowering/CPU/Attention/AttentionBias.h"
#include "dialects/Model/IR/TensorType.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using model::typeOf;

//===-- before tiles -------------------------------------------------------------------===//

/// Makes bias[head][distance] for distances -reach-16 .. reach+16, one row for each head of the group.
static void emitBuckets(ItemCode c, attn::BucketBiasOp op, int64_t number) {
  const KernelShape &plan = c.plan;
  int64_t reach = plan.lookups[number].reach, stride = tableStride(reach);
  Type i32 = c.b.getI32Type();
  Value lookup = c.args.lookups[number], table = c.tensor(op.getTable());
  Value columns = c.length(op.getTable(), 1);
  c.loop(c.constant(0), c.constant(plan.packed), 1, [&](Value member) {
    Value head = c.headOf(member);
    if (typeOf(op.getTable()).getSize(1).is(1))
      head = c.constant(0);
    Value target = c.at({c.area.floats(plan.atBias[number]), c.mul(member, stride)}, c.f32());
    c.loop(c.constant(0), c.constant(2 * reach + 33), 1, [&](Value n) {
      Value inside = c.min(c.max(c.sub(n, c.constant(16)), c.constant(0)), c.constant(2 * reach));
      Value bucket = c.toIndex(c.load(i32, c.at(lookup, inside, i32)));
      c.store({c.loadF32(table, c.add(c.mul(bucket, columns), head)), c.at(target, n, c.f32())});
    });
  });
}

void TileBias::emitTables(const ItemCode &item) {
  for (auto [i, op] : llvm::enumerate(item.plan.biases))
    if (auto bucket = dyn_cast<attn::BucketBiasOp>(op))
      emitBuckets(item, bucket, i);
}

//===-- before the rows of a tile ------------------------------------------------------===//

TileBias::TileBias(const ItemCode &item, const Tile &tile) : item(item) {
  ItemCode c = item;
  for (auto [i, op] : llvm::enumerate(c.plan.biases))
    if (auto dot = dyn_cast<attn::RelativeDotOp>(op)) {
      if (!dotColumn) // the first column of the tile's first panel
        dotColumn = c.mul(c.div(c.sub(tile.begin, tile.at), c.constant(kPanel)), kPanel);
      RelativeDots(c, dot, i).emit(tile, dotColumn);
    }
}

//===-- one vector of keys ---------------------------------------------------------------===//

Value TileBias::at(Value bias, const RowContext &row, Value firstKey, Value column) const {
  ItemCode c = item;
  const KernelShape &plan = c.plan;
  Type real = c.vec(c.f32());
  Operation *op = bias.getDefiningOp();
  int64_t number = llvm::find(plan.biases, op) - plan.biases.begin();
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](attn::BiasAddOp op) {
        return c.addf({at(op.getLhs(), row, firstKey, column), at(op.getRhs(), row, firstKey, column)});
      })
      .Case([&](attn::BiasScaleOp op) {
        return c.mulf(at(op.getOperand(), row, firstKey, column), c.real(real, op.getFactor().convertToDouble()));
      })
      .Case([&](attn::AlibiOp op) {
        Value head = typeOf(op.getSlopes()).getCount().is(1) ? c.constant(0) : row.head;
        Value distance = c.iota(c.sub(firstKey, row.own)); // of consecutive keys
        if (plan.classes > 1)
          distance = arith::MulIOp::create(c.b, distance, c.splatWord(c.constant(plan.classes)));
        Value d = arith::SIToFPOp::create(c.b, real, distance);
        if (op.getSymmetric())
          d = arith::NegFOp::create(c.b, Value(math::AbsFOp::create(c.b, d)));
        return c.mulf(c.splat(c.loadF32(c.tensor(op.getSlopes()), head)), d);
      })
      .Case([&](attn::BucketBiasOp op) {
        int64_t reach = plan.lookups[number].reach;
        Value packedRow = c.add(c.item.firstRow, row.index);
        Value member = plan.packed == 1 ? c.constant(0) : c.rem(packedRow, c.constant(plan.packed));
        Value distance = c.sub(firstKey, row.own);
        Value from = c.add(c.min(c.max(distance, c.constant(-reach - 16)), c.constant(reach + 1)), reach + 16);
        return c.loadVec({c.area.floats(plan.atBias[number]), c.add(c.mul(member, tableStride(reach)), from)});
      })
      .Case([&](attn::RelativeDotOp op) { return RelativeDots(c, op, number).atRow(row, column, dotColumn); })
      .Case([&](attn::DenseBiasOp op) {
        int64_t rank = typeOf(op.getTensor()).getRank();
        Values index;
        if (rank > 2)
          index.push_back(c.keys.batch);
        if (rank > 3)
          index.push_back(row.head);
        index.push_back(row.row);
        index.push_back(c.keyRows(firstKey));
        return c.element(c.b, op.getTensor(), index);
      });
}
