//===- ModelTokenizer.h - the tokenizers of a model -------------*- C++ -*-===//
//
// Finds the tokenizer next to a model, and a second one where what the model writes has a vocabulary of its own;
// compiles them, and holds the ids of each against the table that it is for.
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_SIDEFILES_MODELTOKENIZER_H
#define HEDDLE_COMPILER_SIDEFILES_MODELTOKENIZER_H

#include "compiler/Import/Import.h"
#include "compiler/SideFiles/TextBlobs.h"

namespace heddle {

/// Compiles tokenizer.json, or the older files next to the model, to `words.blob`. What the model writes is read by
/// --target-tokenizer or target_tokenizer.json, where there is one (`words.target`). The paths are kept on the module
/// (`model.tokenizer`, `model.target_tokenizer`), so that a later stage can be compiled from its text: with `parsed`
/// they are read from there. `module` may be null. Errors go to `sink`.
void readTokenizers(const ImportOptions &options, mlir::ModuleOp module, bool parsed, TextBlobs &words,
                    DiagnosticSink &sink);

} // namespace heddle

#endif // HEDDLE_COMPILER_SIDEFILES_MODELTOKENIZER_H
