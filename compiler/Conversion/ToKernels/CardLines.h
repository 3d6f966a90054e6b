//===- CardLines.h - what the card says of launches -------------*- C++ -*-===//
//
// The card (`heddle_card`) is text in the module; passes of kernels add lines to it and put others in their place. A
// module without a card has none of these lines.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_TOKERNELS_CARDLINES_H
#define HEDDLE_COMPILER_CONVERSION_TOKERNELS_CARDLINES_H

#include "mlir/IR/BuiltinOps.h"

namespace heddle::kernels {

class CardLines {
public:
  /// Of a module, which must outlive this.
  explicit CardLines(mlir::ModuleOp module);
  /// Writes the text back.
  void save();

  /// `lines` (each with its end) go behind the first line of the card that begins with `word`.
  void addBehind(llvm::StringRef word, llvm::StringRef lines);
  /// They go behind the line `arena` of an entry.
  void addToEntry(llvm::StringRef entry, llvm::StringRef lines);
  /// In the place of the line that launches `kernel`, which there is once; "" for none.
  void replaceLaunch(llvm::StringRef kernel, llvm::StringRef line);

private:
  mlir::Operation *global; ///< null: there is no card
  std::string text;
};

} // namespace heddle::kernels

#endif
