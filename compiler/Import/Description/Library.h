// The texts that are compiled into heddle: stdlib.json (the blocks of the library), config_keys.json, the family
// files, and the page of the language.
#ifndef HEDDLE_COMPILER_IMPORT_DESCRIPTION_LIBRARY_H
#define HEDDLE_COMPILER_IMPORT_DESCRIPTION_LIBRARY_H

#include "llvm/ADT/StringRef.h"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace heddle {

/// Family files by name; `own` are added by --families or tests and come first.
class FamilyLibrary {
public:
  std::map<std::string, std::string> own;

  std::optional<llvm::StringRef> find(llvm::StringRef name) const;
  std::vector<std::string> names() const;
};

/// stdlib.json.
llvm::StringRef standardLibrary();
/// config_keys.json.
llvm::StringRef configKeyTable();
/// language.md as it was when heddle was built.
llvm::StringRef languagePage();

} // namespace heddle

#endif // HEDDLE_COMPILER_IMPORT_DESCRIPTION_LIBRARY_H
