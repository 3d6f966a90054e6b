// Pages about the language, printed from the tables that the importer reads.
#ifndef HEDDLE_COMPILER_IMPORT_DESCRIPTION_REFERENCE_H
#define HEDDLE_COMPILER_IMPORT_DESCRIPTION_REFERENCE_H

#include "compiler/Import/Description/Library.h"
#include "compiler/Import/Json/Diagnostics.h"
#include "llvm/Support/raw_ostream.h"
#include <string>

namespace heddle {

/// Prints the JSON Schema of descriptions, made from the table that the importer reads.
void printSchema(llvm::raw_ostream &os);
/// Prints the schema for one file, which knows the blocks that it declares; false if the file is not JSON.
bool printSchemaOf(llvm::raw_ostream &os, std::string name, std::string text, const FamilyLibrary &families,
                   DiagnosticSink &sink);
/// Prints the page of the language with its tables made anew from the same table.
void printReference(llvm::raw_ostream &os);
/// Prints stdlib.json, which defines the blocks of the library.
void printBlocks(llvm::raw_ostream &os);

} // namespace heddle

#endif // HEDDLE_COMPILER_IMPORT_DESCRIPTION_REFERENCE_H
