//===- Conv.cpp - cross-correlation, channels last ------------------------===//
//
// One thread makes the channels of one place of the result; an element is one sum, over
// taps and then channels, ascending. Taps that fall into the padding are skipped: they
// would add zero.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ToLoops/Lowering.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using namespace heddle::model;
using Lower = heddle::loops::Lowering;

LogicalResult heddle::loops::lowerConv(Lower &l, ConvOp op) {
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
    l.Code::loop(l.constant(0), results, 1, [&](Value m) {
      Value filter = l.mul(m, l.mul(width, taps)), channel = l.mul(l.div(m, perGroup), width);
      Value first = bias ? l.loadF32(bias, m) : l.real(0.0);
      Value sum = l.Code::loop(l.constant(0), taps, 1, first, [&](Value tap, ValueRange sum) {
        Values t = l.unravel(tapType, tap);
        Value from = base, inside;
        for (int64_t i = 0; i < spatial; ++i) {
          Value p = l.sub(l.add(l.mul(at[1 + i], op.getStride()[i]), l.mul(t[i], op.getDilation()[i])),
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
