//===- PackGroups.cpp - rows of a linear, rounded and in groups -----------===//

#include "compiler/Conversion/Lowering/Frame/Cost.h"
#include "compiler/Conversion/Lowering/GPU/Linear/Groups.h"
#include "compiler/Conversion/Lowering/Ops/LinearCode.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using namespace heddle::model;

/// An item is four words of a row; neighbours write side by side.
Value heddle::loops::packGroups(Lowering &l, LinearOp op, const SumStep &step) {
  constexpr int64_t kWords = 4;
  LinearScratch scratch(op);
  LeftSide left(op);
  Value from = l.pointer(op.getInput());
  Length rows = l.size(left.rows);
  Value to = l.at({l.scratchPointer(op), l.size(scratch.weight + scratch.bias)}, l.b.getI8Type());
  l.forEach(op.getLoc(), l.mul(rows, step.depth() / kWords), [&](Value item) {
    Value row = l.rem(item, rows), group = l.div(item, rows);
    Value first = l.add(rowBegin(l, op, left, row), l.mul(group, 2 * kWords));
    Values words;
    for (int64_t i = 0; i < kWords; ++i) {
      Value even = l.loadF32(from, l.add(first, 2 * i)), odd = l.loadF32(from, l.add(first, 2 * i + 1));
      words.push_back(pairWord(l, Stored::bf16, even, odd));
    }
    auto four = VectorType::get({kWords}, l.b.getI32Type());
    Value all = vector::FromElementsOp::create(l.b, four, words);
    LLVM::StoreOp::create(l.b, all, l.at(to, l.mul(item, kWords), l.f32()), /*alignment=*/16);
  });
  l.noteCost([&] { return Cost{"linear", 0, false, bytesWhereItLies(op.getInput()), scratch.rows}; });
  l.barrier(op.getLoc());
  return to;
}
