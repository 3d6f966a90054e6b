// Files given in place of JSON that are something else: a GGUF, a program, a web page, a directory of weights.
// Recognised by their first bytes (compiler/Weights/Safetensors/KnownFiles.h).
#ifndef HEDDLE_COMPILER_IMPORT_WEIGHTS_OTHERKINDS_H
#define HEDDLE_COMPILER_IMPORT_WEIGHTS_OTHERKINDS_H

#include "absl/status/status.h"
#include "llvm/ADT/StringRef.h"

namespace heddle {

class DiagnosticSink;

/// Reports a file that is not text: weights, an archive, a program. False for a text.
bool refuseOtherKind(llvm::StringRef file, llvm::StringRef firstBytes, DiagnosticSink &sink);
/// Whether `directory` holds an adapter, which would be ignored; reports it.
bool refuseAdapter(llvm::StringRef directory, DiagnosticSink &sink);
/// Reports the error of a store of weights that was opened at `path`; of an adapter's config at its line.
void reportWeights(DiagnosticSink &sink, llvm::StringRef path, const absl::Status &status);
/// Reports a directory without a description, and what it has instead.
void refuseDirectory(llvm::StringRef directory, DiagnosticSink &sink);

} // namespace heddle

#endif // HEDDLE_COMPILER_IMPORT_WEIGHTS_OTHERKINDS_H
