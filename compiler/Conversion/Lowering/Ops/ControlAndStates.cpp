//===- ControlAndStates.cpp - leaves, repeats, defaults, states -----------===//
//
// Leaves of a module (parameters, constants, lengths, ranges), repeats of layers, defaults of inputs, and states that
// outlive a call. What they have in common is that they place and copy rows; none of them computes.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/Frame/Lowering.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using namespace heddle::model;
using Lower = heddle::loops::Lowering;

//===-- leaves -----------------------------------------------------------------------===//

/// The elements as they are in memory: f32 for reals, bytes for booleans.
static DenseElementsAttr inMemory(ElementsAttr value, ModelTensorType type) {
  MLIRContext *ctx = value.getContext();
  auto shape = cast<ShapedType>(value.getType()).getShape();
  if (type.getElementType().isF32()) {
    SmallVector<float> out;
    for (APFloat v : value.getValues<APFloat>()) {
      bool lost = false;
      v.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &lost);
      out.push_back(v.convertToFloat());
    }
    return DenseElementsAttr::get(RankedTensorType::get(shape, Float32Type::get(ctx)), ArrayRef<float>(out));
  }
  if (type.getElementType().isInteger(1)) {
    SmallVector<int8_t> out;
    for (APInt v : value.getValues<APInt>())
      out.push_back(v.getBoolValue());
    return DenseElementsAttr::get(RankedTensorType::get(shape, IntegerType::get(ctx, 8)), ArrayRef<int8_t>(out));
  }
  SmallVector<int64_t> out;
  for (APInt v : value.getValues<APInt>())
    out.push_back(v.getSExtValue());
  return DenseElementsAttr::get(RankedTensorType::get(shape, IntegerType::get(ctx, 64)), ArrayRef<int64_t>(out));
}

/// A parameter is an address in the blob of weights: its offset, and in a repeat a stride for each index. No code
/// beyond that.
static LogicalResult lowerParam(Lower &l, ParamOp op) {
  Value at = l.constant(*op.getOffset());
  for (auto [index, stride] : llvm::zip_equal(op.getIndices(), *op.getStrides())) {
    Value i = l.index(index);
    at = l.add(at, l.mul(i, stride));
  }
  l.setPointer(op.getResult(), l.at(l.weights, at, l.b.getI8Type()));
  return success();
}

/// Ops without tensors as operands: parameters, constants and slopes are addresses of data; `model.size` and
/// `model.range` are written when the model runs.
LogicalResult heddle::loops::lowerLeaf(Lower &l, Operation *op) {
  if (auto param = dyn_cast<ParamOp>(op))
    return lowerParam(l, param);
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    l.setPointer(constant.getResult(), l.constantArray(inMemory(constant.getValue(), constant.getType())));
    return success();
  }
  if (auto slopes = dyn_cast<attn::AlibiSlopesOp>(op)) {
    std::vector<double> m = attn::alibiSlopes(slopes.getHeads());
    SmallVector<float> values(m.begin(), m.end());
    auto type = RankedTensorType::get({int64_t(values.size())}, l.f32());
    l.setPointer(slopes.getResult(), l.constantArray(DenseElementsAttr::get(type, ArrayRef<float>(values))));
    return success();
  }
  Type i64 = l.b.getI64Type();
  Value to = l.allocatePointer(op->getResult(0));
  if (auto size = dyn_cast<SizeOp>(op)) {
    l.forEach(op->getLoc(), l.number(1), [&](Value) { l.store(l.toI64(l.size(size.getSize())), to); });
  } else {
    auto range = cast<RangeOp>(op);
    Value from = l.size(range.getFrom());
    l.forEach(op->getLoc(), l.size(range.getType().getSize(0)),
              [&](Value i) { l.store({l.toI64(l.add(from, i)), l.at(to, i, i64)}); });
  }
  l.barrier(op->getLoc());
  return success();
}

//===-- repetition -------------------------------------------------------------------===//

/// A loop over iterations that all threads run together. A carried value has one place, that of the result: it is
/// copied in before the loop and the iteration's yield is copied back, except where the plan gave both one place
/// (`copiesInto`, `copiesBack`). A collected value's row i is copied from iteration i.
LogicalResult heddle::loops::lowerRepeat(Lower &l, RepeatOp op) {
  Location loc = op.getLoc();
  unsigned carried = op.getNumCarried();
  ArrayRef<bool> copyIn = copiesInto(op), copyOut = copiesBack(op);
  auto elements = [](Value v) { return cast<ModelTensorType>(v.getType()); };
  auto spendCopy = [&](Value v) {
    l.noteCost([&] { return Cost{"repeat", 0, false, bytesWhereItLies(v), bytesWhereItLies(v)}; });
  };

  bool copied = false;
  for (unsigned i = 0; i < carried; ++i) {
    Value place = l.allocatePointer(op->getResult(i));
    l.setPointer(op.getCarriedArgs()[i], place);
    if (copyIn[i]) {
      Value from = op.getCarried()[i];
      l.copy(l.pointer(from), place, elements(from).getElementType(), l.size(elements(from).getCount()));
      spendCopy(from);
      copied = true;
    }
  }
  for (unsigned i = carried; i < op->getNumResults(); ++i)
    (void)l.allocatePointer(op->getResult(i));
  if (copied)
    l.barrier(loc);

  auto loop = scf::ForOp::create(l.b, l.constant(0), l.constant(op.getCount()), l.constant(1));
  OpBuilder::InsertionGuard guard(l.b);
  l.b.setInsertionPoint(loop.getBody()->getTerminator());
  l.setPointer(op.getIndex(), loop.getInductionVar());
  llvm::SaveAndRestore turns(l.repeats, l.repeats * int64_t(op.getCount()));
  if (failed(l.lowerBlock(op.getBody().front())))
    return failure();

  l.b.setLoc(loc);
  copied = false;
  YieldOp yield = op.getYield();
  for (unsigned i = carried; i < op->getNumResults(); ++i) {
    Value one = yield.getOperand(i);
    Type element = elements(one).getElementType();
    Length n = l.size(elements(one).getCount());
    Value row = l.at({l.pointer(op->getResult(i)), l.mul(loop.getInductionVar(), n)}, element);
    l.copy(l.pointer(one), row, element, n);
    spendCopy(one);
    copied = true;
  }
  // What is collected may be an old carried value, so those are replaced after a barrier.
  if (copied)
    l.barrier(loc);
  copied = false;
  for (unsigned i = 0; i < carried; ++i)
    if (copyOut[i]) {
      Value from = yield.getOperand(i);
      l.copy(l.pointer(from), l.pointer(op->getResult(i)), elements(from).getElementType(),
             l.size(elements(from).getCount()));
      spendCopy(from);
      copied = true;
    }
  if (copied)
    l.barrier(loc);
  return success();
}

/// An input that may be left out: the runtime passes a null pointer then, and its region's value is computed into a
/// place of its own, broadcast to the input's shape. The result is whichever pointer there is.
LogicalResult heddle::loops::lowerDefault(Lower &l, DefaultOp op) {
  Location loc = op.getLoc();
  Value given = l.pointer(op.getInput());
  Value place = l.allocatePointer(op->getResult(0));
  Value null = LLVM::ZeroOp::create(l.b, l.Code::pointer());
  Value absent = LLVM::ICmpOp::create(l.b, LLVM::ICmpPredicate::eq, given, null);
  LogicalResult good = success();
  l.when(absent, [&] {
    good = l.lowerBlock(op.getBody().front());
    if (failed(good))
      return;
    l.b.setLoc(loc);
    // The value broadcasts over the missing leading axes and axes of 1.
    Value value = op.getBody().front().getTerminator()->getOperand(0);
    auto from = cast<ModelTensorType>(value.getType());
    ModelTensorType to = op.getType();
    Values strides = l.strides(from);
    Type element = to.getElementType();
    l.forEach(loc, l.size(to.getCount()), [&](Value i) {
      Values at = l.unravel(to, i);
      Value index = l.constant(0);
      for (int64_t k = 0; k < from.getRank(); ++k)
        index = l.add(index, l.mul(at[to.getRank() - from.getRank() + k], strides[k]));
      l.store({l.load(element, l.at(l.pointer(value), index, element)), l.at(place, i, element)});
    });
    l.noteCost([&] { return Cost{"default", 0, false, bytesWhereItLies(value), bytesWhereItLies(op.getResult())}; });
    l.barrier(loc);
  });
  if (failed(good))
    return failure();
  l.setPointer(op.getResult(), LLVM::SelectOp::create(l.b, absent, place, given));
  return success();
}

//===-- states -----------------------------------------------------------------------===//

/// The address of the part of a state that the indices choose along its leading axes.
static Value statePart(Lower &l, Value state, OperandRange indices) {
  auto type = cast<StateType>(state.getType());
  Size inner = 1;
  for (int64_t i = indices.size(); i < type.getRank(); ++i)
    inner = inner * type.getSize(i);
  Value part = l.constant(0);
  for (auto [i, index] : llvm::enumerate(indices)) {
    Value at = l.index(index);
    part = l.add(i ? l.mul(part, l.size(type.getSize(i))) : l.constant(0), at);
  }
  return l.at({l.pointer(state), l.mul(part, l.size(inner))}, type.getElementType());
}

/// Copies new rows after the past ones of a state [.., outer, capacity, inner], then all rows, past and new, to the
/// result [outer, total, inner], which is dense: the unused capacity is not part of it. States with a cache layout are
/// read in place instead (lowerState).
static LogicalResult lowerAppend(Lower &l, AppendOp op) {
  if (op.getSlots())
    return op.emitOpError("has slots, so its state is a cache that attention reads");
  Location loc = op.getLoc();
  auto type = cast<StateType>(op.getState().getType());
  ModelTensorType rows = op.getRows().getType(), all = op.getType();
  Type element = rows.getElementType();
  int64_t axis = op.getAxis(), skipped = op.getIndices().size();
  Value part = statePart(l, op.getState(), op.getIndices());
  Length outer = l.count(rows, 0, axis), inner = l.count(rows, axis + 1, rows.getRank());
  Length capacity = l.size(type.getSize(skipped + axis)), fresh = l.size(rows.getSize(axis));
  Length total = l.size(all.getSize(axis)), past = l.sub(total, fresh);
  Value from = l.pointer(op.getRows()), to = l.allocatePointer(op->getResult(0));
  auto copyRows = [&](Value source, Value target, const Length &n,
                      llvm::function_ref<std::pair<Value, Value>(Value)> rowsOf) {
    l.parallelFor(loc, l.mul(outer, n), [&](Value i) {
      auto [a, c] = rowsOf(i);
      Value x = l.at(source, l.mul(a, inner), element), y = l.at(target, l.mul(c, inner), element);
      l.vectors(inner, [&](Value j, Value mask) {
        l.storeLanes({l.loadLanes(element, l.at(x, j, element), mask), l.at(y, j, element)}, mask);
      });
    });
    l.barrier(loc);
  };
  copyRows(from, part, fresh, [&](Value i) {
    Value row = l.add(past, l.rem(i, fresh));
    return std::make_pair(i, l.add(l.mul(l.div(i, fresh), capacity), row));
  });
  copyRows(part, to, total,
           [&](Value i) { return std::make_pair(l.add({l.mul(l.div(i, total), capacity), l.rem(i, total)}), i); });
  return success();
}

/// append, load and store. Those of a cache that attention reads are written by the target (Programs::cacheWrite) and
/// loaded by attention itself.
LogicalResult heddle::loops::lowerState(Lower &l, Operation *op) {
  if (attn::cacheOf(op)) // what is loaded from a cache is the cache itself
    return isa<LoadOp>(op) ? success() : l.machine.programs.cacheWrite(l, op);
  if (auto append = dyn_cast<AppendOp>(op))
    return lowerAppend(l, append);
  if (auto read = dyn_cast<LoadOp>(op)) {
    Value part = statePart(l, read.getState(), read.getIndices());
    Value target = l.allocatePointer(op->getResult(0));
    l.copy(part, target, read.getType().getElementType(), l.size(read.getType().getCount()));
  } else {
    auto write = cast<StoreOp>(op);
    Value part = statePart(l, write.getState(), write.getIndices());
    ModelTensorType type = write.getValue().getType();
    l.copy(l.pointer(write.getValue()), part, type.getElementType(), l.size(type.getCount()));
  }
  l.barrier(op->getLoc());
  return success();
}
