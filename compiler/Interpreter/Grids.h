//===- Grids.h - tensors read by batch, head, row and key -------*- C++ -*-===//
//
// Tensors of masks and biases have axes that are along some of batch (b), head (h), query
// row (q) and key (k). `Along` reads such a tensor at a Pair; an axis of length 1 is
// read at index 0 whatever the pair.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_INTERPRETER_GRIDS_H
#define HEDDLE_COMPILER_INTERPRETER_GRIDS_H

#include "compiler/Interpreter/Evaluator.h"

namespace heddle::evaluation {

class Along {
public:
  /// `axes` has a letter for each axis of `tensor`: "bk", "qk", "bhqk".
  Along(mlir::Operation *op, TensorRef tensor, llvm::StringRef axes) : op(op), tensor(std::move(tensor)), axes(axes) {}
  /// For a tensor whose batch axis may be missing: the last letters of `batchAndRow`.
  static Along rows(mlir::Operation *op, TensorRef t, llvm::StringRef batchAndRow) {
    return Along(op, t, batchAndRow.take_back(t->rank()));
  }
  static Along dense(mlir::Operation *op, TensorRef t) {
    return Along(op, t, t->rank() == 2 ? "qk" : t->rank() == 3 ? "bqk" : "bhqk");
  }

  /// An error at the op if the tensor does not fit the lengths of the attention.
  mlir::LogicalResult fits(const Grid &g) const {
    for (auto [axis, letter] : llvm::enumerate(axes)) {
      int64_t want = letter == 'b' ? g.batches : letter == 'h' ? g.heads : letter == 'q' ? g.rows : g.keys;
      int64_t have = tensor->shape[axis];
      if (have != 1 && have != want)
        return op->emitOpError() << "holds a tensor " << showShape(tensor->shape) << ", but the attention asks for "
                                 << want
                                 << (letter == 'b'   ? " batches"
                                     : letter == 'h' ? " heads"
                                     : letter == 'q' ? " queries"
                                                     : " keys");
    }
    return mlir::success();
  }

  /// The place of the pair's element in row-major order.
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
