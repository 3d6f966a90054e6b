//===- Matmul.cpp - products of two values --------------------------------===//
//
// The same tile as a linear's (k ascending, one accumulator an element),
// but both sides are row-major tensors of lengths known at run time: columns past the end are
// masked. One kernel serves every shape.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/Facts/Tiles.h"
#include "compiler/Conversion/Lowering/Frame/Lowering.h"
#include "compiler/Plan/Target.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using namespace heddle::model;
using Lower = heddle::loops::Lowering;

/// Rows [row, row + mr) x columns [column, column + width) of y = x w.
static void emitTile(Code &c, int64_t width, Value x, Value w, Value y, Value depth, Value columns, Value row,
                     Value column, int64_t mr) {
  Type f32 = c.f32();
  int64_t nv = width / c.lanes;
  Values at, masks;
  for (int64_t j = 0; j < nv; ++j) {
    at.push_back(c.add(column, j * c.lanes));
    masks.push_back(c.firstLanes(c.sub(columns, at[j])));
  }
  Values rows;
  for (int64_t i = 0; i < mr; ++i)
    rows.push_back(c.at(x, c.mul(c.add(row, i), depth), f32));
  Value zero = c.real(c.vec(f32), 0.0);
  Values sums = c.loop(c.constant(0), depth, 1, Values(mr * nv, zero), [&](Value k, ValueRange carried) {
    Values acc(carried.begin(), carried.end()), b;
    Value line = c.at(w, c.mul(k, columns), f32);
    for (int64_t j = 0; j < nv; ++j)
      b.push_back(c.loadLanes(f32, c.at(line, at[j], f32), masks[j]));
    for (int64_t i = 0; i < mr; ++i) {
      Value a = c.splat(c.load(f32, c.at(rows[i], k, f32)));
      for (int64_t j = 0; j < nv; ++j)
        acc[i * nv + j] = c.fma(a, b[j], acc[i * nv + j]);
    }
    return acc;
  });
  for (int64_t i = 0; i < mr; ++i) {
    Value out = c.at(y, c.mul(c.add(row, i), columns), f32);
    for (int64_t j = 0; j < nv; ++j)
      c.storeLanes(sums[i * nv + j], c.at(out, at[j], f32), masks[j]);
  }
}

static func::FuncOp matmulKernel(Lower &l, MatmulOp op) {
  Location loc = op.getLoc();
  ScheduleAttr tiles = scheduleOf(op);
  int64_t width = tiles.getPanel(), tall = tiles.getRows();
  std::string name = "heddle_matmul";
  if (tiles != plan::targetOf(op)->tilesOf(op))
    llvm::raw_string_ostream(name) << "_" << width << "_" << tall << "_" << tiles.getBlock();
  Type ptr = l.Code::pointer(), index = l.b.getIndexType();
  // x, w, y, rows, depth, columns, first row, first column
  auto type = l.b.getFunctionType({ptr, ptr, ptr, index, index, index, index, index}, {});
  return l.kernel(loc, name, type, [&](Code &c, Block *block) {
    Value x = block->getArgument(0), w = block->getArgument(1), y = block->getArgument(2), rows = block->getArgument(3);
    Value depth = block->getArgument(4), columns = block->getArgument(5), begin = block->getArgument(6),
          column = block->getArgument(7);
    Value end = c.min(c.add(begin, tiles.getBlock()), rows);
    Value whole = c.add(begin, c.mul(c.div(c.sub(end, begin), c.constant(tall)), tall));
    c.loop(begin, whole, tall, [&](Value row) { emitTile(c, width, x, w, y, depth, columns, row, column, tall); });
    Value at = whole;
    for (int64_t mr = lowerTile(tiles, tall); mr; mr = lowerTile(tiles, mr)) {
      Value fits = c.less(c.add(at, mr - 1), end);
      c.when(fits, [&] { emitTile(c, width, x, w, y, depth, columns, at, column, mr); });
      at = c.select(fits, c.add(at, mr), at);
    }
  });
}

LogicalResult heddle::loops::lowerMatmul(Lower &l, MatmulOp op) {
  Location loc = op.getLoc();
  ModelTensorType xt = op.getLhs().getType(), wt = op.getRhs().getType(), yt = op.getType();
  int64_t lead = yt.getRank() - 2;
  Length rows = l.size(xt.getSize(xt.getRank() - 2)), depth = l.size(xt.getSize(xt.getRank() - 1));
  Length columns = l.size(wt.getSize(wt.getRank() - 1));
  int64_t width = scheduleOf(op).getPanel(), block = scheduleOf(op).getBlock();
  if (width % l.lanes)
    return op.emitOpError("has tiles of ") << width << " columns, but vectors of " << l.lanes;
  func::FuncOp kernel = matmulKernel(l, op);
  Value x = l.pointer(op.getLhs()), w = l.pointer(op.getRhs()), y = l.allocatePointer(op->getResult(0));
  ModelTensorType outer = yt.withSizes(ArrayRef(yt.getSizes()).take_front(lead));
  Length panels = l.parts(columns, width), blocks = l.parts(rows, block), perBatch = l.mul(panels, blocks);
  // The matrix of an operand that belongs to a leading index of the result.
  auto matrixOf = [&](ModelTensorType t, ArrayRef<Value> at) {
    Values strides = l.strides(t);
    Value offset = l.constant(0);
    for (int64_t i = 0; i < t.getRank() - 2; ++i)
      offset = l.add(offset, l.mul(at[lead - (t.getRank() - 2) + i], strides[i]));
    return offset;
  };
  l.parallelFor(loc, l.mul(l.size(outer.getCount()), perBatch), [&](Value item) {
    Value batch = l.div(item, perBatch), rest = l.rem(item, perBatch);
    Values at = l.unravel(outer, batch);
    Value row = l.mul(l.div(rest, panels), block), column = l.mul(l.rem(rest, panels), width);
    l.call(kernel, {l.at(x, matrixOf(xt, at), l.f32()), l.at(w, matrixOf(wt, at), l.f32()),
                    l.at(y, l.mul(l.mul(batch, rows), columns), l.f32()), rows, depth, columns, row, column});
  });
  l.barrier(loc);
  return success();
}
