//===- DataMovement.cpp - elements to other places ------------------------===//
//
// slice, rearrange, windows, concat and pad copy boxes: each element of a box of the result is an element of an
// operand, found by the strides of the axes. The innermost axis is copied in vectors if it is contiguous on both sides.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/Frame/Lowering.h"
#include "dialects/Model/Transforms/Views.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using namespace heddle::model;
using Lower = heddle::loops::Lowering;

namespace {
/// One axis of a box: its length, and the strides in the operand and in the result, in elements.
struct Axis {
  Size length, from, to;
};
} // namespace

/// Joins neighbouring axes that are contiguous on both sides, and drops axes of length 1.
/// Outer axes come first.
static SmallVector<Axis> simplify(ArrayRef<Axis> axes) {
  SmallVector<Axis> out;
  for (const Axis &a : axes) {
    if (a.length.is(1))
      continue;
    if (!out.empty() && out.back().from == a.from * a.length && out.back().to == a.to * a.length)
      out.back() = {out.back().length * a.length, a.from, a.to};
    else
      out.push_back(a);
  }
  return out;
}

/// Copies a box from address `from` to address `to`. Threads share the outer axes, and the innermost one in blocks of
/// 4096 elements. That one is copied in vectors if it is contiguous on both sides, or a single element that fills the
/// result (stride 0). The caller emits the barrier.
static void moveBox(Lower &l, Location loc, Value from, Value to, Type element, ArrayRef<Axis> given) {
  SmallVector<Axis> axes = simplify(given);
  Axis inner = axes.empty() ? Axis{1, 1, 1} : axes.pop_back_val();
  Size outer = 1;
  for (const Axis &a : axes)
    outer = outer * a.length;
  Length row = l.size(inner.length), stepFrom = l.size(inner.from), stepTo = l.size(inner.to);
  bool contiguous = inner.from.is(1) && inner.to.is(1), spread = inner.from.is(0) && inner.to.is(1);
  constexpr int64_t block = 4096;
  Length blocks = l.parts(row, block);
  l.parallelFor(loc, l.mul(l.size(outer), blocks), [&](Value item) {
    Value i = l.div(item, blocks), begin = l.mul(l.rem(item, blocks), block);
    Value source = l.mul(begin, stepFrom), target = l.mul(begin, stepTo);
    for (int64_t a = int64_t(axes.size()) - 1; a >= 0; --a) {
      Value n = l.size(axes[a].length), at = a ? l.rem(i, n) : i;
      source = l.add(source, l.mul(at, l.size(axes[a].from)));
      target = l.add(target, l.mul(at, l.size(axes[a].to)));
      if (a)
        i = l.div(i, n);
    }
    Value x = l.at(from, source, element), y = l.at(to, target, element);
    Value n = l.min(l.sub(row, begin), l.constant(block));
    if (contiguous || spread) {
      l.vectors(n, [&](Value j, Value mask) {
        Value v = spread ? l.splat(l.load(element, x)) : l.loadLanes(element, l.at(x, j, element), mask);
        l.storeLanes(v, l.at(y, j, element), mask);
      });
      return;
    }
    l.elements(n, [&](Value j) {
      l.store({l.load(element, l.at(x, l.mul(j, stepFrom), element)), l.at(y, l.mul(j, stepTo), element)});
    });
  });
}

/// Row-major strides of lengths.
static SmallVector<Size> stridesOf(ArrayRef<Size> sizes) {
  SmallVector<Size> out(sizes.size(), Size(1));
  for (int64_t i = int64_t(sizes.size()) - 2; i >= 0; --i)
    out[i] = out[i + 1] * sizes[i + 1];
  return out;
}

/// Copies `value`, broadcast to `lengths`, to offset `at` of a result with `strides`.
static void place(Lower &l, Location loc, Value value, ArrayRef<Size> lengths, ArrayRef<Size> strides, Value to,
                  Size at) {
  auto type = cast<ModelTensorType>(value.getType());
  SmallVector<Size> own = stridesOf(type.getSizes());
  int64_t shift = int64_t(lengths.size()) - type.getRank();
  SmallVector<Axis> axes;
  for (int64_t i = 0; i < int64_t(lengths.size()); ++i) {
    bool moves = i >= shift && !type.getSize(i - shift).is(1);
    axes.push_back({lengths[i], moves ? own[i - shift] : Size(0), strides[i]});
  }
  moveBox(l, loc, l.pointer(value), l.at(to, l.size(at), type.getElementType()), type.getElementType(), axes);
}

/// Each operand is a box of the result, after those before it along the axis; operands broadcast along the others.
static void lowerConcat(Lower &l, ConcatOp op, Value to) {
  SmallVector<Size> lengths = op.getType().getSizes(), strides = stridesOf(lengths);
  int64_t axis = op.getAxis(), rank = lengths.size();
  Size at = 0;
  for (Value v : op.getOperands()) {
    auto type = cast<ModelTensorType>(v.getType());
    int64_t own = axis - (rank - type.getRank());
    SmallVector<Size> box = lengths;
    box[axis] = own < 0 ? Size(1) : type.getSize(own);
    place(l, op.getLoc(), v, box, strides, to, at);
    at = at + box[axis] * strides[axis];
  }
}

/// First the fill: threads share the rows of the padded axis and skip those of the operand. Then the operand's box.
static void lowerPad(Lower &l, PadOp op, Value to) {
  ModelTensorType from = op.getOperand().getType(), type = op.getType();
  Type element = type.getElementType();
  int64_t axis = op.getAxis();
  SmallVector<Size> strides = stridesOf(type.getSizes());
  Size before = *Size::parse(op.getBefore());
  Length inner = l.size(strides[axis]), length = l.size(type.getSize(axis));
  // The fill, row by row of the padded axis; then the operand.
  Value lo = l.size(before), hi = l.size(before + from.getSize(axis));
  double value = op.getValue().convertToDouble();
  l.parallelFor(op.getLoc(), l.mul(l.count(type, 0, axis), length), [&](Value i) {
    Value at = l.rem(i, length);
    Value notBefore = l.less(l.sub(lo, l.constant(1)), at), before = l.less(at, hi);
    Value inside = arith::AndIOp::create(l.b, notBefore, before);
    l.when(
        inside, [] {},
        [&] {
          Value fill = l.real(l.vec(element), value), row = l.at(to, l.mul(i, inner), element);
          l.vectors(inner, [&](Value j, Value mask) { l.storeLanes(fill, l.at(row, j, element), mask); });
        });
  });
  place(l, op.getLoc(), op.getOperand(), from.getSizes(), strides, to, before * strides[axis]);
}

/// Describes each op as one box: its axes with their strides in the operand and in the result, and the operand's first
/// element. A slice begins further on; windows (im2col) read every place of the input once a tap, so that strides and
/// dilations multiply the operand's; a rearrange has an axis for each elementary name of its pattern.
LogicalResult heddle::loops::lowerMove(Lower &l, Operation *op) {
  Location loc = op->getLoc();
  Value to = l.allocatePointer(op->getResult(0));
  auto type = cast<ModelTensorType>(op->getResult(0).getType());
  if (auto concat = dyn_cast<ConcatOp>(op)) {
    lowerConcat(l, concat, to);
  } else if (auto pad = dyn_cast<PadOp>(op)) {
    lowerPad(l, pad, to);
  } else {
    auto from = cast<ModelTensorType>(op->getOperand(0).getType());
    SmallVector<Size> source = stridesOf(from.getSizes()), target = stridesOf(type.getSizes());
    SmallVector<Axis> axes;
    Size offset = 0;
    if (auto slice = dyn_cast<SliceOp>(op)) {
      offset = *Size::parse(slice.getFrom()) * source[slice.getAxis()];
      for (int64_t i = 0; i < type.getRank(); ++i)
        axes.push_back({type.getSize(i), source[i], target[i]});
    } else if (auto windows = dyn_cast<WindowsOp>(op)) {
      // [batch, l..., t..., channel], whose last axes are one of the result.
      int64_t axesBetween = windows.getSize().size();
      axes.push_back({type.getSize(0), source.front(), target.front()});
      for (int64_t i = 0; i < axesBetween; ++i)
        axes.push_back({type.getSize(1 + i), source[1 + i] * Size(windows.getStride()[i]), target[1 + i]});
      Size inside = type.getSize(axesBetween + 1);
      for (int64_t i = 0; i < axesBetween; ++i) {
        inside = *inside.exactDiv(Size(windows.getSize()[i]));
        axes.push_back({windows.getSize()[i], source[1 + i] * Size(windows.getDilation()[i]), inside});
      }
      axes.push_back({from.getSize(axesBetween + 1), 1, 1});
    } else {
      Rearrangement names = rearrangement(cast<RearrangeOp>(op));
      std::map<std::string, Size> strides;
      Size stride = 1;
      for (const std::string &name : llvm::reverse(names.from)) {
        strides[name] = stride;
        stride = stride * names.sizes[name];
      }
      stride = 1;
      for (const std::string &name : llvm::reverse(names.to)) {
        axes.insert(axes.begin(), {names.sizes[name], strides[name], stride});
        stride = stride * names.sizes[name];
      }
    }
    Value x = l.at({l.pointer(op->getOperand(0)), l.size(offset)}, type.getElementType());
    moveBox(l, loc, x, to, type.getElementType(), axes);
  }
  l.barrier(loc);
  return success();
}
