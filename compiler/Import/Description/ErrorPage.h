// The page of error codes (heddle/errors.def), as text and as JSON.
#ifndef HEDDLE_COMPILER_IMPORT_DESCRIPTION_ERRORPAGE_H
#define HEDDLE_COMPILER_IMPORT_DESCRIPTION_ERRORPAGE_H

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace heddle {

/// Prints the page: a table in markdown.
void printErrors(llvm::raw_ostream &os);
/// The rows of the table: objects {code, exit, said_by, when, help}; `said_by` is heddle, model or both.
llvm::json::Array listErrors();

} // namespace heddle

#endif // HEDDLE_COMPILER_IMPORT_DESCRIPTION_ERRORPAGE_H
