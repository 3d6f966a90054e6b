//===- CardTexts.h - texts in the card and in the seal ----------*- C++ -*-===//
//
// The texts of a model (name, licence, labels, ..) are digested as the module has them, apart from the card. A program
// digests what it has read from its card and compares: a text that the card does not give back is found at the start.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_FRAME_CARDTEXTS_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_FRAME_CARDTEXTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace heddle::loops {

/// A text as one word of the card (heddle/card_words.h); every text of a card is written by it.
std::string cardWord(llvm::StringRef text);

/// The digest on a module whose card is written, i64.
constexpr llvm::StringLiteral kTextsAttr = "heddle.texts";

/// Writes the digest on the module; `entries` are the functions of the card, in its order.
void noteTexts(mlir::ModuleOp module, llvm::ArrayRef<mlir::func::FuncOp> entries);

} // namespace heddle::loops

#endif
