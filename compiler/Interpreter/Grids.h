//===- Grids.h - tensors read by batch, head, row and key -------*- C++ -*-===//
//
// Leaves of masks and biases hold tensors whose axes lie along some of (b, h, q, k). `Along`
// reads such a tensor at a pair; an axis of 1 is never expanded, it is read at 0.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_INTERPRETER_GRIDS_H
#define HEDDLE_COMPILER_INTERPRETER_GRIDS_H

#include "compiler/Interpreter/Evaluator.h"

namespace heddle::evaluation {

class Along {
public:
  /// `axes` names the axes of `tensor`, a letter each: "bk", "qk", "bhqk".
  Along(mlir::Operation *op, TensorRef tensor, llvm::StringRef axes)
      : op(op), tensor(std::move(tensor)), axes(axes) {}
  /// The names of a tensor [.., k] that may lack the batch, of [T,S], [B,T,S] or [B,H,T,S].
  static Along rows(mlir::Operation *op, TensorRef t, llvm::StringRef batchAndRow) {
    return Along(op, t, batchAndRow.take_back(t->rank()));
  }
  static Along dense(mlir::Operation *op, TensorRef t) {
    return Along(op, t, t->rank() == 2 ? "qk" : t->rank() == 3 ? "bqk" : "bhqk");
  }

  mlir::LogicalResult fits(const Grid &g) const {
    for (auto [axis, letter] : llvm::enumerate(axes)) {
      int64_t want = letter == 'b' ? g.batches : letter == 'h' ? g.heads : letter == 'q' ? g.rows : g.keys;
      int64_t have = tensor->shape[axis];
      if (have != 1 && have != want)
        return op->emitOpError() << "holds a tensor " << showShape(tensor->shape) << ", but the attention asks for "
                                 << want << (letter == 'b' ? " batches" : letter == 'h' ? " heads" : letter == 'q' ? " queries" : " keys");
    }
    return mlir::success();
  }

  int64_t at(const Pair &p) const {
    int64_t at = 0;
    for (auto [axis, letter] : llvm::enumerate(axes)) {
      int64_t index = letter == 'b' ? p.batch : letter == 'h' ? p.head : letter == 'q' ? p.row : p.key;
      at = at * tensor->shape[axis] + (tensor->shape[axis] == 1 ? 0 : index);
    }
    return at;
  }
  double real(const Pair &p) const { return tensor->real(at(p)); }
  int64_t integer(const Pair &p) const { return tensor->ints[at(p)]; }

private:
  mlir::Operation *op;
  TensorRef tensor;
  std::string axes;
};

} // namespace heddle::evaluation

#endif
