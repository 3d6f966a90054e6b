//===- PassMessages.h - what passes say, as complaints ----------*- C++ -*-===//
//
// Passes, verifiers of ops, the interpreter and MLIR's parser report through the context. While an object of this class
// exists, what they say goes to a sink, where it looks, sorts and counts like what the importer says. Ops are named as
// in the description, and no IR is shown for mistakes of the description.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_DRIVER_PASSMESSAGES_H
#define HEDDLE_COMPILER_DRIVER_PASSMESSAGES_H

#include "compiler/Driver/SourcePlaces.h"
#include "mlir/IR/Diagnostics.h"

namespace heddle {

class PassMessages {
public:
  /// `code` is that of errors that say neither that something is unsupported nor that it is our own mistake.
  PassMessages(mlir::MLIRContext &context, DiagnosticSink &sink, Error code = Error::Misfit);

private:
  void take(mlir::Diagnostic &said);

  DiagnosticSink &sink;
  Error code;
  SourcePlaces places;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace heddle

#endif // HEDDLE_COMPILER_DRIVER_PASSMESSAGES_H
