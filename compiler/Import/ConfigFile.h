// config.json, and what every family knows of its keys (config_keys.json): the spellings that one thing has had
// over the years, the keys that say nothing of the architecture, those that are refused with advice.
#ifndef HEDDLE_COMPILER_IMPORT_CONFIGFILE_H
#define HEDDLE_COMPILER_IMPORT_CONFIGFILE_H

#include "compiler/Import/Diagnostics.h"
#include "compiler/Import/LocatedJson.h"
#include <set>

namespace heddle {

class ConfigFile {
public:
  JsonValue json;
  std::string name = "config.json"; ///< as messages call the file

  /// Takes keys away (--ignore-config); one that is not there is an error.
  void ignore(const std::vector<std::string> &keys, DiagnosticSink &sink);
  /// Reads the table of keys; before it, a key has one spelling.
  void readTable(DiagnosticSink &sink);
  /// The table's list of that name, or null.
  const JsonValue *listOf(llvm::StringRef what) const { return table ? table->find(what) : nullptr; }

  /// The value at "a.b.c", under whichever of its names, or null.
  const JsonValue *find(llvm::StringRef chain) const;
  /// The member that gives a key its value, and the name it has there.
  std::pair<const JsonMember *, std::string> member(llvm::StringRef chain) const;
  /// The other names of a key.
  std::vector<std::string> spellingsOf(llvm::StringRef chain) const;
  /// One thing said twice must be said alike.
  void checkSpellings(const std::set<std::string> &used, const std::vector<std::string> &ignored, DiagnosticSink &sink) const;

private:
  std::unique_ptr<JsonValue> table;
  std::vector<std::vector<std::string>> spellings;
};

} // namespace heddle

#endif // HEDDLE_COMPILER_IMPORT_CONFIGFILE_H
