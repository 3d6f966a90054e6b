//===- Lookups.h - rows that are chosen by numbers of the data --*- C++ -*-===//
//
// A number outside of a table ends a run with an error. That error should say which table and which
// input: every lookup of a module has a number, which the generated code reports, and a line in the
// card.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_FRAME_LOOKUPS_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_FRAME_LOOKUPS_H

#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace heddle::loops {

/// One text for each embedding and gather of the module, in the order of its ops: "embed.weight, by input `ids`".
std::vector<std::string> lookupTexts(mlir::ModuleOp module);

/// The place of `lookup` among them.
int64_t lookupNumber(mlir::Operation *lookup);

} // namespace heddle::loops

#endif // HEDDLE_COMPILER_CONVERSION_LOWERING_FRAME_LOOKUPS_H
