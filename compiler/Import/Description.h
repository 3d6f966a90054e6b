// A description as the importer sees it: the merged JSON, read once into statements,
// calls and blocks whose form is known to be right. Nothing is evaluated here.
#ifndef HEDDLE_COMPILER_IMPORT_DESCRIPTION_H
#define HEDDLE_COMPILER_IMPORT_DESCRIPTION_H

#include "compiler/Import/Expression.h"
#include "compiler/Import/Library.h"
#include "compiler/Import/OpTable.h"
#include <deque>
#include <map>
#include <set>

namespace heddle {

struct BlockSpec;
class DiagnosticSink;

/// A name that is bound, or asked for: may hold {expressions}.
struct NameSpec {
  std::string text;
  Loc loc;                            // of its first byte
  const std::string *whole = nullptr; // the JSON string it is a part of
  size_t begin = 0;                   // where in it
  Loc wholeLoc;
};

struct AttrSpec {
  llvm::StringRef name;
  Loc loc;
  const JsonValue *value;
};

struct CallSpec {
  const JsonValue *json = nullptr;
  llvm::StringRef name;
  Loc loc;                          // of the op's name
  const OpInfo *op = nullptr;       // exactly one of the two
  const BlockSpec *block = nullptr;
  std::vector<const JsonValue *> operands;
  std::vector<AttrSpec> attributes;

  const AttrSpec *attribute(llvm::StringRef name) const;
};

struct Statement {
  enum class Kind { Bind, Repeat, Group };
  Kind kind = Kind::Bind;
  const JsonValue *json = nullptr;
  const JsonValue *condition = nullptr;
  // Bind
  std::vector<NameSpec> names;
  const JsonValue *expression = nullptr; // or
  std::unique_ptr<CallSpec> call;
  // Repeat and Group
  const JsonValue *count = nullptr, *weights = nullptr, *defaults = nullptr;
  std::string index = "i";
  std::vector<Statement> body, otherwise;
};

struct BlockParameter {
  llvm::StringRef name;
  const JsonValue *fallback; // null: required
  bool required = false;
  std::vector<const JsonValue *> oneOf;
};

struct BlockSpec {
  std::string name;
  Loc loc;
  const JsonValue *json = nullptr;
  bool isLibrary = false;
  std::vector<std::string> operands, results;
  std::vector<BlockParameter> parameters;
  std::vector<Statement> body;

  const BlockParameter *parameter(llvm::StringRef name) const;
};

struct InputSpec {
  std::string name;
  Loc loc;
  const JsonValue *json = nullptr;
  const JsonValue *type = nullptr, *fallback = nullptr, *repeat = nullptr, *condition = nullptr;
  std::unique_ptr<CallSpec> fallbackCall;
};

/// A file after `like`: everything in it points into the values it owns, and their places
/// into texts that the sink owns.
struct Description {
  JsonValue root, library;
  const SourceFile *source = nullptr;

  const JsonValue *family = nullptr, *config = nullptr, *dims = nullptr, *weights = nullptr,
                  *defaults = nullptr, *outputs = nullptr, *generate = nullptr;
  std::string name;
  std::vector<InputSpec> inputs;
  /// Words of what was refused. Whoever misses one of them cannot know that it is missing (Lint).
  std::set<std::string, std::less<>> torn;
  std::map<std::string, BlockSpec, std::less<>> blocks; // own ones and the library's
  std::vector<Statement> body;

  const BlockSpec *block(llvm::StringRef name) const;
  /// Names of ops and blocks, for suggestions.
  std::vector<std::string> callable() const;
};

/// Reads `text` as the file `name`; `like` is resolved among `families`. Complaints of
/// form and spelling go to the sink; null when there is nothing to go on with.
std::unique_ptr<Description> readDescription(std::string name, std::string text,
                                             const FamilyLibrary &families,
                                             Expressions &expressions, DiagnosticSink &sink);

/// Every run of letters, digits and _ in `text`.
void wordsIn(llvm::StringRef text, llvm::function_ref<void(llvm::StringRef)> found);

/// Calls back for every statement, outermost first.
void forEachStatement(const std::vector<Statement> &body,
                      llvm::function_ref<void(const Statement &)> visit);

/// Splits "a, b.{i}" at commas outside braces; the pieces are trimmed.
std::vector<NameSpec> splitNames(const std::string &text, Loc loc);

/// The text with every {expression} replaced by '*'.
std::string starred(llvm::StringRef name);
/// '*' stands for any number of characters on either side.
bool matches(llvm::StringRef text, llvm::StringRef pattern);
/// '*' stands for any number of characters in `pattern` only.
bool globMatch(llvm::StringRef text, llvm::StringRef pattern);

} // namespace heddle

#endif // HEDDLE_COMPILER_IMPORT_DESCRIPTION_H
