//===- StructuralText.h - equal texts: equal code ---------------*- C++ -*-===//
//
// An op and everything in it as text in which a value has the number of its first mention. Locations are left out. Ops
// of equal text do the same with what they read from outside, taken in the order in which the text mentions it.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_LANGUAGE_STRUCTURALTEXT_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_LANGUAGE_STRUCTURALTEXT_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/raw_ostream.h"
#include <string>

namespace heddle::loops {

class StructuralText {
public:
  explicit StructuralText(mlir::Operation *op);

  const std::string &str() const { return text; }
  /// Values from outside, in the order of the text, but for the constants.
  llvm::ArrayRef<mlir::Value> outside() const { return read.getArrayRef(); }
  /// Pure ops without operands and regions whose results are read from outside: the text says what they are.
  llvm::ArrayRef<mlir::Operation *> constants() const { return made.getArrayRef(); }

private:
  void write(mlir::Operation *op);
  void mention(mlir::Value v);

  mlir::Operation *root;
  std::string text;
  llvm::raw_string_ostream os;
  llvm::DenseMap<mlir::Value, int64_t> numbers;
  llvm::DenseMap<mlir::Block *, int64_t> blocks;
  llvm::SetVector<mlir::Value> read;
  llvm::SetVector<mlir::Operation *> made;
};

} // namespace heddle::loops

#endif
