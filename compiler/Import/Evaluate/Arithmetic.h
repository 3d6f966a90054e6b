// What the operators and functions of expressions do with values: constants are worked out (exactly, or it is
// an error), lengths stay formulas, tensors, masks and biases become ops. Names and trees are Evaluate.cpp's.
#ifndef HEDDLE_COMPILER_IMPORT_EVALUATE_ARITHMETIC_H
#define HEDDLE_COMPILER_IMPORT_EVALUATE_ARITHMETIC_H

#include "compiler/Import/Evaluate/Emitter.h"

namespace heddle {
struct FunctionInfo;

/// One part of a subscript x[...].
struct Sub {
  enum class Kind { Axis, Index, Slice } kind; ///< a new axis, one place, a piece
  Value first, last;                           ///< null: open
  At at;
};

/// The operators and functions of expressions, applied to values. Every method takes the place of the operator or
/// function for messages and for the locations of ops, and yields poison after an error, which it has reported.
class Arithmetic {
public:
  explicit Arithmetic(Emitter &in) : in(in) {}

  /// `a op b`, for every infix operator of the language.
  Value binary(llvm::StringRef op, Value a, Value b, At at);
  Value negate(Value v, At at);
  Value logicalNot(Value v, At at);
  /// Elementwise on tensors, which broadcast; integers stay integers unless something real is mixed in.
  Value tensors(llvm::StringRef op, const Value &a, const Value &b, At at);
  /// A choice that is made when the model runs.
  Value select(const Value &condition, const Value &yes, const Value &no, At at);
  /// Of a list, a string or a tensor.
  Value subscript(const Value &v, llvm::ArrayRef<Sub> subs, At at);
  /// A function of expressions: as many arguments as it takes, none of them bad.
  Value function(const FunctionInfo &f, llvm::ArrayRef<Value> args, At at);
  /// `causal` or `all`.
  Value namedMask(llvm::StringRef name, At at);

private:
  using Element = Emitter::Element;

  // `binary`, by what the operands are.
  Value numbers(llvm::StringRef op, const Value &a, const Value &b, At at);
  Value lengths(llvm::StringRef op, const Value &a, const Value &b, At at);
  Value masks(llvm::StringRef op, const Value &a, const Value &b, At at);
  Value biases(llvm::StringRef op, const Value &a, const Value &b, At at);
  // `subscript` and `function`, by what they are applied to. A function of a tensor becomes an op of its name.
  Value subscriptTensor(const Value &v, llvm::ArrayRef<Sub> subs, At at);
  Value activation(const Value &x, llvm::StringRef name, At at);
  Value mathFunction(llvm::StringRef name, const Value &x, At at);
  Value maskFunction(llvm::StringRef name, llvm::ArrayRef<Value> args, At at);
  Value listAsTensor(const Value &list, At at);
  Value lengthOf(const Value &x, At at);
  Value minMax(bool isMax, const Value &a, const Value &b, At at);
  Value rangeOf(llvm::ArrayRef<Value> args, At at);
  Value eachOf(const Value &x, const Value &count, At at);
  Value sizeOf(const Value &x, const Value &axis, At at);

  Emitter &in;
};

/// Whether an operator is one of == != < <= > >=.
bool isComparison(llvm::StringRef op);

} // namespace heddle

#endif // HEDDLE_COMPILER_IMPORT_EVALUATE_ARITHMETIC_H
