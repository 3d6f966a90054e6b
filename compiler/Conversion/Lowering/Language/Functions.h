//===- Functions.h - the functions of calculus ------------------*- C++ -*-===//
//
// As vector polynomials. Every function works on a scalar and on a vector alike and gives the same bits for both, so
// where a row is cut into vectors never shows in a result.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_LANGUAGE_FUNCTIONS_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_LANGUAGE_FUNCTIONS_H

#include "compiler/Conversion/Lowering/Language/Code.h"

namespace heddle::loops {

class Functions : public Code {
public:
  explicit Functions(const Code &c) : Code(c) {}
  Value exp(Value x), tanh(Value x), sigmoid(Value x), erf(Value x), log(Value x);
  /// sin and cos of an angle given in f64 (scalar or vector), as f32.
  std::pair<Value, Value> sinCos(Value angle);
  /// Any of the language's functions of reals.
  Value function(model::UnaryKind kind, Value x);

private:
  Value poly(Value x, llvm::ArrayRef<double> highestFirst);
  /// Of any f32. Turns of numbers from 2^50 on do not fit the reduction of sinCos: the library knows them, and is asked
  /// only where there are some.
  Value sinOrCos(Value x, bool sine);
};

} // namespace heddle::loops

#endif
