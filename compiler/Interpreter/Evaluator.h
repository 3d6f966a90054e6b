//===- Evaluator.h - one run of one function --------------------*- C++ -*-===//
//
// One run of one function: the value of every SSA value so far, and the values of the
// dims. Ops are free functions, one for each op, in families of files; each reads its
// operands here, computes its formula and sets its results. Before an op the Evaluator
// checks that its operands have values and its results have possible lengths, after it
// that the results are as long as their types say, so that an op need not.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_INTERPRETER_EVALUATOR_H
#define HEDDLE_COMPILER_INTERPRETER_EVALUATOR_H

#include "compiler/Interpreter/Interpreter.h"
#include "dialects/Attn/IR/Attn.h"
#include "dialects/Model/IR/Arithmetic.h"
#include "dialects/Model/IR/Conditions.h"
#include "llvm/ADT/DenseMap.h"
#include <functional>
#include <memory>
#include <variant>

namespace heddle::evaluation {

using TensorRef = std::shared_ptr<const Tensor>;

/// What a mask or a bias is a function of: one query row and one key row.
struct Pair {
  int64_t batch, head, row, key;
  int64_t query;  ///< position of the query: past + row
  int64_t target; ///< position of the key: key_start + key
};
/// The lengths of an attention: masks and biases check their tensors against them.
struct Grid {
  int64_t batches, heads, rows, keys, past, keyStart;
};
struct MaskValue {
  /// How often the query sees the key: 0 or 1, or more below a `+` of masks.
  std::function<int64_t(const Pair &)> sees;
  std::function<mlir::LogicalResult(const Grid &)> fits;
};
struct BiasValue {
  /// The number added to the score.
  std::function<double(const Pair &)> add;
  std::function<mlir::LogicalResult(const Grid &)> fits;
};

class Evaluator {
public:
  Evaluator(Dims dims, States *states, ReadParameter readParameter, InterpretOptions options)
      : dims(std::move(dims)), states(states), readParameter(readParameter), options(options) {}

  Dims dims;
  States *states; ///< never null
  ReadParameter readParameter;
  InterpretOptions options;

  /// Runs all ops of a block except its terminator.
  mlir::LogicalResult runBody(mlir::Block &block);
  /// Runs one op between its checks; whatever is wrong is reported at the op.
  mlir::LogicalResult run(mlir::Operation *op);

  bool has(mlir::Value v) const { return values.count(v); }
  const Tensor &tensor(mlir::Value v) const { return *ref(v); }
  TensorRef ref(mlir::Value v) const { return std::get<TensorRef>(values.at(v)); }
  const MaskValue &mask(mlir::Value v) const { return *std::get<std::shared_ptr<MaskValue>>(values.at(v)); }
  const BiasValue &bias(mlir::Value v) const { return *std::get<std::shared_ptr<BiasValue>>(values.at(v)); }
  int64_t index(mlir::Value v) const { return std::get<int64_t>(values.at(v)); }
  /// The name of the state that a function argument stands for.
  const std::string &state(mlir::Value v) const { return std::get<std::string>(values.at(v)); }

  void set(mlir::Value v, Tensor t);
  void set(mlir::Value v, TensorRef t) { values[v] = std::move(t); }
  void set(mlir::Value v, MaskValue m) { values[v] = std::make_shared<MaskValue>(std::move(m)); }
  void set(mlir::Value v, BiasValue b) { values[v] = std::make_shared<BiasValue>(std::move(b)); }
  void set(mlir::Value v, int64_t i) { values[v] = i; }
  void setState(mlir::Value v, std::string name) { values[v] = std::move(name); }
  /// Gives `to` the value of `from`.
  void alias(mlir::Value to, mlir::Value from) {
    auto value = values.at(from);
    values[to] = std::move(value);
  }

  /// The lengths of a result, from its type and the dims.
  mlir::FailureOr<std::vector<int64_t>> shapeOf(mlir::Operation *op, model::ModelTensorType type) const;
  std::vector<int64_t> shapeOf(mlir::Value result) const { return shapes.lookup(result); }
  /// The value of a size form; reports a dim without a value at `op`.
  mlir::FailureOr<int64_t> size(mlir::Operation *op, llvm::StringRef form) const;
  /// An error, at the op that asks, where the dims with a value break a condition.
  mlir::LogicalResult require(const model::Condition &condition) const;

private:
  using Item = std::variant<TensorRef, std::shared_ptr<MaskValue>, std::shared_ptr<BiasValue>, int64_t, std::string>;
  llvm::DenseMap<mlir::Value, Item> values;
  llvm::DenseMap<mlir::Value, std::vector<int64_t>> shapes; // of the op that is running

  mlir::LogicalResult prepare(mlir::Operation *op);
  mlir::LogicalResult confirm(mlir::Operation *op);
};

/// The result of a family of ops: none if the op is not one of its own.
using Outcome = std::optional<mlir::LogicalResult>;
Outcome evaluateElementwise(Evaluator &e, mlir::Operation *op); // Elementwise.cpp
Outcome evaluateMoves(Evaluator &e, mlir::Operation *op);       // Moves.cpp
Outcome evaluateLinear(Evaluator &e, mlir::Operation *op);      // Linear.cpp
Outcome evaluateNorms(Evaluator &e, mlir::Operation *op);       // Norms.cpp
Outcome evaluatePositions(Evaluator &e, mlir::Operation *op);   // Positions.cpp
Outcome evaluateReductions(Evaluator &e, mlir::Operation *op);  // Reductions.cpp
Outcome evaluateMasks(Evaluator &e, mlir::Operation *op);       // Masks.cpp
Outcome evaluateBiases(Evaluator &e, mlir::Operation *op);      // Biases.cpp
Outcome evaluateAttention(Evaluator &e, mlir::Operation *op);   // Attention.cpp
Outcome evaluateControl(Evaluator &e, mlir::Operation *op);     // Control.cpp
Outcome evaluateStates(Evaluator &e, mlir::Operation *op);      // States.cpp

//===-- scalars: bodies of model.map and epilogues (Scalars.cpp) ------------------===//

/// A value of a scalar type: `real` for f32, `integer` for i64, i1 and index.
struct Scalar {
  double real = 0;
  int64_t integer = 0;
};
/// A block of ops on scalars whose `model.yield` returns one of them: `read` once, then
/// `run` for every element.
class ScalarBody {
public:
  static mlir::FailureOr<ScalarBody> read(mlir::Block &block, bool declaredTypes);
  Scalar run(llvm::ArrayRef<Scalar> arguments);

private:
  struct Step;
  std::vector<std::shared_ptr<Step>> steps;
  std::vector<Scalar> slots;
  unsigned result = 0;
};

/// Reads and writes an element of a tensor as a scalar.
Scalar scalarOf(const Tensor &t, int64_t element);
void store(Tensor &t, int64_t element, Scalar s);

/// The function `kind` at x (model.unary, model.function).
double apply(model::UnaryKind kind, double x);
/// Minimum and maximum of IEEE 754: a NaN operand gives NaN, -0 is less than 0.
double least(double a, double b);
double most(double a, double b);

/// A number as it comes back from where it is stored; one that is stored as f32 stays what it is.
double roundedTo(model::Stored stored, double x);
/// The value of `v` with every element rounded as it is stored (dialects/Model/IR/Arithmetic.h).
TensorRef rounded(const Evaluator &e, mlir::Value v, model::Stored stored);

/// The kind of a tensor type or an element type.
Tensor::Kind kindOf(mlir::Type type);

} // namespace heddle::evaluation

#endif
