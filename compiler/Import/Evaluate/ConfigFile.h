// config.json, and config_keys.json, the table of what all families know of its keys: the spellings that one
// thing has had over the years, keys that do not concern the architecture, keys that are refused with advice.
#ifndef HEDDLE_COMPILER_IMPORT_EVALUATE_CONFIGFILE_H
#define HEDDLE_COMPILER_IMPORT_EVALUATE_CONFIGFILE_H

#include "compiler/Import/Json/Diagnostics.h"
#include "compiler/Import/Json/LocatedJson.h"
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

  /// Whether the family knows the key, so that its value means something: one that it reads or requires.
  bool carriesMeaning(llvm::StringRef chain) const;
  /// What the user can do about a key that is in the way, for the end of a message.
  std::string orIgnore(llvm::StringRef key) const;
  /// An error for each key that --ignore-config took away and that carries meaning; `force` lets it go.
  void checkIgnored(bool force, DiagnosticSink &sink) const;
  /// The keys that the family's expressions and `require` mention, under all their spellings; ConfigReader fills it in.
  std::set<std::string> known;

  /// The value at "a.b.c" under any of its spellings, or null.
  const JsonValue *find(llvm::StringRef chain) const;
  /// The member that gives a key its value, and the spelling that it uses.
  std::pair<const JsonMember *, std::string> member(llvm::StringRef chain) const;
  /// The null of a key that is there, under one of its spellings, and null under all; else null.
  const JsonMember *nullMember(llvm::StringRef chain) const;
  /// What a null of the key means: by the family's `null`, under any spelling, else by the table that all share; null
  /// where neither says it. An empty list: the same as if the key were not there.
  const JsonValue *meaningOfNull(llvm::StringRef chain) const;
  /// `null` of the family file, or null.
  const JsonValue *familyNulls = nullptr;
  /// The other spellings of a key.
  std::vector<std::string> spellingsOf(llvm::StringRef chain) const;
  /// An error where two spellings of one key have different values.
  void checkSpellings(const std::set<std::string> &used, const std::vector<std::string> &ignored,
                      DiagnosticSink &sink) const;

private:
  std::vector<JsonMember> taken; ///< what --ignore-config took away; the keys are whole chains
  std::unique_ptr<JsonValue> table;
  std::vector<std::vector<std::string>> spellings;
};

} // namespace heddle

#endif // HEDDLE_COMPILER_IMPORT_EVALUATE_CONFIGFILE_H
