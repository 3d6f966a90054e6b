//===- Licence.h - the licence that a model's files state -------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_SIDEFILES_LICENCE_H
#define HEDDLE_COMPILER_SIDEFILES_LICENCE_H

#include "compiler/Folder/ModelFolder.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace heddle {

/// What the front matter of a model card (README.md, the lines between `---`) says of the licence: the value of
/// `license`, several with commas between, and `license_name` and `license_link` in parentheses. "" where it says
/// nothing. The words are the file's and judged by nobody.
std::string licenceOfCard(llvm::StringRef text);

/// The same of README.md in a model's folder; "" also where there is none, or it cannot be read.
std::string statedLicence(const ModelFolder &folder);

} // namespace heddle

#endif // HEDDLE_COMPILER_SIDEFILES_LICENCE_H
