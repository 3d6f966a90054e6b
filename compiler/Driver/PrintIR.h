//===- PrintIR.h - a stage as text for people -------------------*- C++ -*-===//
//
// One way to print for --emit and --dump-ir: a header of comments, values under the names of the statements that made
// them, tensor types and the plan's attributes under short names in front, locations behind everything. What is printed
// parses back to the same module and prints the same.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_DRIVER_PRINTIR_H
#define HEDDLE_COMPILER_DRIVER_PRINTIR_H

#include "mlir/IR/BuiltinOps.h"

namespace heddle {

struct PrintOptions {
  bool locations = true; ///< false: without them; a comment says what is lost
  /// Where the text is one of a dump: what made it ("after the pass cse"), and the command that makes it again; empty:
  /// there is none.
  llvm::StringRef after = {}, command = {};
};

void printIR(mlir::ModuleOp module, llvm::raw_ostream &os, const PrintOptions &options = {});

} // namespace heddle

#endif
