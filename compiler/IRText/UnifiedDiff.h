//===- UnifiedDiff.h - a change as people read it ---------------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_IRTEXT_UNIFIEDDIFF_H
#define HEDDLE_COMPILER_IRTEXT_UNIFIEDDIFF_H

#include "compiler/IRText/ModuleHistory.h"
#include "llvm/Support/raw_ostream.h"

namespace heddle {

/// Prints one change in unified format with three lines of context. Files are functions, and lines are counted in them.
/// Behind the second @@ stands where the first changed line comes from (placeText). Hunks without a changed line whose
/// place is wanted are left out.
void printUnified(
    llvm::raw_ostream &os, const NamedChange &change,
    llvm::function_ref<bool(mlir::LocationAttr)> isWanted = [](mlir::LocationAttr) { return true; });

/// Path and place in the description: "$.body[3].x model.json:12:5"; "" where nothing is known.
std::string placeText(mlir::LocationAttr where);

} // namespace heddle

#endif
