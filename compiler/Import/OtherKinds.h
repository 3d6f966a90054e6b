// What is given where JSON is expected and is something else: a GGUF, a program, a page,
// a directory of weights. Recognised by its first bytes (compiler/Weights/KnownFiles.h).
#ifndef HEDDLE_COMPILER_IMPORT_OTHERKINDS_H
#define HEDDLE_COMPILER_IMPORT_OTHERKINDS_H

#include "llvm/ADT/StringRef.h"

namespace heddle {

class DiagnosticSink;

/// Complains about a file of another kind than the JSON that is expected: weights, an archive, a program, anything that
/// is no text. False for a text.
bool refuseOtherKind(llvm::StringRef file, llvm::StringRef firstBytes, DiagnosticSink &sink);
/// Complains about a directory that holds no description, with what it holds.
void refuseDirectory(llvm::StringRef directory, DiagnosticSink &sink);

} // namespace heddle

#endif // HEDDLE_COMPILER_IMPORT_OTHERKINDS_H
