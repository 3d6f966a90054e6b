// Warnings: what the language allows and is most likely not meant, as far as the imported module shows it.
#ifndef HEDDLE_COMPILER_IMPORT_WARNINGS_H
#define HEDDLE_COMPILER_IMPORT_WARNINGS_H

#include "compiler/Import/Description/Places.h"
#include "mlir/IR/BuiltinOps.h"
#include <set>

namespace heddle {

/// Warns of `module`, whose dims have their bounds already. `meant`: the ops of which the description says in so many
/// words what would be warned of.
void warn(mlir::ModuleOp module, const std::set<mlir::Operation *> &meant, const Places &places, DiagnosticSink &sink);

} // namespace heddle

#endif // HEDDLE_COMPILER_IMPORT_WARNINGS_H
