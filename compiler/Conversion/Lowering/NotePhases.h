//===- NotePhases.h - which op a phase is, and what it calls ----*- C++ -*-===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_NOTEPHASES_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_NOTEPHASES_H

#include "mlir/IR/BuiltinOps.h"

namespace heddle::loops {

/// Notes on the entries of the module (dialects/Card) for each phase of a processor: where its op stands in the
/// description, the statement of the block and the name of the value, from the location of the barrier that ends the
/// phase, and the functions called since the barrier before. Barriers are still in the functions of the entries.
void notePhases(mlir::ModuleOp module);

} // namespace heddle::loops

#endif
