//===- ElementwiseOps.cpp - elementwise work, lanes along the innermost axes ===//
//
// Elementwise maps. The innermost axes along which every operand is contiguous or a single element are one long row,
// computed in vectors; the axes in front are walked by index. Threads take blocks of 4096 elements. The end of a row is
// computed with a mask of lanes, so that an element's bits do not depend on its position.
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/Frame/Lowering.h"
#include "compiler/Conversion/Lowering/Language/Element.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using namespace heddle::model;
using Lower = heddle::loops::Lowering;

/// Elements of a block, the unit that threads share.
static constexpr int64_t kBlock = 4096;

namespace {
/// How an operand is read for an index of the result; the stride is 0 along broadcast axes.
struct Read {
  Value base;
  Type element;
  SmallVector<bool> moves; ///< for each axis of the result: whether the operand has it
  ModelTensorType type;
};
} // namespace

/// Splits the axes of the result in front of the longest suffix along which each operand is either contiguous or one
/// element: [outer axes | one long row]. An item of work is a block of a row; the outer index gives each operand's
/// first element by its strides. The body is emitted once, on vectors.
LogicalResult heddle::loops::lowerMap(Lower &l, Operation *op) {
  auto type = cast<ModelTensorType>(op->getResult(0).getType());
  int64_t rank = type.getRank();
  SmallVector<Read> reads;
  for (Value operand : op->getOperands()) {
    Read r;
    r.type = cast<ModelTensorType>(operand.getType());
    r.base = l.pointer(operand);
    r.element = r.type.getElementType();
    r.moves.assign(rank, false);
    for (int64_t i = 0; i < r.type.getRank(); ++i)
      r.moves[rank - r.type.getRank() + i] = !r.type.getSize(i).is(1);
    reads.push_back(r);
  }
  // The longest suffix of axes along which every operand either moves or stands still (axes of 1 do not count).
  int64_t split = rank;
  SmallVector<std::optional<bool>> kind(reads.size());
  for (; split > 0; --split) {
    if (type.getSize(split - 1).is(1))
      continue;
    bool fits = true;
    for (auto [r, k] : llvm::zip(reads, kind))
      fits &= !k || *k == r.moves[split - 1];
    if (!fits)
      break;
    for (auto [r, k] : llvm::zip(reads, kind))
      k = r.moves[split - 1];
  }
  Length inner = l.count(type, split, rank), outer = l.count(type, 0, split);
  ModelTensorType outerType = type.withSizes(ArrayRef(type.getSizes()).take_front(split));
  Value to = l.allocatePointer(op->getResult(0));
  Type element = type.getElementType();
  Length blocks = l.parts(inner, kBlock);

  // The strides of each operand along the outer axes.
  SmallVector<Values> strides;
  for (Read &r : reads) {
    Values all(split, l.constant(0));
    Values own = l.strides(r.type);
    for (int64_t i = 0; i < r.type.getRank(); ++i)
      if (int64_t at = rank - r.type.getRank() + i; at < split)
        all[at] = own[i];
    strides.push_back(all);
  }
  l.parallelFor(op->getLoc(), l.mul(outer, blocks), [&](Value item) {
    Value row = l.div(item, blocks), begin = l.mul(l.rem(item, blocks), kBlock);
    Values at = l.unravel(outerType, row);
    SmallVector<Value> bases;
    for (auto [i, r] : llvm::enumerate(reads)) {
      Value offset = l.constant(0);
      for (int64_t a = 0; a < split; ++a)
        if (r.moves[a])
          offset = l.add(offset, l.mul(at[a], strides[i][a]));
      Value base = l.at(r.base, offset, r.element);
      // A single element for the whole row is loaded once.
      bool moves = kind[i] && *kind[i];
      bases.push_back(moves ? l.at(base, begin, r.element) : l.splat(l.load(r.element, base)));
    }
    Value target = l.at(to, l.add(l.mul(row, inner), begin), element);
    l.vectors(l.min(l.sub(inner, begin), l.constant(kBlock)), [&](Value j, Value mask) {
      Values in;
      for (auto [i, r] : llvm::enumerate(reads)) {
        bool moves = kind[i] && *kind[i];
        in.push_back(moves ? l.loadLanes(r.element, l.at(bases[i], j, r.element), mask) : bases[i]);
      }
      l.storeLanes({emitBody(l, op, in), l.at(target, j, element)}, mask);
    });
  });
  l.barrier(op->getLoc());
  return success();
}
