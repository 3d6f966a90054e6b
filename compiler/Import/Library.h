// The texts that are compiled into heddle: stdlib (the library of blocks), config_keys
// (what all families know of config.json), one file a family, and the page of the language.
#ifndef HEDDLE_COMPILER_IMPORT_LIBRARY_H
#define HEDDLE_COMPILER_IMPORT_LIBRARY_H

#include "llvm/ADT/StringRef.h"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace heddle {

/// Family files by name. Tests, and people who write a family, put their own in front.
class FamilyLibrary {
public:
  std::map<std::string, std::string> own;

  std::optional<llvm::StringRef> find(llvm::StringRef name) const;
  std::vector<std::string> names() const;
};

/// stdlib.json: the blocks.
llvm::StringRef standardLibrary();
/// config_keys.json: what all families know of the keys of config.json.
llvm::StringRef configKeyTable();
/// language.md, as it was when heddle was built.
llvm::StringRef languagePage();

} // namespace heddle

#endif // HEDDLE_COMPILER_IMPORT_LIBRARY_H
