//===- Card.h - what a program says of its model ----------------*- C++ -*-===//
#ifndef HEDDLE_DIALECTS_CARD_IR_CARD_H
#define HEDDLE_DIALECTS_CARD_IR_CARD_H

#include "dialects/Model/IR/Model.h"

#include "dialects/Card/IR/CardDialect.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Card/IR/CardAttrs.h.inc"

namespace heddle::card {

/// The entries of a module, in the order in which the runtime numbers them; none before they are lowered.
llvm::SmallVector<EntryAttr> entriesOf(mlir::ModuleOp module);
void setEntries(mlir::ModuleOp module, llvm::ArrayRef<EntryAttr> entries);
/// Puts `entry` in the place of the one of its name.
void replaceEntry(mlir::ModuleOp module, EntryAttr entry);

/// One text for each table whose rows are selected by data: "embed.weight, by input `ids`".
llvm::SmallVector<llvm::StringRef> lookupsOf(mlir::ModuleOp module);
void setLookups(mlir::ModuleOp module, llvm::ArrayRef<std::string> lookups);

} // namespace heddle::card

#endif
