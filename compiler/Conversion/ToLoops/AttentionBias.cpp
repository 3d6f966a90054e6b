//===- AttentionBias.cpp - what is added to a score, inside the tile ------===//
//
// Biases are in natural units and are evaluated per vector of keys of one row: from
// distances (alibi), from a small table by distance built per head and work item (buckets),
// from dots made per tile (relative_dot: AttentionRelative.cpp), or from the tensor the user brought.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ToLoops/AttentionKernel.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using model::ModelTensorType;
using model::Size;

static ModelTensorType tensorType(Value v) { return cast<ModelTensorType>(v.getType()); }

/// j - i of consecutive keys.
Value AttentionKernel::distances(const Row &row, Value firstKey) {
  Value keys = iota(sub(firstKey, row.own));
  return plan.classes == 1 ? keys : arith::MulIOp::create(b, keys, splatWord(constant(plan.classes)));
}

//===-- before tiles -------------------------------------------------------------------===//

void AttentionKernel::emitBiasTables() {
  for (auto [i, op] : llvm::enumerate(plan.biases))
    if (auto bucket = dyn_cast<attn::BucketBiasOp>(op))
      emitBuckets(bucket, i);
}

/// bias[head][distance] for distances -reach-16 .. reach+16, one row a member of the group.
void AttentionKernel::emitBuckets(attn::BucketBiasOp op, int64_t at) {
  int64_t reach = plan.lookups[at].reach, stride = tableStride(reach);
  Value lookup = tensors[plan.tensors.size() + at], table = tensor(op.getTable());
  Value columns = length(tensorType(op.getTable()).getSize(1));
  loop(constant(0), constant(plan.packed), 1, [&](Value member) {
    Value head = headOf(member);
    if (tensorType(op.getTable()).getSize(1).is(1))
      head = constant(0);
    Value target = this->at(floats(plan.atBias[at]), mul(member, stride), f32());
    loop(constant(0), constant(2 * reach + 33), 1, [&](Value n) {
      Value inside = min(max(sub(n, constant(16)), constant(0)), constant(2 * reach));
      Value bucket = arith::IndexCastOp::create(b, b.getIndexType(), load(b.getI32Type(), this->at(lookup, inside, b.getI32Type())));
      store(loadF32(table, add(mul(bucket, columns), head)), this->at(target, n, f32()));
    });
  });
}

//===-- before the rows of a tile ------------------------------------------------------===//

void AttentionKernel::emitBiasTile(const Tile &tile) {
  for (auto [i, op] : llvm::enumerate(plan.biases))
    if (auto dot = dyn_cast<attn::RelativeDotOp>(op))
      emitDots(dot, i, tile);
}

//===-- one vector of keys ---------------------------------------------------------------===//

Value AttentionKernel::biasAt(Value bias, const Row &row, Value firstKey, Value column) {
  Type real = vec(f32());
  Operation *op = bias.getDefiningOp();
  int64_t at = llvm::find(plan.biases, op) - plan.biases.begin();
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](attn::BiasAddOp op) {
        return addf(biasAt(op.getLhs(), row, firstKey, column), biasAt(op.getRhs(), row, firstKey, column));
      })
      .Case([&](attn::BiasScaleOp op) {
        return mulf(biasAt(op.getOperand(), row, firstKey, column), this->real(real, op.getFactor().convertToDouble()));
      })
      .Case([&](attn::AlibiOp op) {
        Value head = tensorType(op.getSlopes()).getCount().is(1) ? constant(0) : row.head;
        Value d = arith::SIToFPOp::create(b, real, distances(row, firstKey));
        if (op.getSymmetric())
          d = arith::NegFOp::create(b, Value(math::AbsFOp::create(b, d)));
        return mulf(splat(loadF32(tensor(op.getSlopes()), head)), d);
      })
      .Case([&](attn::BucketBiasOp op) {
        int64_t reach = plan.lookups[at].reach;
        Value member = plan.packed == 1 ? constant(0) : rem(add(firstRow, row.index), constant(plan.packed));
        Value distance = sub(firstKey, row.own);
        Value from = add(min(max(distance, constant(-reach - 16)), constant(reach + 1)), reach + 16);
        return loadVec(floats(plan.atBias[at]), add(mul(member, tableStride(reach)), from));
      })
      .Case([&](attn::RelativeDotOp op) {
        return relativeAt(op, at, row, column);
      })
      .Case([&](attn::DenseBiasOp op) {
        int64_t rank = tensorType(op.getTensor()).getRank();
        Values index;
        if (rank > 2)
          index.push_back(batch);
        if (rank > 3)
          index.push_back(row.head);
        index.push_back(row.row);
        index.push_back(keyRows(firstKey));
        return element(b, op.getTensor(), index);
      });
}
