// The importer: a description, or a Hugging Face directory, becomes a module of the stage `model`.
#ifndef HEDDLE_COMPILER_IMPORT_IMPORT_H
#define HEDDLE_COMPILER_IMPORT_IMPORT_H

#include "compiler/Import/Description/ImportOptions.h"
#include "compiler/Import/Json/Diagnostics.h"
#include "compiler/Import/Weights/WeightTable.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace heddle {

/// Imports a model; loads the dialects that it needs. Null after an error (the sink has all of them), and without
/// an error if weights are optional and absent.
mlir::OwningOpRef<mlir::ModuleOp> importModel(mlir::MLIRContext &context, const ImportOptions &options,
                                              DiagnosticSink &sink);

/// The family file for a model_type: the one with this name, else one that lists it; none if there is none.
std::optional<std::string> familyFor(llvm::StringRef type, const FamilyLibrary &families);

} // namespace heddle

#endif // HEDDLE_COMPILER_IMPORT_IMPORT_H
