//===- DiagnosticsJson.h - Messages for programs ----------------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_IMPORT_JSON_DIAGNOSTICSJSON_H
#define HEDDLE_COMPILER_IMPORT_JSON_DIAGNOSTICSJSON_H

#include "compiler/Import/Json/Diagnostics.h"
#include "llvm/Support/JSON.h"

namespace heddle {

/// The messages of `sink`, sorted: objects {file, line, column, path, kind, code, message, table, notes}. `kind` is
/// refused, unsupported, warning or remark; only errors have a code.
llvm::json::Array jsonOf(const DiagnosticSink &sink);

/// A message of a command itself, which has no place: {kind, code, message}.
llvm::json::Object jsonOf(Error code, llvm::StringRef message);

} // namespace heddle

#endif // HEDDLE_COMPILER_IMPORT_JSON_DIAGNOSTICSJSON_H
