//===- LowerOp.cpp - which function lowers which op -----------------------===//
//
// The dispatch from an op to the function that lowers it, the views that need no code, and the cost of each op.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/Frame/Lowering.h"
#include "compiler/Conversion/Lowering/Frame/Support.h"
#include "dialects/Model/Transforms/Views.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using namespace heddle::model;
using Lower = heddle::loops::Lowering;

/// Whether `op` is one phase (at most one of several that counts), so that what it takes is known beforehand. Linears,
/// attention and rows into a cache note their phases themselves; a repeat or a default is what is inside.
static bool isOnePhase(Operation *op) {
  return !isa<ParamOp, ConstantOp, attn::AlibiSlopesOp, arith::ConstantOp, RepeatOp, DefaultOp, LinearOp, attn::SdpaOp>(
             op) &&
         !attn::cacheOf(op);
}

/// Lowers one op of stage `buffers`: nothing for masks and biases, another address for a view (a reshape, a slice of
/// outer rows), code for all else. Linears, attention and writes into caches are the target's own (Programs).
LogicalResult heddle::loops::lowerOp(Lower &l, Operation *op) {
  if (failed(checkSupport(op)))
    return failure();
  // Masks and biases are values that attention asks; they own no memory.
  for (Type t : op->getResultTypes())
    if (isa<mask::MaskType, attn::BiasType>(t))
      return success();
  if (std::optional<Size> offset = viewOffset(op)) {
    auto type = cast<ModelTensorType>(op->getOperand(0).getType());
    l.setPointer(op->getResult(0), l.at({l.pointer(op->getOperand(0)), l.size(*offset)}, type.getElementType()));
    return success();
  }
  if (isOnePhase(op))
    l.noteCost([&] { return costOf(op); });
  if (l.machine.programs.other && l.machine.programs.other(l, op))
    return success();
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](RepeatOp o) { return lowerRepeat(l, o); })
      .Case([&](DefaultOp o) { return lowerDefault(l, o); })
      .Case<ParamOp, ConstantOp, SizeOp, RangeOp, attn::AlibiSlopesOp>([&](Operation *o) { return lowerLeaf(l, o); })
      .Case<AppendOp, LoadOp, StoreOp>([&](Operation *o) { return lowerState(l, o); })
      .Case<MapOp, UnaryOp, BinaryOp, CompareOp, SelectOp, CastOp, BroadcastOp>(
          [&](Operation *o) { return lowerMap(l, o); })
      .Case<SliceOp, RearrangeOp, ConcatOp, PadOp, WindowsOp>([&](Operation *o) { return lowerMove(l, o); })
      .Case<LiveRowsOp, PackRowsOp, UnpackRowsOp>([&](Operation *o) { return lowerRows(l, o); })
      .Case([&](GatherOp o) { return lowerGather(l, o); })
      .Case([&](EmbeddingOp o) { return lowerEmbedding(l, o); })
      .Case([&](LinearOp o) { return l.machine.programs.linear(l, o); })
      .Case([&](MatmulOp o) { return lowerMatmul(l, o); })
      .Case([&](ConvOp o) { return lowerConv(l, o); })
      .Case<LayerNormOp, RmsNormOp, GroupNormOp, BatchNormOp, L2NormOp>([&](Operation *o) { return lowerNorm(l, o); })
      .Case([&](ReduceOp o) { return lowerReduce(l, o); })
      .Case([&](CumsumOp o) { return lowerCumsum(l, o); })
      .Case([&](SoftmaxOp o) { return lowerSoftmax(l, o); })
      .Case([&](TopKOp o) { return lowerTopK(l, o); })
      .Case<SinusoidalOp, RotaryOp>([&](Operation *o) { return lowerPosition(l, o); })
      .Case([&](InterpolateOp o) { return lowerInterpolate(l, o); })
      .Case<mask::KeyTableOp, mask::RowCountsOp, mask::LabelTableOp, mask::BlockRunsOp, mask::DenseTableOp>(
          [&](Operation *o) { return lowerMaskTable(l, o); })
      .Case([&](attn::SdpaOp o) { return l.machine.programs.attention(l, o); })
      .Case([&](arith::ConstantOp o) { // an index in a parameter's name
        l.setPointer(o.getResult(), l.constant(cast<IntegerAttr>(o.getValue()).getInt()));
        return success();
      })
      .Default([](Operation *o) { return o->emitOpError("has no lowering to loops"); });
}
