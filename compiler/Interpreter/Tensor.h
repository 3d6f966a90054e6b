//===- Tensor.h - a dense value of the interpreter --------------*- C++ -*-===//
//
// A dense tensor: numbers in row-major order and their lengths. Reals are doubles whatever
// the declared type, so that a result can be judged as more exact than any backend's.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_INTERPRETER_TENSOR_H
#define HEDDLE_COMPILER_INTERPRETER_TENSOR_H

#include "compiler/Weights/Coded/CodedMatrix.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace heddle {

/// The codes of a matrix W[N, K].
struct TensorCodes {
  CodedForm form;
  CodedRows rows; ///< all of them
};

struct Tensor {
  enum class Kind { Real, Int, Bool };

  Kind kind = Kind::Real;
  std::vector<int64_t> shape;
  std::vector<double> reals; ///< the elements of a Real tensor
  std::vector<int64_t> ints; ///< the elements of an Int tensor; a Bool one has 0 and 1
  /// Of a matrix of codes, which the elements are the values of; null: it has none.
  std::shared_ptr<const TensorCodes> codes = nullptr;

  int64_t rank() const { return shape.size(); }
  int64_t count() const { return kind == Kind::Real ? reals.size() : ints.size(); }
  /// Element `i` in row-major order as a real, whatever the kind.
  double real(int64_t i) const { return kind == Kind::Real ? reals[i] : double(ints[i]); }
  bool operator==(const Tensor &other) const;

  static Tensor zeros(Kind kind, llvm::ArrayRef<int64_t> shape);
  static Tensor ofReals(llvm::ArrayRef<int64_t> shape, std::vector<double> elements);
  static Tensor ofInts(llvm::ArrayRef<int64_t> shape, std::vector<int64_t> elements);
  static Tensor ofBools(llvm::ArrayRef<int64_t> shape, std::vector<int64_t> elements);
};

/// Tensors by the names of inputs and outputs.
using Tensors = std::map<std::string, Tensor>;

/// "[2, 3]".
std::string showShape(llvm::ArrayRef<int64_t> shape);
int64_t product(llvm::ArrayRef<int64_t> shape);
/// The distance of neighbours along each axis, in elements.
std::vector<int64_t> strides(llvm::ArrayRef<int64_t> shape);
/// The place of an index in row-major order: the sum of index * stride.
int64_t place(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> index);

/// The same elements with other lengths; their product must stay.
Tensor reshaped(Tensor t, llvm::ArrayRef<int64_t> shape);
/// numpy's broadcasting: axes of 1 and missing leading axes are repeated. `to` must fit.
Tensor stretched(const Tensor &t, llvm::ArrayRef<int64_t> to);
/// Whether `from` can be broadcast to `to`.
bool stretches(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to);

/// Visits every index of `shape` in row-major order; `at(k)` is the place of its element in
/// operand k, which is broadcast to `shape`.
class Walk {
public:
  Walk(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<llvm::ArrayRef<int64_t>> operands);

  bool more() const { return left > 0; }
  void next();
  /// The place of the index itself, and of its element in operand `k`.
  int64_t here() const { return position; }
  int64_t at(unsigned k) const { return offsets[k]; }
  llvm::ArrayRef<int64_t> index() const { return now; }

private:
  llvm::SmallVector<int64_t> lengths, now, offsets;
  llvm::SmallVector<llvm::SmallVector<int64_t>> steps; // operand -> axis -> stride, 0: stretches
  int64_t left, position = 0;
};

} // namespace heddle

#endif
