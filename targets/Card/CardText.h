//===- CardText.h - the card of a program, as text --------------*- C++ -*-===//
//
// What a program says of its model (runtime/card.md). Passes fill attributes: `model.*` of the module, the entries
// (dialects/Card) and the launches of kernels; here they are printed, once, when all passes are done.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TARGETS_CARD_CARDTEXT_H
#define HEDDLE_TARGETS_CARD_CARDTEXT_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/Module.h"
#include <string>

namespace heddle {

/// The card of a module of stage `llvm`.
std::string cardText(mlir::ModuleOp module);

/// The model's own texts, digested as the module has them, in the order of `Card::texts` (runtime/Core/Card.h). The
/// seal has the digest: a program whose card does not give these texts back says so at its start.
uint64_t digestOfTexts(mlir::ModuleOp module);

/// Puts `text` into the code of a program as the symbol heddle_card, with a zero byte after it.
void addCard(llvm::Module &code, llvm::StringRef text);

} // namespace heddle

#endif
