// config.json, and config_keys.json, the table of what all families know of its keys: the spellings that one
// thing has had over the years, keys that do not concern the architecture, keys that are refused with advice.
#ifndef HEDDLE_COMPILER_IMPORT_CONFIGFILE_H
#define HEDDLE_COMPILER_IMPORT_CONFIGFILE_H

#include "compiler/Import/Diagnostics.h"
#include "compiler/Import/LocatedJson.h"
#include <set>

namespace heddle {

/// A config.json that was read, with the spellings of its keys. Owned by the Source of an import.
class ConfigFile {
public:
  JsonValue json;
  std::string name = "config.json"; ///< as messages call the file

  /// Removes keys (--ignore-config); an error for one that is not there.
  void ignore(const std::vector<std::string> &keys, DiagnosticSink &sink);
  /// Reads config_keys.json; before that every key has one spelling.
  void readTable(DiagnosticSink &sink);
  /// The list `what` of the table, or null.
  const JsonValue *listOf(llvm::StringRef what) const { return table ? table->find(what) : nullptr; }

  /// The value at "a.b.c" under any of its spellings, or null.
  const JsonValue *find(llvm::StringRef chain) const;
  /// The member that gives a key its value, and the spelling that it uses.
  std::pair<const JsonMember *, std::string> member(llvm::StringRef chain) const;
  /// The other spellings of a key.
  std::vector<std::string> spellingsOf(llvm::StringRef chain) const;
  /// An error where two spellings of one key have different values.
  void checkSpellings(const std::set<std::string> &used, const std::vector<std::string> &ignored,
                      DiagnosticSink &sink) const;

private:
  std::unique_ptr<JsonValue> table;
  std::vector<std::vector<std::string>> spellings;
};

} // namespace heddle

#endif // HEDDLE_COMPILER_IMPORT_CONFIGFILE_H
