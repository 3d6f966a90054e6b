// Arithmetic on tensors whose elements are known at import. None means that an op has to compute it, or has to
// report what is wrong.
#ifndef HEDDLE_COMPILER_IMPORT_EVALUATE_FOLDTENSORS_H
#define HEDDLE_COMPILER_IMPORT_EVALUATE_FOLDTENSORS_H

#include "compiler/Import/Evaluate/Arithmetic.h"

namespace heddle {

// An operator, a function of one argument, a choice, a subscript.
std::optional<Value> foldBinary(llvm::StringRef op, const Value &a, const Value &b);
std::optional<Value> foldUnary(llvm::StringRef name, const Value &x);
std::optional<Value> foldSelect(const Value &c, const Value &a, const Value &b);
std::optional<Value> foldSubscript(const Value &v, llvm::ArrayRef<Sub> subs);

} // namespace heddle

#endif // HEDDLE_COMPILER_IMPORT_EVALUATE_FOLDTENSORS_H
