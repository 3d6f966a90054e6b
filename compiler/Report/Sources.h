//===- Sources.h - the files that places name -------------------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_REPORT_SOURCES_H
#define HEDDLE_COMPILER_REPORT_SOURCES_H

#include "compiler/Import/Description/Library.h"
#include "compiler/Import/Json/Diagnostics.h"
#include "compiler/Import/Json/LocatedJson.h"
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace heddle::report {

/// Lines [first, last] of a file; no file: nowhere.
struct Span {
  std::string file;
  unsigned first = 0, last = 0;
};

/// A text with the JSON in it.
struct Source {
  std::string text;
  std::optional<JsonValue> json; ///< none: the text is no JSON
};

/// Texts by the names that locations have: of files, and of families that are compiled in. Each is read once.
class Sources {
public:
  explicit Sources(const FamilyLibrary &families) : families(families) {}

  /// Null: there is no such file, or it is no text that a report shows.
  const Source *find(const std::string &file);
  /// All that were found.
  const std::map<std::string, std::unique_ptr<Source>> &all() const { return sources; }

  /// The value of `path` ($.body[3].body[1]), or the deepest one around it that there is.
  static const JsonValue *valueAt(const JsonValue &root, llvm::StringRef path);
  /// Where a value of the file `name` stands.
  static Span spanOf(const std::string &name, const Source &source, const JsonValue &value);

private:
  const FamilyLibrary &families;
  DiagnosticSink sink; ///< owns the texts as places know them; what it is told, the import has said
  std::map<std::string, std::unique_ptr<Source>> sources;
};

} // namespace heddle::report

#endif
