//===- DeclaredNames.h - what a name may be ---------------------*- C++ -*-===//
//
// The one rule for names of models, inputs, outputs, states and dims, whoever declares them: a description, config.json
// or the text of a stage.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_IMPORT_DESCRIPTION_DECLAREDNAMES_H
#define HEDDLE_COMPILER_IMPORT_DESCRIPTION_DECLAREDNAMES_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace heddle {

constexpr size_t kMostNameBytes = 255;

/// What stands in the way of `text` being a name: it is empty, longer than kMostNameBytes, or has bytes that are not
/// UTF-8 or that a terminal acts on. "" where nothing does.
std::string whyNoName(llvm::StringRef text);

/// A name made of a text that is none, such as a path: bytes that a name cannot have are escaped, and what is too long
/// is cut.
std::string asName(llvm::StringRef text);

} // namespace heddle

#endif
