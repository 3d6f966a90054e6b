//===- PassMessages.h - what passes say, as complaints ----------*- C++ -*-===//
//
// Passes, op verifiers and MLIR's parser report through the context. While one of these
// stands, their errors become complaints of a sink, so that they look, sort and count like
// those of the importer. Remarks and warnings are left to whoever listens besides.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_DRIVER_PASSMESSAGES_H
#define HEDDLE_COMPILER_DRIVER_PASSMESSAGES_H

#include "compiler/Import/Diagnostics.h"
#include "mlir/IR/Diagnostics.h"

namespace heddle {

class PassMessages {
public:
  PassMessages(mlir::MLIRContext &context, DiagnosticSink &sink);

  /// A message speaks of an `internal error`: not the user's mistake.
  bool internalError() const { return internal; }

private:
  Loc placeOf(mlir::Location where);
  void take(mlir::Diagnostic &said);

  DiagnosticSink &sink;
  std::map<std::string, const SourceFile *> files; ///< null: cannot be read
  bool internal = false;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace heddle

#endif // HEDDLE_COMPILER_DRIVER_PASSMESSAGES_H
