//===- Conv.cpp - cross-correlation, channels last ------------------------===//
//
// What `model-conv-to-linear` leaves. One thread makes the channels of one place of the result; an element is one sum,
// over taps and then channels, ascending. Taps that fall into the padding are skipped: they would add zero. Lanes of a
// depthwise convolution are channels, and its weights are in panels of taps (WeightLayout.h); other small groups go
// element by element.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/Frame/Lowering.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using namespace heddle::model;
using Lower = heddle::loops::Lowering;

/// Whether the weight is in panels.
static bool isPacked(ConvOp op) {
  auto param = op.getWeight().getDefiningOp<ParamOp>();
  return param && param.getLayout() && param.getLayout()->getLayout().panel;
}

/// One row of channels at a time: y[.., c] = b[c] + Σ w[c, t] x[.. + t, c].
static LogicalResult lowerDepthwise(Lower &l, ConvOp op) {
  Location loc = op.getLoc();
  auto in = op.getInput().getType();
  ModelTensorType out = op.getType();
  int64_t last = out.getRank() - 2, channels = *out.getSize(last + 1).constant();
  int64_t panel = op.getWeight().getDefiningOp<ParamOp>().getLayout()->getLayout().panel,
          panels = (channels + panel - 1) / panel;
  if (panel % l.lanes)
    return op.emitOpError("has panels of ") << panel << " results, but vectors of " << l.lanes;
  SmallVector<Size> lead = out.getSizes(), outer = op.getWeight().getType().getSizes();
  lead.pop_back();
  ModelTensorType places = out.withSizes(lead), outerTaps = out.withSizes(ArrayRef(outer).slice(2, last - 1));
  int64_t taps = *outer.back().constant(), stride = op.getStride()[last - 1], dilation = op.getDilation()[last - 1];
  Value x = l.pointer(op.getInput()), w = l.pointer(op.getWeight()), y = l.allocatePointer(op->getResult(0));
  Value bias = op.getBias() ? l.pointer(op.getBias()) : Value();
  Values strides = l.strides(in);
  Value rowsOfTaps = l.count(outerTaps), depth = l.mul(rowsOfTaps, taps);
  l.parallelFor(loc, l.count(places), [&](Value place) {
    Values at = l.unravel(places, place);
    // The taps of the last axis that meet x, and where the first of all would.
    Value begin = l.sub(l.mul(at[last], stride), l.constant(op.getPadding()[2 * (last - 1)]));
    auto tapsBefore = [&](Value end) {
      return l.div(l.add(l.max(l.sub(end, begin), l.constant(0)), dilation - 1), l.constant(dilation));
    };
    Value from = tapsBefore(l.constant(0)), to = l.min(tapsBefore(l.size(in.getSize(last))), l.constant(taps));
    Value base = l.add({l.mul(at[0], strides[0]), l.mul(begin, strides[last])});
    Value row = l.at(y, l.mul(place, channels), l.f32());
    l.Code::loop(l.constant(0), l.constant(panels), 1, [&](Value p) {
      Value column = l.mul(p, panel);
      Values columns, masks, sums;
      for (int64_t j = 0; j < panel; j += l.lanes) {
        columns.push_back(l.add(column, j));
        masks.push_back(channels % panel ? l.firstLanes(l.sub(l.constant(channels), columns.back())) : Value());
        sums.push_back(bias ? l.loadLanes(l.f32(), l.at(bias, columns.back(), l.f32()), masks.back())
                            : l.real(l.vec(l.f32()), 0.0));
      }
      sums = l.Code::loop(l.constant(0), rowsOfTaps, 1, sums, [&](Value tapRow, ValueRange rowSums) {
        Values t = l.unravel(outerTaps, tapRow);
        Value source = base, inside;
        for (int64_t i = 1; i < last; ++i) {
          Value tapped = l.add({l.mul(at[i], op.getStride()[i - 1]), l.mul(t[i - 1], op.getDilation()[i - 1])});
          Value here = l.sub(tapped, l.constant(op.getPadding()[2 * (i - 1)]));
          Value fits = arith::CmpIOp::create(l.b, arith::CmpIPredicate::ult, here, l.size(in.getSize(i)));
          inside = inside ? Value(arith::AndIOp::create(l.b, inside, fits)) : fits;
          source = l.add(source, l.mul(here, strides[i]));
        }
        Value end = inside ? l.select(inside, to, l.constant(0)) : to;
        return l.Code::loop(from, end, 1, Values(rowSums.begin(), rowSums.end()), [&](Value tap, ValueRange tapSums) {
          Value taken = l.add(l.mul(tapRow, taps), tap), line = l.mul(l.add(l.mul(p, depth), taken), panel);
          Value first = l.add(source, l.mul(tap, l.mul(strides[last], dilation)));
          Values next;
          for (auto [j, sum] : llvm::enumerate(tapSums)) {
            Value a = l.loadLanes(l.f32(), l.at(x, l.add(first, columns[j]), l.f32()), masks[j]);
            Value b = l.loadLanes(l.f32(), l.at(w, l.add(line, int64_t(j) * l.lanes), l.f32()));
            next.push_back(l.fma(a, b, sum));
          }
          return next;
        });
      });
      for (auto [j, sum] : llvm::enumerate(sums))
        l.storeLanes(sum, l.at(row, columns[j], l.f32()), masks[j]);
    });
  });
  l.barrier(loc);
  return success();
}

LogicalResult heddle::loops::lowerConv(Lower &l, ConvOp op) {
  if (isPacked(op))
    return lowerDepthwise(l, op);
  Location loc = op.getLoc();
  auto in = op.getInput().getType(), kernel = op.getWeight().getType();
  ModelTensorType out = op.getType();
  int64_t spatial = out.getRank() - 2;
  Value x = l.pointer(op.getInput()), w = l.pointer(op.getWeight()), y = l.allocatePointer(op->getResult(0));
  Value bias = op.getBias() ? l.pointer(op.getBias()) : Value();
  Values inStrides = l.strides(in);
  Value results = l.size(out.getSize(spatial + 1)), groups = l.constant(op.getGroups());
  Value width = l.size(kernel.getSize(1)), perGroup = l.div(results, groups);
  Value taps = l.count(kernel, 2, kernel.getRank());
  SmallVector<Size> lead = out.getSizes();
  lead.pop_back();
  ModelTensorType places = out.withSizes(lead);
  SmallVector<Size> tapSizes = llvm::to_vector(ArrayRef(kernel.getSizes()).drop_front(2));
  ModelTensorType tapType = kernel.withSizes(tapSizes);

  l.parallelFor(loc, l.count(places), [&](Value place) {
    Values at = l.unravel(places, place);
    Value base = l.mul(at[0], inStrides[0]), row = l.at(y, l.mul(place, results), l.f32());
    l.elements(results, [&](Value m) {
      Value filter = l.mul(m, l.mul(width, taps)), channel = l.mul(l.div(m, perGroup), width);
      Value first = bias ? l.loadF32(bias, m) : l.real(0.0);
      Value sum = l.Code::loop(l.constant(0), taps, 1, first, [&](Value tap, ValueRange sum) {
        Values t = l.unravel(tapType, tap);
        Value from = base, inside;
        for (int64_t i = 0; i < spatial; ++i) {
          Value p = l.sub(l.add({l.mul(at[1 + i], op.getStride()[i]), l.mul(t[i], op.getDilation()[i])}),
                          l.constant(op.getPadding()[2 * i]));
          Value here = arith::CmpIOp::create(l.b, arith::CmpIPredicate::ult, p, l.size(in.getSize(1 + i)));
          inside = inside ? Value(arith::AndIOp::create(l.b, inside, here)) : here;
          from = l.add(from, l.mul(p, inStrides[1 + i]));
        }
        // Outside there are no channels to add.
        Value channels = l.select(inside, width, l.constant(0));
        return l.Code::loop(l.constant(0), channels, 1, sum, [&](Value c, ValueRange acc) {
          Value a = l.loadF32(x, l.add(from, l.add(channel, c)));
          Value b = l.loadF32(w, l.add(filter, l.add(l.mul(c, taps), tap)));
          return Values{l.fma(a, b, acc[0])};
        });
      })[0];
      l.store(sum, l.at(row, m, l.f32()));
    });
  });
  l.barrier(loc);
  return success();
}
