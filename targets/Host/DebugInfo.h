//===- DebugInfo.h - lines of the description in the code -------*- C++ -*-===//
#ifndef HEDDLE_TARGETS_HOST_DEBUGINFO_H
#define HEDDLE_TARGETS_HOST_DEBUGINFO_H

#include "mlir/IR/BuiltinOps.h"

namespace heddle::host {

/// Whose lines they are: an object's (DWARF's line tables), or a text's (`.loc` alone).
enum class DebugLines { Tables, Directives };

/// Gives each function of a module of stage `llvm` a scope of debug info, and each op one place in it: the first place
/// in a file that its location has. LLVM's code is the same with them, and names the statements it was made of.
/// Files are relative to the working directory, as the description was named.
void addDebugInfo(mlir::ModuleOp module, DebugLines kind);

} // namespace heddle::host

#endif // HEDDLE_TARGETS_HOST_DEBUGINFO_H
