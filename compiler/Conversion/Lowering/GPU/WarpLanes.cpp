//===- WarpLanes.cpp - lanes are the threads of a warp --------------------===//

#include "compiler/Conversion/Lowering/GPU/WarpLanes.h"
#include "compiler/Conversion/Lowering/Language/Code.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace heddle::loops;

static Value word(Code &c, int32_t value) { return arith::ConstantOp::create(c.b, c.b.getI32IntegerAttr(value)); }
static Value everyLane(Code &c) { return word(c, -1); }

Value WarpLanes::lane(Code &c) {
  Value lane = NVVM::LaneIdOp::create(c.b, c.b.getI32Type());
  return arith::IndexCastUIOp::create(c.b, c.b.getIndexType(), lane);
}

Value WarpLanes::turn(Code &c, Value number, Value count, Value before) {
  Value last = c.rem(before, count), there = c.sub(count, last);
  Value turn = c.add(number, there), less = c.sub(turn, count);
  return c.select(c.less(turn, count), turn, less);
}

Value WarpLanes::fromLane(Code &c, Value value, Value from) {
  Value lane = arith::IndexCastOp::create(c.b, c.b.getI32Type(), from);
  Value all = everyLane(c), clamp = word(c, kWarp - 1);
  return NVVM::ShflOp::create(c.b, value.getType(), all, value, lane, clamp, NVVM::ShflKind::idx, UnitAttr());
}

Value WarpLanes::load(Code &c, Type element, Value address, Value mask) const {
  Value mine = c.at(address, lane(c), element);
  if (!mask)
    return c.load(element, mine);
  auto op = scf::IfOp::create(c.b, TypeRange{element}, mask, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(c.b);
  c.b.setInsertionPointToStart(op.thenBlock());
  Value there = c.load(element, mine);
  scf::YieldOp::create(c.b, there);
  c.b.setInsertionPointToStart(op.elseBlock());
  Value zero = arith::ConstantOp::create(c.b, c.b.getZeroAttr(element));
  scf::YieldOp::create(c.b, zero);
  return op.getResult(0);
}

void WarpLanes::store(Code &c, Value value, Value address, Value mask) const {
  Value mine = c.at(address, lane(c), value.getType());
  if (!mask)
    return c.store(value, mine);
  c.when(mask, [&] { c.store(value, mine); });
}

Value WarpLanes::first(Code &c, Value n) const { return c.less(lane(c), n); }

Value WarpLanes::fold(Code &c, Value lanes, llvm::function_ref<Value(Value, Value)> join) const {
  for (int32_t n = kWarp / 2; n > 0; n /= 2) {
    Value all = everyLane(c), distance = word(c, n), clamp = word(c, kWarp - 1);
    Value other =
        NVVM::ShflOp::create(c.b, lanes.getType(), all, lanes, distance, clamp, NVVM::ShflKind::bfly, UnitAttr());
    lanes = join(lanes, other);
  }
  return lanes;
}

void WarpLanes::sync(Code &c) const { NVVM::SyncWarpOp::create(c.b, everyLane(c)); }

/// from, from + step, ... < n.
static scf::ForOp inTurn(Code &c, Value from, Value n, Value step, llvm::function_ref<void(Value)> body) {
  auto loop = scf::ForOp::create(c.b, from, n, step);
  OpBuilder::InsertionGuard guard(c.b);
  c.b.setInsertionPoint(loop.getBody()->getTerminator());
  body(loop.getInductionVar());
  return loop;
}

void WarpLanes::elements(Code &c, Value n, llvm::function_ref<void(Value)> body) const {
  inTurn(c, lane(c), n, c.constant(kWarp), body);
}

Operation *WarpLanes::items(Code &c, Value n, Value team, Value teams, Worker worker,
                            llvm::function_ref<void(Value)> body) const {
  if (worker == Worker::Lane) {
    team = c.add(c.mul(team, kWarp), lane(c));
    teams = c.mul(teams, kWarp);
  }
  return inTurn(c, team, n, teams, body);
}
