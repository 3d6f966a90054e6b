// The JSON that is compiled into heddle: stdlib (the library of blocks) and one file a
// family.
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

llvm::StringRef standardLibrary();

} // namespace heddle

#endif // HEDDLE_COMPILER_IMPORT_LIBRARY_H
